"""Quality, latency and ingest speed on a BEIR-format set, through MCP over stdio.

    python -m benchmarks.cranfield [--data FOLDER] [--embedder minilm-int8] [--top-k 10]

Documents are written as text files and taken in with ``eagle-rag ingest``; questions go to
``core_retrieve_text``. Rankings are by document, in order of the first passage of each.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from benchmarks.metrics import ndcg, percentile, recall
from benchmarks.stdio_client import StdioClient

_DATA = Path(os.environ.get("EAGLE_RAG_TEST_DATA", "../shared/data")) / "ir" / "cranfield"


def read_jsonl(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(dict)
    with path.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if int(row["score"]) > 0:
                found[row["query-id"]][row["corpus-id"]] = int(row["score"])
    return found


def write_corpus(data: Path, folder: Path) -> int:
    documents = read_jsonl(data / "corpus.jsonl")
    for document in documents:
        text = f"{document.get('title', '')}\n\n{document['text']}".strip()
        (folder / f"{document['_id']}.txt").write_text(text, "utf-8")
    return len(documents)


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


def ask(
    client: StdioClient, queries: Sequence[dict[str, str]], top_k: int
) -> tuple[dict[str, list[str]], list[float]]:
    rankings: dict[str, list[str]] = {}
    latencies: list[float] = []
    for query in queries:
        started = time.perf_counter()
        hits = client.call("core_retrieve_text", query=query["text"], top_k=top_k)
        latencies.append((time.perf_counter() - started) * 1000)
        names = (unquote(hit["metadata"]["source_uri"].rpartition("/")[2]) for hit in hits)
        rankings[query["_id"]] = list(dict.fromkeys(name.removesuffix(".txt") for name in names))
    return rankings, latencies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=_DATA)
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--top-k", type=int, default=10)
    options = parser.parse_args()
    queries = read_jsonl(options.data / "queries.jsonl")
    qrels = read_qrels(options.data / "qrels.tsv")
    env = {"EAGLE_RAG_MODELS__TEXT_EMBEDDER": options.embedder}
    with tempfile.TemporaryDirectory() as root:
        home, folder = f"{root}/home", Path(root) / "docs"
        folder.mkdir()
        count = write_corpus(options.data, folder)
        seconds = ingest(home, folder, env)
        command = [sys.executable, "-m", "eagle_rag_core.api.mcp_server"]
        with StdioClient(command, env={**env, "EAGLE_RAG_HOME": home}) as client:
            ask(client, queries[:5], options.top_k)
            rankings, latencies = ask(client, queries, options.top_k)
            rss = client.rss_mb()
    judged = [query["_id"] for query in queries if qrels.get(query["_id"])]
    print(
        json.dumps(
            {
                "set": options.data.name,
                "embedder": options.embedder,
                "documents": count,
                "docs_per_s": round(count / seconds, 1),
                "ndcg10": round(statistics.mean(ndcg(rankings[q], qrels[q]) for q in judged), 4),
                "recall10": round(
                    statistics.mean(recall(rankings[q], qrels[q]) for q in judged), 4
                ),
                "p50_ms": round(percentile(latencies, 0.5), 1),
                "p95_ms": round(percentile(latencies, 0.95), 1),
                "rss_mb": round(rss),
            }
        )
    )


if __name__ == "__main__":
    main()
