"""Tools about what surrounds tables: terms, values, the state of the data, earlier analyses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

from pydantic import Field

from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.plugins.parameters import DocumentIds, KbName
from eagle_rag_lakehouse_bi.analyses import Analyses, AnalysisFinder, AnalysisQuestion
from eagle_rag_lakehouse_bi.freshness import FreshnessChecker, FreshnessReport
from eagle_rag_lakehouse_bi.glossary import Glossary, GlossaryPage
from eagle_rag_lakehouse_bi.reading import Scope
from eagle_rag_lakehouse_bi.tools.parameters import NAMESPACE, Cursor
from eagle_rag_lakehouse_bi.tools.versions import Versions
from eagle_rag_lakehouse_bi.value_search import FoundValues, ValueResolver

_GLOSSARY: Final = """\
Reads business terms: definitions, synonyms, other definitions of the same name, objects named \
by them."""
_FRESHNESS: Final = """\
Says how old the data of tables is, with the evidence and its age; dated means that nothing says \
how old it may be."""
_VALUES: Final = """\
Finds the stored values that phrases mean ('in transit' = IN_TRANSIT) among those that catalog \
files state. enabled is false where no column is opted in."""
_ANALYSES: Final = """\
Finds dashboards and notebooks that use the tables or are named so, and passages of reports."""

_Name = Annotated[str, Field(min_length=1, max_length=400)]


def get_glossary_tool(glossary: Glossary, versions: Versions) -> Callable[..., GlossaryPage]:
    """The tool ``lakehouse_bi_get_glossary``."""

    @register_mcp_tool(
        namespace=NAMESPACE, name="get_glossary", title="Get glossary", description=_GLOSSARY
    )
    def get_glossary(
        term: Annotated[str, Field(max_length=400, description="Empty = all terms.")] = "",
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
        limit: Annotated[int, Field(ge=1, le=50, description="Most terms.")] = 20,
        cursor: Cursor = "",
    ) -> GlossaryPage:
        scope = Scope(kb_name, document_ids)
        return versions.stamp(scope, lambda: glossary.page(term, scope, limit, cursor))

    return get_glossary


def check_freshness_tool(
    checker: FreshnessChecker, versions: Versions
) -> Callable[..., FreshnessReport]:
    """The tool ``lakehouse_bi_check_freshness``."""

    @register_mcp_tool(
        namespace=NAMESPACE,
        name="check_freshness",
        title="Check freshness",
        description=_FRESHNESS,
    )
    def check_freshness(
        tables: Annotated[
            tuple[_Name, ...],
            Field(min_length=1, max_length=30, description="Names, ids or URNs of tables."),
        ],
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
    ) -> FreshnessReport:
        scope = Scope(kb_name, document_ids)
        return versions.stamp(scope, lambda: checker.check(tables, scope))

    return check_freshness


def resolve_values_tool(resolver: ValueResolver, versions: Versions) -> Callable[..., FoundValues]:
    """The tool ``lakehouse_bi_resolve_values``."""

    @register_mcp_tool(
        namespace=NAMESPACE, name="resolve_values", title="Resolve values", description=_VALUES
    )
    def resolve_values(
        phrases: Annotated[
            tuple[Annotated[str, Field(min_length=1, max_length=200)], ...],
            Field(min_length=1, max_length=20, description="Words that may be values."),
        ],
        columns: Annotated[
            tuple[_Name, ...],
            Field(max_length=20, description="Only these, as column or table.column."),
        ] = (),
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
        limit: Annotated[int, Field(ge=1, le=20, description="Most values per phrase.")] = 5,
    ) -> FoundValues:
        scope = Scope(kb_name, document_ids)
        return versions.stamp(scope, lambda: resolver.resolve(phrases, columns, limit, scope))

    return resolve_values


def retrieve_analyses_tool(finder: AnalysisFinder, versions: Versions) -> Callable[..., Analyses]:
    """The tool ``lakehouse_bi_retrieve_analyses``."""

    @register_mcp_tool(
        namespace=NAMESPACE,
        name="retrieve_analyses",
        title="Retrieve analyses",
        description=_ANALYSES,
    )
    def retrieve_analyses(
        query: Annotated[
            str, Field(max_length=2000, description="Words of a metric or subject.")
        ] = "",
        tables: Annotated[
            tuple[_Name, ...], Field(max_length=8, description="Names, ids or URNs.")
        ] = (),
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
        limit: Annotated[int, Field(ge=1, le=20, description="Most of each kind.")] = 5,
    ) -> Analyses:
        scope = Scope(kb_name, document_ids)
        question = AnalysisQuestion(query, tables, scope, limit)
        return versions.stamp(scope, lambda: finder.find(question))

    return retrieve_analyses
