"""How many real files, and statements in them, the pack reads; what it does not read is named.

Every file of the folder that one of the pack's parsers takes is read: manifests of dbt, LookML,
semantic models and SQL scripts. The schemas of BIRD and Spider are written as SQL scripts, one for
each database, and their gold queries as one script. A file fails when it is refused, and a
statement when it is named as not read. Files that describe nothing, such as a LookML model of
includes, are counted apart. Run with the folder of the data sets::

    EAGLE_RAG_TEST_DATA=../shared/data python plugins/lakehouse_bi/benchmarks/parse_rates.py

The exit code is 1 when a manifest fails, or more than 1 % of the LookML files or statements of DDL.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.choice import HEAD_BYTES, best_parser
from eagle_rag_lakehouse_bi.parsers import catalog_parsers
from eagle_rag_lakehouse_bi.readers.query_log import read_query_script
from eagle_rag_lakehouse_bi.readers.sql_ddl import read_sql_ddl

#: Files of notes and specifications that hold examples of what they describe.
_PASSED_OVER: Final = (".md", ".schema.json", "spec.yaml", "LICENSE", "osi-schema.json")
_SCHEMAS: Final = ("bird/dev_tables.json", "spider/tables.json")
_QUERIES: Final = (("bird/dev.json", "SQL"), ("spider/dev.json", "query"))
#: Lowest share that must be read, by the end of the format's name.
_NEEDED: Final = {"dbt_manifest": 1.0, "lookml": 0.99, "DDL statements": 0.99}


@dataclass(slots=True)
class Rate:
    """:param total: files or statements.
    :param empty: of these, files that describe nothing.
    :param failed: what was not read, in words.
    """

    total: int = 0
    empty: int = 0
    failed: list[str] = field(default_factory=list)

    @property
    def read(self) -> float:
        return 1 - len(self.failed) / self.total if self.total else 1.0


def measure(root: Path) -> dict[str, Rate]:
    """The rates of all formats in a folder."""
    rates: defaultdict[str, Rate] = defaultdict(Rate)
    for path in sorted(root.glob("*/*")):
        if path.parent.name not in ("bird", "spider") and not path.name.endswith(_PASSED_OVER):
            _count_file(path, rates)
    for name in _SCHEMAS:
        for database in json.loads((root / name).read_text(encoding="utf-8")):
            _count_schema(database, rates["DDL statements"])
    for name, key in _QUERIES:
        items = json.loads((root / name).read_text(encoding="utf-8"))
        script = ";\n".join(item[key] for item in items)
        rates["queries"].total += len(items)
        catalog = read_query_script(script, name)
        rates["queries"].failed += [p.message for p in catalog.problems]
    return dict(rates)


def _count_file(path: Path, rates: defaultdict[str, Rate]) -> None:
    data = path.read_bytes()
    parser = best_parser(catalog_parsers(), data[:HEAD_BYTES], path.name)
    if parser is None:
        return
    rate = rates[parser.name.removeprefix("lakehouse_bi_")]
    rate.total += 1
    try:
        parsed = parser.parse(data, path.name)
    except IngestError as error:
        if error.code is ErrorCode.EMPTY_DOCUMENT:
            rate.empty += 1
        else:
            rate.failed.append(f"{path.name}: {error.message}")
        return
    problems = parsed.payload.catalog.problems
    rates["objects named as not read"].total += len(problems)
    rates["objects named as not read"].failed += [f"{path.name}: {p.message}" for p in problems]


def _count_schema(database: dict[str, Any], rate: Rate) -> None:
    statements = list(_create_statements(database))
    catalog = read_sql_ddl(";\n".join(statements), database["db_id"])
    rate.total += len(statements)
    rate.failed += [f"{database['db_id']}: {p.message}" for p in catalog.problems]


def _create_statements(database: dict[str, Any]) -> Iterator[str]:
    tables = database["table_names_original"]
    columns = database["column_names_original"]
    parts: defaultdict[int, list[str]] = defaultdict(list)
    for (table, name), kind in zip(columns, database["column_types"], strict=True):
        if table >= 0:
            parts[table].append(f'"{name}" {kind}')
    for own, other in database["foreign_keys"]:
        (table, column), (target, key) = columns[own], columns[other]
        parts[table].append(f'FOREIGN KEY ("{column}") REFERENCES "{tables[target]}" ("{key}")')
    for table, listed in parts.items():
        yield f'CREATE TABLE "{tables[table]}" ({", ".join(listed)})'


def main() -> int:
    """Print a line for each format, then what was not read; 1 when that is too much."""
    root = Path(os.environ.get("EAGLE_RAG_TEST_DATA", "../shared/data")) / "lakehouse"
    if not root.is_dir():
        sys.stderr.write("The data is absent; set EAGLE_RAG_TEST_DATA.\n")
        return 1
    rates = measure(root)
    for name, rate in sorted(rates.items()):
        without = f", {rate.empty} without content" if rate.empty else ""
        done = rate.total - len(rate.failed)
        sys.stdout.write(f"{name}: {done} of {rate.total} ({rate.read:.1%}){without}\n")
    for name, rate in sorted(rates.items()):
        sys.stdout.writelines(f"  {name}: {failure}\n" for failure in rate.failed)
    return int(any(rates[name].read < least for name, least in _NEEDED.items()))


if __name__ == "__main__":
    sys.exit(main())
