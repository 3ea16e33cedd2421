"""Signs of life of a call, for clients that ask for progress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from fastmcp.server.dependencies import fastmcp_request_ctx

#: Between two of them; clients give up on calls of which they hear nothing for much longer.
_BEAT_SECONDS: Final = 1.0


@asynccontextmanager
async def signs_of_life() -> AsyncIterator[None]:
    """Report progress while the block runs: how many seconds it has run.

    Nothing is sent unless the client asked for progress and its answer is a stream; in one JSON
    document only the answer travels.
    """
    request = fastmcp_request_ctx.get()
    if request is None or "progressToken" not in (request.meta or {}):
        yield
        return
    beats = asyncio.create_task(_beat(request.session))
    try:
        yield
    finally:
        beats.cancel()


async def _beat(session: Any) -> None:
    began = time.monotonic()
    while True:
        await asyncio.sleep(_BEAT_SECONDS)
        await session.report_progress(round(time.monotonic() - began, 3), message="running")
