"""Tools about what was done before: saved queries, and how tables came about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, Literal

from pydantic import Field

from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.plugins.parameters import DocumentIds, KbName
from eagle_rag_lakehouse_bi.lineage import Direction, LineageGraph, LineageTracer
from eagle_rag_lakehouse_bi.query_search import QueryPage, QuerySearch, SavedQueryRequest
from eagle_rag_lakehouse_bi.reading import Scope
from eagle_rag_lakehouse_bi.tools.parameters import NAMESPACE, Cursor
from eagle_rag_lakehouse_bi.tools.versions import Versions

_QUERIES: Final = """\
Finds saved queries with their SQL, by a question like theirs or by the tables they read. status \
certified marks verified ones; gone lists tables that no catalog describes."""
_LINEAGE: Final = """\
Follows what a table or view is made from (upstream) and what is made from it (downstream); with \
column, only what carries it. truncated says that there is more."""


def search_queries_tool(search: QuerySearch, versions: Versions) -> Callable[..., QueryPage]:
    """The tool ``lakehouse_bi_search_queries``."""

    @register_mcp_tool(
        namespace=NAMESPACE, name="search_queries", title="Search queries", description=_QUERIES
    )
    def search_queries(
        question: Annotated[
            str, Field(max_length=2000, description="A question about data; empty = any.")
        ] = "",
        tables: Annotated[
            tuple[Annotated[str, Field(min_length=1, max_length=400)], ...],
            Field(max_length=8, description="Names, ids or URNs of tables; empty = any."),
        ] = (),
        status: Annotated[
            Literal["", "proposed", "certified", "deprecated"],
            Field(description="Only queries of this standing; empty = any."),
        ] = "",
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
        limit: Annotated[int, Field(ge=1, le=10, description="Most queries to return.")] = 5,
        cursor: Cursor = "",
    ) -> QueryPage:
        scope = Scope(kb_name, document_ids)
        request = SavedQueryRequest(question, tables, status, scope, limit, cursor)
        return versions.stamp(scope, lambda: search.find(request))

    return search_queries


def trace_lineage_tool(tracer: LineageTracer, versions: Versions) -> Callable[..., LineageGraph]:
    """The tool ``lakehouse_bi_trace_lineage``."""

    @register_mcp_tool(
        namespace=NAMESPACE, name="trace_lineage", title="Trace lineage", description=_LINEAGE
    )
    def trace_lineage(
        table: Annotated[
            str, Field(min_length=1, max_length=400, description="Name, id or URN of a table.")
        ],
        column: Annotated[
            str, Field(max_length=200, description="Only what this column carries; empty = all.")
        ] = "",
        direction: Annotated[Direction, Field(description="Which way to follow.")] = "both",
        depth: Annotated[int, Field(ge=1, le=10, description="Steps to follow at most.")] = 2,
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
    ) -> LineageGraph:
        scope = Scope(kb_name, document_ids)
        return versions.stamp(scope, lambda: tracer.trace(table, column, direction, depth, scope))

    return trace_lineage
