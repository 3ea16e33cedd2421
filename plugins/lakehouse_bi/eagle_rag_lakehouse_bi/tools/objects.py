"""Tools about any object of a catalog: find, read, and the files they come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, Literal

from pydantic import Field

from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.plugins.parameters import DocumentIds, KbName
from eagle_rag_lakehouse_bi.object_answers import ObjectDetails
from eagle_rag_lakehouse_bi.object_pages import ObjectReader, ObjectRequest
from eagle_rag_lakehouse_bi.object_search import ObjectKind, ObjectPage, ObjectQuery, ObjectSearch
from eagle_rag_lakehouse_bi.reading import Scope
from eagle_rag_lakehouse_bi.sources import SourceLister, SourcePage
from eagle_rag_lakehouse_bi.tools.parameters import NAMESPACE, Cursor, MaxTokens
from eagle_rag_lakehouse_bi.tools.versions import Versions

_SEARCH: Final = """\
Finds tables, columns, metrics, verified queries and glossary terms by words of their names, \
synonyms and descriptions: names in short, best first, with the urn under which to read each. An \
empty list means that none fits."""
_GET: Final = """\
Reads objects in full by their urn: description, owner, columns with types, keys and accepted \
values, joins, metrics, rules, lineage, state of the data. next_cursor leads to what max_tokens \
left out; errors names unknown urns."""
_SOURCES: Final = """\
Lists the ingested catalog files: format, version, what each describes, and what could not be \
read."""


def search_objects_tool(search: ObjectSearch, versions: Versions) -> Callable[..., ObjectPage]:
    """The tool ``lakehouse_bi_search_objects``."""

    @register_mcp_tool(
        namespace=NAMESPACE, name="search_objects", title="Search objects", description=_SEARCH
    )
    def search_objects(
        query: Annotated[
            str,
            Field(min_length=1, max_length=2000, description="Words of a name or description."),
        ],
        kinds: Annotated[
            tuple[ObjectKind, ...],
            Field(max_length=5, description="Only objects of these kinds; empty = all."),
        ] = (),
        status: Annotated[
            Literal["", "proposed", "certified", "deprecated"],
            Field(description="Only objects of this standing; empty = any."),
        ] = "",
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
        limit: Annotated[int, Field(ge=1, le=100, description="Most objects to return.")] = 20,
        cursor: Cursor = "",
    ) -> ObjectPage:
        scope = Scope(kb_name, document_ids)
        wanted = ObjectQuery(query, kinds, status, scope, limit, cursor)
        return versions.stamp(scope, lambda: search.find(wanted))

    return search_objects


def get_objects_tool(reader: ObjectReader) -> Callable[..., ObjectDetails]:
    """The tool ``lakehouse_bi_get_objects``."""

    @register_mcp_tool(
        namespace=NAMESPACE, name="get_objects", title="Get objects", description=_GET
    )
    def get_objects(
        urns: Annotated[
            tuple[Annotated[str, Field(min_length=1, max_length=400)], ...],
            Field(min_length=1, max_length=50, description="URNs of objects, such as of a search."),
        ],
        column_filter: Annotated[
            str,
            Field(
                max_length=500,
                description="Only columns named by one of these words, and keys; empty = all.",
            ),
        ] = "",
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
        max_tokens: MaxTokens = 6000,
        cursor: Cursor = "",
    ) -> ObjectDetails:
        scope = Scope(kb_name, document_ids)
        return reader.details(ObjectRequest(urns, column_filter, scope, max_tokens, cursor))

    return get_objects


def list_sources_tool(lister: SourceLister, versions: Versions) -> Callable[..., SourcePage]:
    """The tool ``lakehouse_bi_list_sources``."""

    @register_mcp_tool(
        namespace=NAMESPACE, name="list_sources", title="List sources", description=_SOURCES
    )
    def list_sources(
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
        limit: Annotated[int, Field(ge=1, le=50, description="Most files to return.")] = 20,
        cursor: Cursor = "",
    ) -> SourcePage:
        scope = Scope(kb_name, document_ids)
        return versions.stamp(scope, lambda: lister.list(scope, limit, cursor))

    return list_sources
