"""The pack: what eagle-rag-lakehouse-bi contributes to a deployment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eagle_rag_core.plugins import PackContext, hookimpl
from eagle_rag_core.types import Enricher, Parser


@hookimpl
def register_tools(ctx: PackContext) -> Sequence[Callable[..., Any]]:
    from eagle_rag_lakehouse_bi.tools import catalog_tools

    return catalog_tools(ctx)


@hookimpl
def register_parsers(ctx: PackContext) -> Sequence[Parser]:
    from eagle_rag_lakehouse_bi.parsers import catalog_parsers
    from eagle_rag_lakehouse_bi.versions.snapshots import SnapshotParser

    return [*catalog_parsers(), SnapshotParser()]


@hookimpl
def register_enrichers(ctx: PackContext) -> Sequence[Enricher]:
    from eagle_rag_lakehouse_bi.enricher import CatalogEnricher

    return [CatalogEnricher()]
