"""False alarms and catches of the static SQL check on the gold queries of BIRD and Spider.

Each gold query must pass. Then one of its columns, chosen by a fixed seed, is replaced by an
invented one, which must be found. Run with the folder of the data sets::

    EAGLE_RAG_TEST_DATA=../shared/data python plugins/lakehouse_bi/benchmarks/sql_check.py
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Final, NamedTuple

from sqlglot import exp, parse_one

from eagle_rag_lakehouse_bi.readers.query_joins import tables_of
from eagle_rag_lakehouse_bi.sql_scopes import QueryNames

_SETS: Final = (
    ("BIRD dev", "bird/dev_tables.json", "bird/dev.json", "SQL"),
    ("Spider dev", "spider/tables.json", "spider/dev.json", "query"),
)
_SEED: Final = 1

Columns = dict[str, frozenset[str]]


class Figures(NamedTuple):
    """:param milliseconds: of one check, on average."""

    queries: int
    false_alarms: int
    changed: int
    caught: int
    milliseconds: float


def measure(schemas: Path, questions: Path, key: str) -> Figures:
    """Check the gold queries of one set, whole and with an invented column."""
    known = _columns_by_database(schemas)
    items = json.loads(questions.read_text(encoding="utf-8"))
    chance = random.Random(_SEED)
    alarms = changed = caught = checks = 0
    spent = 0.0
    for item in items:
        tree = parse_one(item[key], dialect="sqlite")
        columns = {t: known[item["db_id"]].get(t, frozenset()) for t in tables_of(tree)}
        started = time.perf_counter()
        alarms += bool(_missing(tree, columns))
        spent += time.perf_counter() - started
        checks += 1
        named = [c for c in tree.find_all(exp.Column) if isinstance(c.this, exp.Identifier)]
        if named:
            chance.choice(named).set("this", exp.to_identifier("zz_invented"))
            changed += 1
            caught += bool(_missing(tree, columns))
    return Figures(len(items), alarms, changed, caught, 1000 * spent / max(1, checks))


def _missing(tree: exp.Expr, columns: Columns) -> bool:
    if not all(columns.values()):
        return True
    query = tree if isinstance(tree, exp.Query) else tree.find(exp.Query)
    return query is None or any(QueryNames(query, columns, lenient_quotes=True).missing())


def _columns_by_database(path: Path) -> dict[str, Columns]:
    found: dict[str, Columns] = {}
    for database in json.loads(path.read_text(encoding="utf-8")):
        columns: defaultdict[str, set[str]] = defaultdict(set)
        for table, column in database["column_names_original"]:
            if table >= 0:
                columns[database["table_names_original"][table].lower()].add(column.lower())
        found[database["db_id"]] = {t: frozenset(c) for t, c in columns.items()}
    return found


def main() -> int:
    """Print a line for each set; 1 when the data is absent."""
    root = Path(os.environ.get("EAGLE_RAG_TEST_DATA", "../shared/data")) / "lakehouse"
    if not root.is_dir():
        sys.stderr.write("The data is absent; set EAGLE_RAG_TEST_DATA.\n")
        return 1
    for name, schemas, questions, key in _SETS:
        figures = measure(root / schemas, root / questions, key)
        sys.stdout.write(
            f"{name}: {figures.queries} queries, {figures.false_alarms} false alarms, "
            f"{figures.caught} of {figures.changed} invented columns caught, "
            f"{figures.milliseconds:.1f} ms each\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
