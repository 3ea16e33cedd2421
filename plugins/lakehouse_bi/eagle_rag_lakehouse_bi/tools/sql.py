"""Tools for whoever writes SQL: how tables join, and whether a statement fits the catalogs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

from pydantic import Field

from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.plugins.parameters import DocumentIds, KbName
from eagle_rag_lakehouse_bi.join_paths import JoinPathFinder, JoinPaths
from eagle_rag_lakehouse_bi.reading import Scope
from eagle_rag_lakehouse_bi.sql_check import SqlCheck, SqlChecker
from eagle_rag_lakehouse_bi.tools.parameters import NAMESPACE

_PATHS: Final = """\
Finds ways to join two or more tables, best known and shortest first: conditions with all columns \
of composite keys, cardinality, evidence (declared, tested, semantic, mined from logged queries \
with their number, or inferred from names), the role a table has in a join, bridge tables on the \
way, and warnings about fan-outs and chasm traps. A cardinality is empty where nothing states or \
proves it."""
_VALIDATE: Final = """\
Checks SQL against the ingested catalogs by reading it only; it never connects to a database. Says \
whether the SQL parses, which statements do more than read, which tables and columns no catalog \
describes, with names that look like them, which joins no catalog knows, and which sums count rows \
that a join repeats. Columns of tables whose columns are not described pass."""


def find_join_paths_tool(finder: JoinPathFinder) -> Callable[..., JoinPaths]:
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
        return finder.find(tables, max_paths, Scope(kb_name, document_ids))

    return find_join_paths


def validate_sql_tool(checker: SqlChecker) -> Callable[..., SqlCheck]:
    """The tool ``lakehouse_bi_validate_sql``."""

    @register_mcp_tool(
        namespace=NAMESPACE, name="validate_sql", title="Validate SQL", description=_VALIDATE
    )
    def validate_sql(
        sql: Annotated[
            str, Field(min_length=1, max_length=20000, description="One or more SQL statements.")
        ],
        dialect: Annotated[
            str,
            Field(
                max_length=20,
                description="Dialect, such as postgres, snowflake, bigquery; empty = find out.",
            ),
        ] = "",
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
    ) -> SqlCheck:
        return checker.check(sql, dialect, Scope(kb_name, document_ids))

    return validate_sql
