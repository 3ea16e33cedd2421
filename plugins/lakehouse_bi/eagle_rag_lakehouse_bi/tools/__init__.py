"""The pack's MCP tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eagle_rag_core.plugins import PackContext


def catalog_tools(ctx: PackContext) -> list[Callable[..., Any]]:
    """All tools, as the manifest declares them."""
    from eagle_rag_lakehouse_bi.analyses import AnalysisFinder
    from eagle_rag_lakehouse_bi.context import ContextFinder
    from eagle_rag_lakehouse_bi.freshness import FreshnessChecker
    from eagle_rag_lakehouse_bi.glossary import Glossary
    from eagle_rag_lakehouse_bi.join_paths import JoinPathFinder
    from eagle_rag_lakehouse_bi.lineage import LineageTracer
    from eagle_rag_lakehouse_bi.metric_catalog import MetricCatalog
    from eagle_rag_lakehouse_bi.object_pages import ObjectReader
    from eagle_rag_lakehouse_bi.object_search import ObjectSearch
    from eagle_rag_lakehouse_bi.query_search import QuerySearch
    from eagle_rag_lakehouse_bi.retrieval.cache import IndexCache
    from eagle_rag_lakehouse_bi.sources import SourceLister
    from eagle_rag_lakehouse_bi.sql_check import SqlChecker
    from eagle_rag_lakehouse_bi.sql_explain import SqlExplainer
    from eagle_rag_lakehouse_bi.tools.comparison import compare_versions_tool
    from eagle_rag_lakehouse_bi.tools.context import query_semantic_context_tool
    from eagle_rag_lakehouse_bi.tools.evidence import (
        check_freshness_tool,
        get_glossary_tool,
        resolve_values_tool,
        retrieve_analyses_tool,
    )
    from eagle_rag_lakehouse_bi.tools.history import search_queries_tool, trace_lineage_tool
    from eagle_rag_lakehouse_bi.tools.metrics import get_metric_tool, list_metrics_tool
    from eagle_rag_lakehouse_bi.tools.naming import assert_describes_only
    from eagle_rag_lakehouse_bi.tools.objects import (
        get_objects_tool,
        list_sources_tool,
        search_objects_tool,
    )
    from eagle_rag_lakehouse_bi.tools.sql import (
        explain_sql_tool,
        find_join_paths_tool,
        validate_sql_tool,
    )
    from eagle_rag_lakehouse_bi.tools.versions import Versions
    from eagle_rag_lakehouse_bi.value_search import ValueResolver
    from eagle_rag_lakehouse_bi.versions.comparison import VersionComparer

    versions = Versions(ctx)
    indexes = IndexCache()
    metrics = MetricCatalog(ctx)
    tools = [
        query_semantic_context_tool(ContextFinder(ctx, indexes)),
        search_objects_tool(ObjectSearch(ctx, indexes), versions),
        get_objects_tool(ObjectReader(ctx)),
        list_metrics_tool(metrics, versions),
        get_metric_tool(metrics, versions),
        find_join_paths_tool(JoinPathFinder(ctx), versions),
        validate_sql_tool(SqlChecker(ctx), versions),
        explain_sql_tool(SqlExplainer(ctx), versions),
        resolve_values_tool(ValueResolver(ctx), versions),
        check_freshness_tool(FreshnessChecker(ctx), versions),
        get_glossary_tool(Glossary(ctx), versions),
        retrieve_analyses_tool(AnalysisFinder(ctx), versions),
        search_queries_tool(QuerySearch(ctx, indexes), versions),
        trace_lineage_tool(LineageTracer(ctx), versions),
        compare_versions_tool(VersionComparer(ctx), versions),
        list_sources_tool(SourceLister(ctx), versions),
    ]
    for tool in tools:
        assert_describes_only(tool.__name__)
    return tools
