"""False alarms and catches of ``validate_sql`` on the gold queries of BIRD and Spider.

The schemas are ingested as catalog files and every query goes through the tool. Each gold query
must pass. Then, chosen by a fixed seed, one of its columns or tables is replaced: by an invented
name, by a misspelled one, by a column of another table of the same database. Each must be named.
Run with the folder of the data sets::

    EAGLE_RAG_TEST_DATA=../shared/data python plugins/lakehouse_bi/benchmarks/sql_check.py
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sqlglot import exp, parse_one

import eagle_rag_lakehouse_bi
from eagle_rag_core.testing import PackLibrary

_SETS: Final = (
    ("BIRD dev", "bird/dev_tables.json", "bird/dev.json", "SQL"),
    ("Spider dev", "spider/tables.json", "spider/dev.json", "query"),
)
_SEED: Final = 1
_INVENTED: Final = "zz_invented"

#: Columns of the tables of one database, all in lower case.
Columns = Mapping[str, frozenset[str]]
#: Changes a query; what the check must name then, "" when there is nothing to change.
Change = Callable[[exp.Expr, Columns, random.Random], str]


@dataclass(slots=True)
class Caught:
    """:param suggested: of those caught, how many have the right name among the suggestions."""

    tried: int = 0
    caught: int = 0
    suggested: int = 0


@dataclass(slots=True)
class Figures:
    """What one set gave. ``milliseconds`` is of one call of the tool, on average."""

    queries: int = 0
    alarms: int = 0
    milliseconds: float = 0.0
    changes: dict[str, Caught] = field(default_factory=lambda: defaultdict(Caught))


def measure(root: Path, schemas: str, questions: str, key: str) -> Figures:
    """Check the gold queries of one set, as they are and changed."""
    items = json.loads((root / questions).read_text(encoding="utf-8"))
    used = {item["db_id"] for item in items}
    known = {d: c for d, c in _columns_by_database(root / schemas) if d in used}
    figures, chance, spent = Figures(), random.Random(_SEED), 0.0
    with (
        tempfile.TemporaryDirectory() as home,
        PackLibrary(Path(home), eagle_rag_lakehouse_bi) as library,
    ):
        documents = {d: library.ingest_text(_dump(c), f"{d}.csv") for d, c in known.items()}
        for item in items:
            columns, document = known[item["db_id"]], documents[item["db_id"]]
            started = time.perf_counter()
            answer = _checked(library, item[key], document)
            spent += time.perf_counter() - started
            figures.queries += 1
            figures.alarms += not answer["valid"]
            for name, change in _CHANGES.items():
                tree = parse_one(item[key], dialect="sqlite")
                right = change(tree, columns, chance)
                if right:
                    answer = _checked(library, tree.sql(dialect="sqlite"), document)
                    _count(figures.changes[name], answer, right)
    figures.milliseconds = 1000 * spent / max(1, figures.queries)
    return figures


def _checked(library: PackLibrary, sql: str, document: str) -> dict[str, Any]:
    answer = library.call(
        "lakehouse_bi_validate_sql", sql=sql, dialect="sqlite", document_ids=[document]
    )
    return dict(answer)


def _count(caught: Caught, answer: Mapping[str, Any], right: str) -> None:
    findings = [*answer["unknown_tables"], *answer["unknown_columns"]]
    caught.tried += 1
    caught.caught += bool(findings)
    caught.suggested += any(right in finding["suggestions"] for finding in findings)


def _invent_column(tree: exp.Expr, columns: Columns, chance: random.Random) -> str:
    return _rename(_named_columns(tree), chance, lambda _: _INVENTED)


def _misspell_column(tree: exp.Expr, columns: Columns, chance: random.Random) -> str:
    everything = frozenset[str]().union(*columns.values())

    def misspelt(name: str) -> str:
        place = chance.randrange(len(name))
        wrong = name[:place] + name[place + 1 :]
        return wrong if len(name) > 3 and wrong.lower() not in everything else ""

    return _rename(_named_columns(tree), chance, misspelt)


def _misplace_column(tree: exp.Expr, columns: Columns, chance: random.Random) -> str:
    """A column of a table the query does not read, that none of its tables has."""
    read = {table.name.lower() for table in tree.find_all(exp.Table)}
    own = frozenset[str]().union(*(columns.get(table, frozenset()) for table in read))
    others = sorted(c for t, listed in columns.items() if t not in read for c in listed - own)
    return _rename(_named_columns(tree), chance, lambda _: chance.choice(others) if others else "")


def _invent_table(tree: exp.Expr, columns: Columns, chance: random.Random) -> str:
    return _rename(_named_tables(tree, columns), chance, lambda _: _INVENTED)


def _misspell_table(tree: exp.Expr, columns: Columns, chance: random.Random) -> str:
    def misspelt(name: str) -> str:
        place = chance.randrange(len(name))
        wrong = name[:place] + name[place + 1 :]
        return wrong if len(name) > 3 and wrong.lower() not in columns else ""

    return _rename(_named_tables(tree, columns), chance, misspelt)


_CHANGES: Final[Mapping[str, Change]] = {
    "invented column": _invent_column,
    "misspelled column": _misspell_column,
    "column of another table": _misplace_column,
    "invented table": _invent_table,
    "misspelled table": _misspell_table,
}


def _named_columns(tree: exp.Expr) -> list[exp.Expr]:
    """Columns that are no name of what the query itself computes."""
    aliases = {alias.alias.lower() for alias in tree.find_all(exp.Alias)}
    return [
        column
        for column in tree.find_all(exp.Column)
        if isinstance(column.this, exp.Identifier) and column.name.lower() not in aliases
    ]


def _named_tables(tree: exp.Expr, columns: Columns) -> list[exp.Expr]:
    return [table for table in tree.find_all(exp.Table) if table.name.lower() in columns]


def _rename(found: list[exp.Expr], chance: random.Random, renamed: Callable[[str], str]) -> str:
    """Give one of ``found`` another name.

    :returns: its right name in lower case, "" when nothing was changed.
    """
    if not found:
        return ""
    chosen = chance.choice(found)
    right, wrong = chosen.name, renamed(chosen.name)
    if not wrong or wrong == right:
        return ""
    quoted = not wrong.isidentifier()
    chosen.set("this", exp.to_identifier(wrong, quoted=quoted))
    return right.lower()


def _columns_by_database(path: Path) -> Iterator[tuple[str, dict[str, frozenset[str]]]]:
    for database in json.loads(path.read_text(encoding="utf-8")):
        columns: defaultdict[str, set[str]] = defaultdict(set)
        for table, column in database["column_names_original"]:
            if table >= 0:
                columns[database["table_names_original"][table].lower()].add(column.lower())
        yield database["db_id"], {t: frozenset(c) for t, c in columns.items()}


def _dump(columns: Columns) -> str:
    """A database as a dump of its information schema."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("table_name", "column_name", "data_type"))
    writer.writerows((t, c, "text") for t, listed in columns.items() for c in sorted(listed))
    return text.getvalue()


def main() -> int:
    """Print what each set gave; 1 when the data is absent."""
    root = Path(os.environ.get("EAGLE_RAG_TEST_DATA", "../shared/data")) / "lakehouse"
    if not root.is_dir():
        sys.stderr.write("The data is absent; set EAGLE_RAG_TEST_DATA.\n")
        return 1
    for name, schemas, questions, key in _SETS:
        figures = measure(root, schemas, questions, key)
        sys.stdout.write(
            f"{name}: {figures.queries} gold queries, {figures.alarms} false alarms, "
            f"{figures.milliseconds:.1f} ms a call\n"
        )
        for what, caught in figures.changes.items():
            sys.stdout.write(
                f"  {what}: {caught.caught} of {caught.tried} caught, "
                f"{caught.suggested} with the right name suggested\n"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
