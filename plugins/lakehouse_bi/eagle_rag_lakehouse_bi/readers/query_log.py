"""Reads logged queries: how tables are joined, and by how many queries.

A log is a SQL script of queries, or an export of a query history as CSV or JSON. Of exports the
texts and numbers that queries compare with are not kept: they may be anyone's data. Of scripts,
which people write to be read, queries are kept as they stand, with the comment before them as
their question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from eagle_rag_lakehouse_bi.builder import CatalogBuilder
from eagle_rag_lakehouse_bi.objects import Catalog, Origin, SavedQuery
from eagle_rag_lakehouse_bi.readers.delimited import QUERY_COLUMNS, rows
from eagle_rag_lakehouse_bi.readers.encoding import decoded
from eagle_rag_lakehouse_bi.readers.query_joins import QueryFacts, facts_of, mined_relationships
from eagle_rag_lakehouse_bi.readers.sql_statements import Statement, statements

#: Different queries that are kept; the joins of all count.
_MOST_QUERIES: Final = 2_000
_DIALECTS: Final = ("", "snowflake", "bigquery", "postgres", "tsql", "mysql", "databricks")
_LONGEST_NAME: Final = 80


def read(data: bytes, name: str) -> Catalog:
    """The joins and queries of a script in a file."""
    return read_query_script(decoded(data), name)


def read_query_script(sql: str, name: str) -> Catalog:
    """The joins and queries of a script.

    :param name: of the file, for origins.
    """
    log = _Log(name)
    for statement in statements(sql):
        log.add(statement, keep_values=True)
    return log.catalog(name)


def read_query_history(data: bytes, name: str) -> Catalog:
    """The joins and queries of an exported query history.

    :raises IngestError: it is not valid JSON.
    """
    log = _Log(name)
    found, broken = rows(data)
    for line in broken:
        log.built.problem(f"Line {line} is not valid JSON and was left out.")
    for number, row in enumerate(found, start=1):
        sql = next((row[key] for key in QUERY_COLUMNS if row.get(key)), "")
        for statement in statements(sql):
            log.add(statement._replace(line=number), keep_values=False)
    return log.catalog(name)


class _Log:
    """Collects queries; alike ones count once each and are kept once."""

    def __init__(self, file: str) -> None:
        self.built = CatalogBuilder()
        self._file = file
        self._facts: list[QueryFacts] = []
        self._seen: Counter[str] = Counter()
        self._kept: dict[str, tuple[Statement, QueryFacts, bool]] = {}
        self._dialects = list(_DIALECTS)

    def add(self, statement: Statement, *, keep_values: bool) -> None:
        facts = self._read(statement)
        if facts is None:
            head = " ".join(statement.code.split()[:6])
            source = statement.code if keep_values else ""
            what = f"“{head} …”" if keep_values else "A query"
            self.built.problem(f"Line {statement.line}: {what} could not be read.", source)
            return
        if not (facts.tables or (keep_values and facts.shape)):
            return
        self._facts.append(facts)
        # Queries that people wrote down differ by the values they ask for, too.
        identity = statement.code if keep_values else facts.shape
        self._seen[identity] += 1
        if len(self._kept) < _MOST_QUERIES:
            self._kept.setdefault(identity, (statement, facts, keep_values))

    def catalog(self, name: str) -> Catalog:
        for relationship in mined_relationships(self._facts, Origin(self._file)):
            self.built.relate(relationship)
        for identity, (statement, facts, keep_values) in self._kept.items():
            self.built.queries.append(self._query(statement, facts, identity, keep_values))
        return self.built.build(name, "SQL queries")

    def _read(self, statement: Statement) -> QueryFacts | None:
        """The facts of a query as the first dialect sees it that reads it; that one goes first
        from then on."""
        for place, dialect in enumerate(self._dialects):
            facts = facts_of(statement.code, dialect)
            if facts is not None:
                self._dialects.insert(0, self._dialects.pop(place))
                return facts
        return None

    def _query(
        self, statement: Statement, facts: QueryFacts, identity: str, keep_values: bool
    ) -> SavedQuery:
        times = self._seen[identity]
        question = statement.comment if keep_values else ""
        return SavedQuery(
            name=(question or f"query over {_listed(facts.tables) or 'no table'}")[:_LONGEST_NAME],
            question=question,
            sql=identity,
            dialect=self._dialects[0],
            verified_by=f"logged {times} times" if times > 1 else "",
            tables=tuple(facts.tables),
            origin=Origin(self._file, statement.line),
        )


def _listed(tables: Iterable[str]) -> str:
    return ", ".join(t.rpartition(".")[2] for t in tables)
