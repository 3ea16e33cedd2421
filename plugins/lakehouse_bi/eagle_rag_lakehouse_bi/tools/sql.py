"""Tools for whoever writes SQL: how tables join, and whether a statement fits the catalogs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

from pydantic import Field

from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.plugins.parameters import DocumentIds, KbName
from eagle_rag_lakehouse_bi.join_paths import JoinPathFinder, JoinPaths
from eagle_rag_lakehouse_bi.reading import Scope
from eagle_rag_lakehouse_bi.sql_answers import SqlCheck, SqlExplanation
from eagle_rag_lakehouse_bi.sql_check import SqlChecker, SqlQuestion
from eagle_rag_lakehouse_bi.sql_explain import SqlExplainer
from eagle_rag_lakehouse_bi.tools.parameters import NAMESPACE
from eagle_rag_lakehouse_bi.tools.versions import Versions

_PATHS: Final = """\
Finds ways to join tables, best known first: conditions, cardinality (empty where nothing proves \
it), evidence (declared, tested, semantic, mined from queries, inferred from names), roles, \
bridge tables, and warnings of fan-outs and chasm traps."""
_VALIDATE: Final = """\
Checks SQL by reading it and the catalogs, without a database: syntax, statements that do more \
than read, unknown tables and columns with suggestions, unknown joins, sums that count repeated \
rows, and, with context_ids, what those answers never showed (not_retrieved)."""

_EXPLAIN: Final = """\
Explains SQL by reading it: tables, columns, joins, filters, what a row of the result stands \
for, metrics and saved queries it repeats, rules, warnings."""

Sql = Annotated[str, Field(min_length=1, max_length=20000, description="SQL statements.")]
Dialect = Annotated[
    str, Field(max_length=20, description="Such as postgres or snowflake; empty = find out.")
]


def find_join_paths_tool(finder: JoinPathFinder, versions: Versions) -> Callable[..., JoinPaths]:
    """The tool ``lakehouse_bi_find_join_paths``."""

    @register_mcp_tool(
        namespace=NAMESPACE, name="find_join_paths", title="Find join paths", description=_PATHS
    )
    def find_join_paths(
        tables: Annotated[
            tuple[Annotated[str, Field(min_length=1, max_length=400)], ...],
            Field(min_length=2, max_length=8, description="Names, ids or URNs of tables."),
        ],
        max_paths: Annotated[int, Field(ge=1, le=10, description="Most ways to return.")] = 3,
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
    ) -> JoinPaths:
        scope = Scope(kb_name, document_ids)
        return versions.stamp(scope, lambda: finder.find(tables, max_paths, scope))

    return find_join_paths


def validate_sql_tool(checker: SqlChecker, versions: Versions) -> Callable[..., SqlCheck]:
    """The tool ``lakehouse_bi_validate_sql``."""

    @register_mcp_tool(
        namespace=NAMESPACE, name="validate_sql", title="Validate SQL", description=_VALIDATE
    )
    def validate_sql(
        sql: Sql,
        dialect: Dialect = "",
        context_ids: Annotated[
            tuple[Annotated[str, Field(max_length=1000)], ...],
            Field(max_length=8, description="context_id of each answer the SQL was written from."),
        ] = (),
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
    ) -> SqlCheck:
        scope = Scope(kb_name, document_ids)
        question = SqlQuestion(sql, dialect, context_ids, scope)
        return versions.stamp(scope, lambda: checker.check(question))

    return validate_sql


def explain_sql_tool(explainer: SqlExplainer, versions: Versions) -> Callable[..., SqlExplanation]:
    """The tool ``lakehouse_bi_explain_sql``."""

    @register_mcp_tool(
        namespace=NAMESPACE, name="explain_sql", title="Explain SQL", description=_EXPLAIN
    )
    def explain_sql(
        sql: Sql, dialect: Dialect = "", kb_name: KbName = "", document_ids: DocumentIds = ()
    ) -> SqlExplanation:
        scope = Scope(kb_name, document_ids)
        return versions.stamp(scope, lambda: explainer.explain(sql, dialect, scope))

    return explain_sql
