"""The tool that compares versions of the catalogs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

from pydantic import Field

from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.plugins.parameters import KbName
from eagle_rag_lakehouse_bi.reading import Scope
from eagle_rag_lakehouse_bi.tools.parameters import NAMESPACE, Cursor
from eagle_rag_lakehouse_bi.tools.versions import Versions
from eagle_rag_lakehouse_bi.versions.comparison import VersionComparer, VersionComparison

_DESCRIPTION: Final = """\
Tells what changed between two states of the catalogs, breaking changes first, with the reasons \
and the metrics, queries, reports and tables that depended on it."""


def compare_versions_tool(
    comparer: VersionComparer, versions: Versions
) -> Callable[..., VersionComparison]:
    """The tool ``lakehouse_bi_compare_versions``."""

    @register_mcp_tool(
        namespace=NAMESPACE,
        name="compare_versions",
        title="Compare versions",
        description=_DESCRIPTION,
    )
    def compare_versions(
        before: Annotated[
            str,
            Field(
                max_length=100,
                description="Date of a snapshot or document id of a file; empty = newest snapshot.",
            ),
        ] = "",
        after: Annotated[
            str, Field(max_length=100, description="Likewise; empty = the catalogs of now.")
        ] = "",
        kb_name: KbName = "",
        limit: Annotated[int, Field(ge=1, le=100, description="Most changes to return.")] = 30,
        cursor: Cursor = "",
    ) -> VersionComparison:
        scope = Scope(kb_name)
        return versions.stamp(scope, lambda: comparer.compare(before, after, scope, limit, cursor))

    return compare_versions
