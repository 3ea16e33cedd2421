"""Quality, latency and ingest speed on a BEIR-format set, through MCP over stdio.

    python -m benchmarks.cranfield [--data FOLDER] [--embedder minilm-int8] [--top-k 10]

Documents are written as text files and taken in with ``eagle-rag ingest``; questions go to
``core_retrieve_text``. Rankings are by document, in order of the first passage of each.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import unquote

from benchmarks.stdio_client import StdioClient
from eagle_rag_core.evaluation.running import measure
from eagle_rag_core.evaluation.sets import JudgedSet, read_set

_DATA = Path(os.environ.get("EAGLE_RAG_TEST_DATA", "../shared/data")) / "ir" / "cranfield"


def write_corpus(questions: JudgedSet, folder: Path) -> int:
    """The number of files written, one for each document."""
    for document in questions.documents():
        text = f"{document.title}\n\n{document.text}".strip()
        (folder / f"{document.id}.txt").write_text(text, "utf-8")
    return len(list(folder.iterdir()))


def ingest(home: str, folder: Path, env: dict[str, str]) -> float:
    """Seconds that ``eagle-rag ingest`` takes for the folder, start of the process included."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "eagle_rag_core.cli.main", "ingest", str(folder)]
    done = subprocess.run(
        [*command, "--home", home], env={**os.environ, **env}, capture_output=True, text=True
    )
    print(done.stdout.strip())
    for line in done.stderr.splitlines():
        if line.startswith(("failed", "refused")):
            print("  ", line)
    return time.perf_counter() - started


def ask(client: StdioClient, query: str, top_k: int) -> list[str]:
    hits = client.call("core_retrieve_text", query=query, top_k=top_k)
    names = (unquote(hit["metadata"]["source_uri"].rpartition("/")[2]) for hit in hits)
    return [name.removesuffix(".txt") for name in names]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=_DATA)
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--top-k", type=int, default=10)
    options = parser.parse_args()
    questions = read_set(options.data)
    env = {"EAGLE_RAG_MODELS__TEXT_EMBEDDER": options.embedder}
    with tempfile.TemporaryDirectory() as root:
        home, folder = f"{root}/home", Path(root) / "docs"
        folder.mkdir()
        count = write_corpus(questions, folder)
        seconds = ingest(home, folder, env)
        command = [sys.executable, "-m", "eagle_rag_core.api.mcp_server"]
        with StdioClient(command, env={**env, "EAGLE_RAG_HOME": home}) as client:
            for query in list(questions.queries.values())[:5]:  # the server warms up
                ask(client, query, options.top_k)
            found = measure(
                options.data.name, questions, lambda query: ask(client, query, options.top_k)
            )
            rss = client.rss_mb()
    figures = {
        "set": found.name,
        "embedder": options.embedder,
        "documents": count,
        "docs_per_s": round(count / seconds, 1),
        "ndcg10": round(found.ndcg_10.mean, 4),
        "recall10": round(found.recall_10.mean, 4),
        "p50_ms": round(found.p50_ms, 1),
        "p95_ms": round(found.p95_ms, 1),
        "rss_mb": round(rss),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
