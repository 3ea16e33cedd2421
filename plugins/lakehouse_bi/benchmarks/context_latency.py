"""How long ``query_semantic_context`` takes with 5,000 tables and 100,000 columns.

A catalog of that size is ingested from ten SQL scripts and the tool is called as a client would,
cache off. Names are drawn from the schemas of Spider and BIRD, questions are theirs::

    EAGLE_RAG_TEST_DATA=../shared/data python plugins/lakehouse_bi/benchmarks/context_latency.py
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import numpy as np
from text_to_sql import Database, data_root, databases, questions

import eagle_rag_lakehouse_bi
from eagle_rag_core.testing import PackLibrary

_TABLES: Final = 5_000
_COLUMNS: Final = 20
_FILES: Final = 10
_CALLS: Final = 200
_SEED: Final = 1
_TOOL: Final = "lakehouse_bi_query_semantic_context"


def scripts(known: list[Database], chance: random.Random) -> list[str]:
    """SQL of tables that take their names and columns from real ones, each joined to one before."""
    tables = [(t, columns) for database in known for t, columns in database.columns.items()]
    words = [column for _, columns in tables for column in columns]
    texts = []
    for file in range(_FILES):
        statements: list[str] = []
        for number in range(_TABLES // _FILES):
            name = f"{chance.choice(tables)[0]}_{chance.choice(words).name}_{file}{number:03}"
            columns = {f"id_{file}{number:03}": "integer PRIMARY KEY"}
            while len(columns) < _COLUMNS:
                columns.setdefault(chance.choice(words).name.lower(), "text")
            lines = [f'  "{column}" {kind}' for column, kind in columns.items()]
            if number:
                other = chance.randrange(number)
                lines[1] = f'  "ref" integer REFERENCES s{file}."t{other}" (id_{file}{other:03})'
            statements.append(f'CREATE TABLE s{file}."{name}" (\n' + ",\n".join(lines) + "\n);")
        joined = "\n".join(statements)
        for number, statement in enumerate(statements):
            name = statement.split('"', 2)[1]
            joined = joined.replace(f's{file}."t{number}"', f's{file}."{name}"')
        texts.append(joined)
    return texts


def main() -> int:
    """Print the times; 1 when the data is absent."""
    root = data_root()
    if root is None:
        return 1
    spider, bird = databases(root, "spider"), databases(root, "bird")
    chance = random.Random(_SEED)
    asked = [q.text for q in (*questions(root, "spider", spider), *questions(root, "bird", bird))]
    chance.shuffle(asked)
    with tempfile.TemporaryDirectory() as folder:
        settings = {"mcp": {"cache_ttl": 0}}
        home = Path(folder)
        with PackLibrary(home, eagle_rag_lakehouse_bi, settings=settings) as library:
            started = time.perf_counter()
            for number, text in enumerate(scripts([*spider, *bird], chance)):
                library.ingest_text(text, f"s{number}.sql")
            ingest = time.perf_counter() - started
            counts = [r.data["counts"] for r in library.records("source")]
            started = time.perf_counter()
            library.call(_TOOL, query=asked[-1])
            first = time.perf_counter() - started
            times, cpu = [], time.process_time()
            for question in asked[:_CALLS]:
                started = time.perf_counter()
                library.call(_TOOL, query=question)
                times.append(1000 * (time.perf_counter() - started))
            cpu = 1000 * (time.process_time() - cpu) / _CALLS
    sys.stdout.write(
        f"{sum(c['tables'] for c in counts)} tables, {sum(c['columns'] for c in counts)} columns, "
        f"{sum(c['relationships'] for c in counts)} joins: ingest {ingest:.0f} s, "
        f"first call {first:.1f} s, then p50 {np.percentile(times, 50):.0f} ms, "
        f"p95 {np.percentile(times, 95):.0f} ms, {cpu:.0f} ms of CPU each\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
