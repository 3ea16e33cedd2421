"""How long ``query_semantic_context`` takes with 5,000 tables and 100,000 columns.

Catalogs of that size are ingested from fifty SQL scripts and the tool is called as a client would,
cache off. Names are drawn from the schemas of Spider and BIRD, questions are theirs. A folder as
argument keeps the library for the next run::

    EAGLE_RAG_TEST_DATA=../shared/data python plugins/lakehouse_bi/benchmarks/context_latency.py
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from text_to_sql import Database, data_root, databases, questions

import eagle_rag_lakehouse_bi
from eagle_rag_core.testing import PackLibrary

_TABLES: Final = 5_000
_COLUMNS: Final = 20
_FILES: Final = 50
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


def main(folders: Sequence[str]) -> int:
    """Print the times; 1 when the data is absent."""
    root = data_root()
    if root is None:
        return 1
    spider, bird = databases(root, "spider"), databases(root, "bird")
    chance = random.Random(_SEED)
    asked = [q.text for q in (*questions(root, "spider", spider), *questions(root, "bird", bird))]
    chance.shuffle(asked)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folders[0]) if folders else Path(folder)
        settings = {"mcp": {"cache_ttl": 0, "tool_timeout": 600}}
        with PackLibrary(home, eagle_rag_lakehouse_bi, settings=settings) as library:
            started = time.process_time()
            if not library.records("source"):
                for number, text in enumerate(scripts([*spider, *bird], chance)):
                    library.ingest_text(text, f"s{number}.sql")
            ingest = time.process_time() - started
            counts = [r.data["counts"] for r in library.records("source")]
            started = time.process_time()
            library.call(_TOOL, query=asked[-1])
            first = time.process_time() - started
            times, cpu = [], []
            for question in asked[:_CALLS]:
                started, used = time.perf_counter(), time.process_time()
                library.call(_TOOL, query=question)
                times.append(1000 * (time.perf_counter() - started))
                cpu.append(1000 * (time.process_time() - used))
    p50, p95 = np.percentile(times, [50, 95])
    busy50, busy95 = np.percentile(cpu, [50, 95])
    sys.stdout.write(
        f"{sum(c['tables'] for c in counts)} tables, {sum(c['columns'] for c in counts)} columns, "
        f"{sum(c['relationships'] for c in counts)} joins: ingest {ingest:.0f} s of CPU, "
        f"first call {first:.1f} s of CPU, then p50 {p50:.0f} ms and p95 {p95:.0f} ms, "
        f"of which CPU {busy50:.0f} and {busy95:.0f} ms\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
