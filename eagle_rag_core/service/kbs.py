"""Looking at knowledge bases."""

from __future__ import annotations

from collections.abc import Sequence

from eagle_rag_core.catalog import kbs
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.types import Caller


class KbService:
    """Knowledge bases as callers see them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def list(self, caller: Caller) -> Sequence[kbs.KbInfo]:
        """Every knowledge base the caller may read, by name."""
        with self._catalog.read() as conn:
            return kbs.list_kbs(conn, self._catalog.namespace, caller)
