"""The pack's MCP tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eagle_rag_core.plugins import PackContext


def catalog_tools(ctx: PackContext) -> list[Callable[..., Any]]:
    """All tools, as the manifest declares them."""
    from eagle_rag_lakehouse_bi.context import ContextFinder
    from eagle_rag_lakehouse_bi.join_paths import JoinPathFinder
    from eagle_rag_lakehouse_bi.lineage import LineageTracer
    from eagle_rag_lakehouse_bi.metric_catalog import MetricCatalog
    from eagle_rag_lakehouse_bi.object_details import ObjectReader
    from eagle_rag_lakehouse_bi.object_search import ObjectSearch
    from eagle_rag_lakehouse_bi.query_search import QuerySearch
    from eagle_rag_lakehouse_bi.sources import SourceLister
    from eagle_rag_lakehouse_bi.sql_check import SqlChecker
    from eagle_rag_lakehouse_bi.tools.context import query_semantic_context_tool
    from eagle_rag_lakehouse_bi.tools.history import search_queries_tool, trace_lineage_tool
    from eagle_rag_lakehouse_bi.tools.metrics import get_metric_tool, list_metrics_tool
    from eagle_rag_lakehouse_bi.tools.objects import (
        get_objects_tool,
        list_sources_tool,
        search_objects_tool,
    )
    from eagle_rag_lakehouse_bi.tools.sql import find_join_paths_tool, validate_sql_tool

    metrics = MetricCatalog(ctx)
    return [
        query_semantic_context_tool(ContextFinder(ctx)),
        search_objects_tool(ObjectSearch(ctx)),
        get_objects_tool(ObjectReader(ctx)),
        list_metrics_tool(metrics),
        get_metric_tool(metrics),
        find_join_paths_tool(JoinPathFinder(ctx)),
        validate_sql_tool(SqlChecker(ctx)),
        search_queries_tool(QuerySearch(ctx)),
        trace_lineage_tool(LineageTracer(ctx)),
        list_sources_tool(SourceLister(ctx)),
    ]
