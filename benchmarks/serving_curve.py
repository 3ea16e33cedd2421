"""How fast `core_retrieve_text` answers over stdio as the library grows: the whole way of a call.

    python -m benchmarks.serving_curve --passages 1000 10000 100000

Texts are of invented words that follow Zipf's law. They go through the whole ingest but for the
model: passages get vectors that lie in clusters, because embedding 100,000 takes an hour. Questions
are embedded by the model. The server has been started anew when the calls are made; the first one
is timed apart.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.stdio_client import StdioClient

_PASSAGES_PER_DOCUMENT = 100
_WORDS_PER_PASSAGE = 130
_VOCABULARY = 50_000
_CLUSTERS = 500
_SPREAD = 0.7
_CALLS = 300
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


class Words:
    """Invented words, the first ones far more often than the last."""

    def __init__(self, seed: int) -> None:
        naming = random.Random(1)
        self._words = ["".join(naming.choices(_SYLLABLES, k=3)) for _ in range(_VOCABULARY)]
        self._weights = list(accumulate(1 / rank for rank in range(3, _VOCABULARY + 3)))
        self._chance = random.Random(seed)

    def some(self, count: int) -> str:
        return " ".join(self._chance.choices(self._words, cum_weights=self._weights, k=count))


def clustered(texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors around centres that are always the same."""
    centres = np.random.default_rng(0).standard_normal((_CLUSTERS, 384))
    chance = np.random.default_rng(abs(hash(texts[0])))
    near = centres[chance.integers(0, _CLUSTERS, len(texts))]
    found = near + _SPREAD * chance.standard_normal(near.shape)
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def fill(home: Path, passages: int) -> None:
    """Ingest texts without the model."""
    from eagle_rag_core.cli.main import main
    from eagle_rag_core.models.minilm import MiniLmEmbedder

    MiniLmEmbedder.embed_documents = lambda self, texts: clustered(texts)  # type: ignore[method-assign]
    folder = home / "inbox"
    folder.mkdir(parents=True)
    words = Words(7)
    for number in range(max(1, passages // _PASSAGES_PER_DOCUMENT)):
        # A passage holds what the model reads; a paragraph of that many words is one.
        paragraphs = [words.some(_WORDS_PER_PASSAGE) for _ in range(_PASSAGES_PER_DOCUMENT)]
        (folder / f"{number}.txt").write_text("\n\n".join(paragraphs))
    main(["ingest", str(folder), "--home", str(home)])


def ask(client: StdioClient, words: Words) -> float:
    """Milliseconds of a call."""
    query = words.some(10)
    started = time.perf_counter()
    client.call("core_retrieve_text", query=query)
    return (time.perf_counter() - started) * 1000


def serve(home: Path) -> str:
    """The figures of a server of a library."""
    environment = {"EAGLE_RAG_HOME": str(home), "EAGLE_RAG_MCP__CACHE_TTL": "0"}
    command = [sys.executable, "-m", "eagle_rag_core.api.mcp_server"]
    words = Words(8)
    with StdioClient(command, environment) as client:
        for _ in range(20):  # the index may be written meanwhile
            ask(client, words)
        time.sleep(30)
    with StdioClient(command, environment) as client:
        time.sleep(8)  # warm, and said to be ready
        first = ask(client, words)
        spent = sorted(ask(client, words) for _ in range(_CALLS))
        chunks = sum(kb["chunks"] for kb in client.call("core_list_kbs")["items"])
        rss = client.rss_mb()
    p50, p95 = statistics.median(spent), spent[int(len(spent) * 0.95)]
    return (
        f"{chunks} passages: first call {first:.1f} ms, p50 {p50:.1f} ms, p95 {p95:.1f} ms, "
        f"memory {rss:.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--fill", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fill:
        fill(options.fill, options.passages[0])
        return
    for passages in options.passages:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder) / "home"
            command = [sys.executable, "-m", "benchmarks.serving_curve", "--fill", str(home)]
            subprocess.run(
                [*command, "--passages", str(passages)],
                check=True,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "EAGLE_RAG_INGEST__ISOLATION": "thread"},
            )
            print(serve(home), flush=True)


if __name__ == "__main__":
    main()
