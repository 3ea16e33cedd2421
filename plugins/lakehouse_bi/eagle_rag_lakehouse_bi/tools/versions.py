"""The version of the catalogs in every answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from eagle_rag_core.plugins import PackContext
from eagle_rag_lakehouse_bi.answers import Answer
from eagle_rag_lakehouse_bi.catalog_version import catalog_version
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope

_Answer = TypeVar("_Answer", bound=Answer)


class Versions:
    """Stamps answers with the version of the catalogs in their scope."""

    def __init__(self, ctx: PackContext) -> None:
        self._ctx = ctx

    def stamp(self, scope: Scope, answer: Callable[[], _Answer]) -> _Answer:
        """What ``answer`` returns, with the version of before it read: should a file change
        meanwhile, the answer passes for older than it is, never for newer."""
        version = catalog_version(CatalogReader(self._ctx, scope))
        return replace(answer(), catalog_version=version)
