"""What the pipeline of a call costs beside a bare FastMCP server.

    python -m benchmarks.call_overhead

Both servers have the same tool, which returns a few words, and are called by the same client in the
same process, in turns; the cache is off. The difference of the medians is what a deadline, a lane,
the checks of arguments and results, the circuit and the audit cost a call.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from typing import Any

from fastmcp import Client, FastMCP

from eagle_rag_core.api.mcp_server import build_server
from eagle_rag_core.app import EagleApp
from eagle_rag_core.settings import load_settings

_ROUNDS = 40
_CALLS = 50
_TOOL = "core_list_kbs"


async def _timed(call: Callable[[], Awaitable[Any]]) -> tuple[float, float]:
    """Milliseconds of a call: by the clock, and of CPU, where other processes do not count."""
    clock, cpu = time.perf_counter(), time.process_time()
    for _ in range(_CALLS):
        await call()
    spent = time.perf_counter() - clock, time.process_time() - cpu
    return spent[0] * 1000 / _CALLS, spent[1] * 1000 / _CALLS


def _bare(answer: dict[str, Any]) -> FastMCP:
    server = FastMCP("bare")

    def core_list_kbs(limit: int = 100, cursor: str = "") -> dict[str, Any]:
        return answer

    server.tool(core_list_kbs)
    return server


async def _measure(app: EagleApp) -> None:
    async with Client(build_server(app)) as ours:
        answer = (await ours.call_tool(_TOOL, {})).structured_content or {}
        async with Client(_bare(answer)) as bare:
            ours_ms, bare_ms = [], []
            for _ in range(_ROUNDS):
                ours_ms.append(await _timed(lambda: ours.call_tool(_TOOL, {})))
                bare_ms.append(await _timed(lambda: bare.call_tool(_TOOL, {})))
    for name, mine, plain in zip(
        ("by the clock", "of CPU"),
        zip(*ours_ms, strict=True),
        zip(*bare_ms, strict=True),
        strict=True,
    ):
        here, there = statistics.median(mine), statistics.median(plain)
        print(f"{here:.2f} ms a call {name}, {here - there:.2f} more than bare FastMCP")


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        overrides = {"home": home, "models": {"text_embedder": "none"}, "mcp": {"cache_ttl": 0}}
        app = EagleApp.open(load_settings(overrides=overrides))
        try:
            asyncio.run(_measure(app))
        finally:
            app.close()


if __name__ == "__main__":
    main()
