"""Why a table was found, in words."""

from __future__ import annotations

from eagle_rag_lakehouse_bi.retrieval.index import CatalogIndex
from eagle_rag_lakehouse_bi.retrieval.question import AskedTerms
from eagle_rag_lakehouse_bi.retrieval.scoring import TableScores, best_columns

#: What is said of a table that only its neighbours speak for.
JOINS: str = "joins tables that match"


def matches(scores: TableScores, table: int) -> bool:
    """Whether something of its own speaks for a table, not only its neighbours or its schema."""
    return bool(scores.texts[table] or scores.voted[table] or table in scores.passages)


def reasons(index: CatalogIndex, asked: AskedTerms, scores: TableScores, table: int) -> list[str]:
    """The signals that speak for a table."""
    entry = index.tables[table]
    found = []
    if words := sorted(index.name_terms(table) & asked.expanded.keys()):
        found.append(f"name holds {', '.join(words)}")
    if columns := _named_columns(index, asked, scores, table):
        found.append(f"columns {', '.join(columns)}")
    if not found and scores.texts[table]:
        found.append("description holds words of the question")
    if table in scores.passages:
        found.append(f"passage ranked {scores.passages[table]}")
    if scores.voted[table]:
        found.append("read by a saved query for a like question")
    if entry.shards:
        found.append(f"stands for {len(entry.shards) + 1} tables from {entry.shards[0]}")
    return found


def _named_columns(
    index: CatalogIndex, asked: AskedTerms, scores: TableScores, table: int
) -> list[str]:
    """Its best columns, as far as more than the name of the table makes them match."""
    of_table = index.name_terms(table) & asked.expanded.keys()
    base = sum(index.column_terms.idf(term) for term in of_table)
    best = best_columns(index, scores.columns, table)
    return [index.columns[n].name for n in best if scores.columns[n] > base or not of_table]
