"""Joins that the gold queries of BIRD and Spider need, and how many of them the pack knows.

The schemas are written as SQL scripts with their foreign keys, and a random half of the gold
queries as a log; the pack's own readers read both. Then each pair of columns that the queries of
the other half join is looked up among the relationships found: of keys alone, of the log alone,
and of both. The figures are means of three random halves. Run with the folder of the data sets::

    EAGLE_RAG_TEST_DATA=../shared/data python plugins/lakehouse_bi/benchmarks/join_edges.py

The exit code is 1 when keys and log together know less than 99 % of the joins of a set.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import mean
from typing import Any, Final, NamedTuple

from sqlglot import parse_one

from eagle_rag_lakehouse_bi.objects import Relationship
from eagle_rag_lakehouse_bi.readers.query_joins import joins_of
from eagle_rag_lakehouse_bi.readers.query_log import read_query_script
from eagle_rag_lakehouse_bi.readers.sql_ddl import read_sql_ddl

_SETS: Final = (
    ("BIRD dev", "bird/dev_tables.json", "bird/dev.json", "SQL"),
    ("Spider dev", "spider/tables.json", "spider/dev.json", "query"),
)
_HALVES: Final = 3
_NEEDED: Final = 0.99

#: Two columns, each as ``table.column`` in lower case.
JoinedColumns = frozenset[str]


class Shares(NamedTuple):
    """:param joins: of the queries looked up, on average."""

    joins: float
    keys: float
    log: float
    both: float


class Query(NamedTuple):
    database: str
    sql: str


def measure(schemas: Path, questions: Path, key: str) -> Shares:
    """The share of needed joins that keys, the log, and both know."""
    items = json.loads(questions.read_text(encoding="utf-8"))
    queries = [Query(item["db_id"], item[key]) for item in items]
    databases = {q.database for q in queries}
    declared = {
        database["db_id"]: set(_pairs(read_sql_ddl(_script(database), "schema.sql").relationships))
        for database in json.loads(schemas.read_text(encoding="utf-8"))
        if database["db_id"] in databases
    }
    halves = [_half(queries, declared, seed) for seed in range(_HALVES)]
    return Shares(*map(mean, zip(*halves, strict=True)))


def _half(
    queries: list[Query], declared: dict[str, set[JoinedColumns]], seed: int
) -> tuple[int, float, float, float]:
    shuffled = random.Random(seed).sample(queries, len(queries))
    middle = len(shuffled) // 2
    logged = _logged(shuffled[:middle])
    needed = [(query.database, pair) for query in shuffled[middle:] for pair in _needed(query.sql)]
    by_key = [pair in declared[database] for database, pair in needed]
    by_log = [pair in logged[database] for database, pair in needed]
    both = [a or b for a, b in zip(by_key, by_log, strict=True)]
    return len(needed), mean(by_key), mean(by_log), mean(both)


def _logged(queries: Iterable[Query]) -> defaultdict[str, set[JoinedColumns]]:
    """What a log of the queries tells of the joins of each database."""
    scripts: defaultdict[str, list[str]] = defaultdict(list)
    for query in queries:
        scripts[query.database].append(query.sql)
    found: defaultdict[str, set[JoinedColumns]] = defaultdict(set)
    for database, listed in scripts.items():
        catalog = read_query_script(";\n".join(listed), "log.sql")
        found[database].update(_pairs(catalog.relationships))
    return found


def _needed(sql: str) -> Iterator[JoinedColumns]:
    for join in joins_of(parse_one(sql, dialect="sqlite")):
        for left, right in join.columns:
            yield frozenset((f"{join.left}.{left}", f"{join.right}.{right}"))


def _pairs(relationships: Iterable[Relationship]) -> Iterator[JoinedColumns]:
    for r in relationships:
        for left, right in zip(r.from_columns, r.to_columns, strict=True):
            yield frozenset((f"{r.from_table}.{left}".lower(), f"{r.to_table}.{right}".lower()))


def _script(database: dict[str, Any]) -> str:
    """The schema as a SQL script."""
    tables = database["table_names_original"]
    columns = [(table, name) for table, name in database["column_names_original"]]
    lines: defaultdict[int, list[str]] = defaultdict(list)
    for (table, name), kind in zip(columns, database["column_types"], strict=True):
        if table >= 0:
            lines[table].append(f'"{name}" {kind}')
    for own, other in database["foreign_keys"]:
        (table, column), (target, key) = columns[own], columns[other]
        lines[table].append(f'FOREIGN KEY ("{column}") REFERENCES "{tables[target]}" ("{key}")')
    return ";\n".join(
        f'CREATE TABLE "{tables[table]}" ({", ".join(parts)})' for table, parts in lines.items()
    )


def main() -> int:
    """Print a line for each set; 1 when the data is absent or too little is known."""
    root = Path(os.environ.get("EAGLE_RAG_TEST_DATA", "../shared/data")) / "lakehouse"
    if not root.is_dir():
        sys.stderr.write("The data is absent; set EAGLE_RAG_TEST_DATA.\n")
        return 1
    enough = True
    for name, schemas, questions, key in _SETS:
        shares = measure(root / schemas, root / questions, key)
        enough &= shares.both >= _NEEDED
        sys.stdout.write(
            f"{name}: {shares.joins:.0f} joins, known from keys {shares.keys:.1%}, "
            f"from the log {shares.log:.1%}, from both {shares.both:.1%}\n"
        )
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
