"""What a fresh process costs: import, ``packs list``, and stdio until tools/list is answered.

The server is compared in the same run with a FastMCP server that has one trivial tool.

    python -m benchmarks.cold_start [--runs 5]
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence

from benchmarks.stdio_client import StdioClient

_ONE_TOOL = """
from fastmcp import FastMCP
server = FastMCP("floor")
@server.tool
def echo(text: str) -> str:
    "Return the text."
    return text
server.run(transport="stdio", show_banner=False)
"""


def child_cpu(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> float:
    """CPU seconds of one process, from start to end.

    :param env: its environment, by default this process's.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    quiet = subprocess.DEVNULL
    subprocess.run(command, check=True, stdout=quiet, stderr=quiet, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def spawn(command: Sequence[str], home: str) -> tuple[float, float]:
    with StdioClient(command, env={"EAGLE_RAG_HOME": home}) as client:
        return client.cpu_to_list, client.rss_mb()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    python = sys.executable
    bare = [child_cpu([python, "-c", "pass"]) for _ in range(runs)]
    imports = [child_cpu([python, "-c", "import eagle_rag_core"]) for _ in range(runs)]
    packs = [
        child_cpu([python, "-m", "eagle_rag_core.cli.main", "packs", "list"]) for _ in range(runs)
    ]
    with tempfile.TemporaryDirectory() as home:
        pairs = [
            (
                spawn([python, "-m", "eagle_rag_core.api.mcp_server"], home),
                spawn([python, "-c", _ONE_TOOL], home),
            )
            for _ in range(runs)
        ]
    ratios = [ours[0] / floor[0] for ours, floor in pairs]
    print(f"python -c pass                 {statistics.median(bare) * 1000:7.0f} ms CPU")
    print(f"import eagle_rag_core          {statistics.median(imports) * 1000:7.0f} ms CPU")
    print(f"eagle-rag packs list           {statistics.median(packs) * 1000:7.0f} ms CPU")
    for name, index in (("eagle-rag stdio", 0), ("one-tool FastMCP stdio", 1)):
        cpu = statistics.median(pair[index][0] for pair in pairs)
        rss = statistics.median(pair[index][1] for pair in pairs)
        print(f"{name + ' to tools/list':<39}{cpu * 1000:7.0f} ms CPU {rss:6.0f} MB")
    print(f"ratio of the two, pair by pair: median {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
