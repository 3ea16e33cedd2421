"""The pack's view of a library, whole or without some of its queries."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

from eagle_rag_core.plugins import PackContext
from eagle_rag_core.plugins.context import PackServices

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp
    from eagle_rag_core.types import Hit, Record

NAMESPACE: Final = "lakehouse_bi"


def services_of(app: EagleApp) -> PackServices:
    """What the pack reads the library of an app with."""
    from eagle_rag_core.service.pack_access import ScopedRecords, ScopedSearch

    engine = app.engine()
    return PackServices(
        ScopedRecords(engine.catalog, NAMESPACE),
        ScopedSearch(engine.catalog, engine.orchestrator),
    )


def context(services: PackServices, without: Collection[Record] = ()) -> PackContext:
    """A context of the pack, in which some queries do not exist."""
    from eagle_rag_lakehouse_bi.options import Options

    if without:
        services = PackServices(
            _RecordsWithout(services.records, without), _SearchWithout(services.search, without)
        )
    made = PackContext(NAMESPACE, Options())
    made.bind(services)
    return made


class _RecordsWithout:
    """Records without some queries."""

    def __init__(self, records: Any, without: Collection[Record]) -> None:
        self._records = records
        self._hidden = {(r.document_id, r.fields["urn"]) for r in without}

    def find(self, kind: str, *args: Any, **more: Any) -> list[Record]:
        found: list[Record] = self._records.find(kind, *args, **more)
        if kind != "query":
            return found
        return [r for r in found if (r.document_id, r.fields["urn"]) not in self._hidden]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._records, name)


class _SearchWithout:
    """Search without the passages of some queries."""

    def __init__(self, search: Any, without: Collection[Record]) -> None:
        self._search = search
        self._hidden = {node for record in without for node in record.fields["passages"]}

    def text(self, query: str, *, top_k: int = 5, **more: Any) -> list[Hit]:
        found = self._search.text(query, top_k=top_k + len(self._hidden), **more)
        return [hit for hit in found if hit.node_id not in self._hidden][:top_k]

    def passages(self, node_ids: Sequence[str]) -> list[Hit]:
        found: list[Hit] = self._search.passages(node_ids)
        return found
