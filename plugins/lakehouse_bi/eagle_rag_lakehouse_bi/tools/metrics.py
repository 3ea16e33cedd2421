"""Tools about metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

from pydantic import Field

from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.plugins.parameters import DocumentIds, KbName
from eagle_rag_lakehouse_bi.metric_answers import MetricDefinition, MetricPage
from eagle_rag_lakehouse_bi.metric_catalog import MetricCatalog, MetricQuery
from eagle_rag_lakehouse_bi.reading import Scope
from eagle_rag_lakehouse_bi.tools.parameters import NAMESPACE, Cursor
from eagle_rag_lakehouse_bi.tools.versions import Versions

_LIST: Final = """\
Lists defined metrics in short: with search, those named by its words, best first; with \
dimension, only those that can be grouped by a column or dimension of that name."""
_GET: Final = """\
Reads a metric down to the columns: formulas and filters of it and its inputs, time dimension, \
dimensions it can be grouped by and joins to them, rules, what it must not be summed over, and \
metrics of its name with another formula (conflicts)."""


def list_metrics_tool(catalog: MetricCatalog, versions: Versions) -> Callable[..., MetricPage]:
    """The tool ``lakehouse_bi_list_metrics``."""

    @register_mcp_tool(
        namespace=NAMESPACE, name="list_metrics", title="List metrics", description=_LIST
    )
    def list_metrics(
        search: Annotated[
            str, Field(max_length=500, description="Words of metrics' names; empty = all.")
        ] = "",
        dimension: Annotated[
            str,
            Field(max_length=200, description="Name of a dimension to group by; empty = any."),
        ] = "",
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
        limit: Annotated[int, Field(ge=1, le=100, description="Most metrics to return.")] = 50,
        cursor: Cursor = "",
    ) -> MetricPage:
        scope = Scope(kb_name, document_ids)
        query = MetricQuery(search, dimension, scope, limit, cursor)
        return versions.stamp(scope, lambda: catalog.list(query))

    return list_metrics


def get_metric_tool(catalog: MetricCatalog, versions: Versions) -> Callable[..., MetricDefinition]:
    """The tool ``lakehouse_bi_get_metric``."""

    @register_mcp_tool(namespace=NAMESPACE, name="get_metric", title="Get metric", description=_GET)
    def get_metric(
        metric: Annotated[
            str,
            Field(min_length=1, max_length=400, description="Name or URN of the metric."),
        ],
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
    ) -> MetricDefinition:
        scope = Scope(kb_name, document_ids)
        return versions.stamp(scope, lambda: catalog.get(metric, scope))

    return get_metric
