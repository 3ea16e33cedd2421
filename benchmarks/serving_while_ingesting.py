"""What ingest costs those who search at the same time, through MCP over stdio.

A server answers searches, first alone and then while its workers take in a long text: in worker
processes, as by default, and in a thread of the server for comparison.

    python -m benchmarks.serving_while_ingesting [--megabytes 2] [--calls 300]
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.stdio_client import StdioClient

_DOCUMENTS = 300
_WORDS = (
    "wing flow pressure shock boundary layer heat transfer supersonic theory nozzle velocity drag "
    "lift plate cylinder mach number jet stream body cone angle attack solution method experiment"
).split()


def prose(chance: random.Random, characters: int) -> str:
    """Paragraphs of random words: passages that all differ."""
    parts: list[str] = []
    size = 0
    while size < characters:
        words = [*chance.choices(_WORDS, k=90), f"specimen{chance.randrange(10**6)}"]
        parts.append(" ".join(words) + ".")
        size += len(parts[-1]) + 2
    return "\n\n".join(parts)


def milliseconds(client: StdioClient, chance: random.Random) -> float:
    """One search."""
    query = " ".join(chance.choices(_WORDS, k=4))
    started = time.perf_counter()
    client.call("core_retrieve_text", query=query)
    return (time.perf_counter() - started) * 1000


def finish(client: StdioClient, job: str) -> None:
    while client.call("core_get_job", job_id=job)["status"] in ("queued", "running"):
        time.sleep(0.05)


def under_load(client: StdioClient, chance: random.Random, job: str, calls: int) -> Iterator[float]:
    """Searches while the job runs, from the moment its process is at work."""
    while client.call("core_get_job", job_id=job)["status"] == "queued":
        time.sleep(0.05)
    for number in range(calls):
        yield milliseconds(client, chance)
        if number % 20 == 19 and client.call("core_get_job", job_id=job)["status"] != "running":
            return


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


def measure(isolation: str, megabytes: float, calls: int) -> tuple[list[float], list[float]]:
    """Milliseconds of searches, alone and beside an ingest."""
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        inbox = Path(folder) / "inbox"
        inbox.mkdir()
        for number in range(_DOCUMENTS):
            (inbox / f"{number}.md").write_text(prose(chance, 1000))
        (inbox / "long.md").write_text(prose(chance, int(megabytes * 1e6)))
        env = {"EAGLE_RAG_HOME": folder, "EAGLE_RAG_INGEST__ISOLATION": isolation}
        command = [sys.executable, "-m", "eagle_rag_core.api.mcp_server"]
        with StdioClient(command, env) as client:
            started = time.perf_counter()
            jobs = [
                client.call("core_ingest", source_uri=f"{number}.md")["job_id"]
                for number in range(_DOCUMENTS)
            ]
            for job in jobs:
                finish(client, job)
            speed = _DOCUMENTS / (time.perf_counter() - started)
            print(
                f"{isolation:<8} {speed:5.1f} small documents/s, first start included", flush=True
            )
            alone = [milliseconds(client, chance) for _ in range(calls)]
            job = client.call("core_ingest", source_uri="long.md")["job_id"]
            beside = list(under_load(client, chance, job, calls))
        return alone, beside


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=2.0)
    parser.add_argument("--calls", type=int, default=300)
    arguments = parser.parse_args()
    for isolation in ("process", "thread"):
        alone, beside = measure(isolation, arguments.megabytes, arguments.calls)
        print(
            f"{isolation:<8} alone p50 {statistics.median(alone):6.1f} p95 {p95(alone):6.1f} ms; "
            f"beside an ingest p50 {statistics.median(beside):6.1f} p95 {p95(beside):6.1f} ms "
            f"({len(beside)} calls), p95 ratio {p95(beside) / p95(alone):.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
