"""A client that is gone ends its call, however the answer would have been sent."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from api.transports.exchanges import Exchange, call_of, served
from e2e.product import LEGACY, MODERN

from eagle_rag_core.calls.outcome import CallOutcome


class Pipeline:
    """Calls that never end, and when they were cancelled."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def call(self, *_arguments: Any, **_more: Any) -> CallOutcome:
        self.began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        raise AssertionError


async def seconds_to_cancel(home: Path, protocol: str, as_json: bool) -> float:
    """How long after the client left its call was cancelled."""
    async with served(home, json_response=as_json) as (app, api):
        pipeline = Pipeline()
        app.pipeline.call = pipeline.call  # type: ignore[method-assign]
        body, headers = call_of("core_list_kbs", protocol)
        exchange = Exchange(api, [body], headers)
        await asyncio.wait_for(pipeline.began.wait(), 20)
        left = time.monotonic()
        exchange.leave()
        await asyncio.wait_for(pipeline.cancelled.wait(), 5)
        seconds = time.monotonic() - left
        await asyncio.wait_for(exchange.task, 5)
        return seconds


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "sse"])
@pytest.mark.parametrize("protocol", [LEGACY, MODERN])
def test_the_call_of_a_client_that_left_is_cancelled(
    tmp_path: Path, protocol: str, as_json: bool
) -> None:
    asyncio.run(seconds_to_cancel(tmp_path, protocol, as_json))


@pytest.mark.full
@pytest.mark.parametrize("as_json", [True, False], ids=["json", "sse"])
@pytest.mark.parametrize("protocol", [LEGACY, MODERN])
def test_it_is_cancelled_within_a_quarter_of_a_second(
    tmp_path: Path, protocol: str, as_json: bool
) -> None:
    waited = [asyncio.run(seconds_to_cancel(tmp_path, protocol, as_json)) for _ in range(10)]
    assert sorted(waited)[-2] < 0.25, waited


def test_a_client_that_leaves_while_it_sends_is_forgotten(tmp_path: Path) -> None:
    async def talk() -> None:
        async with served(tmp_path) as (_, api):
            body, headers = call_of("core_list_kbs", LEGACY)
            exchange = Exchange(api, [body[:20]], headers, ends=False)
            exchange.leave()
            await asyncio.wait_for(exchange.task, 5)
            assert exchange.sent == []

    asyncio.run(talk())


def test_a_notification_reaches_its_session_though_its_answer_comes_first(tmp_path: Path) -> None:
    """In a session the answer to a notification is sent before the session gets it."""

    async def talk() -> None:
        async with served(tmp_path, stateless_http=False) as (app, api):
            pipeline = Pipeline()
            app.pipeline.call = pipeline.call  # type: ignore[method-assign]
            hello = (
                b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":'
                b'"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}'
            )
            opening = Exchange(api, [hello], [])
            await asyncio.wait_for(opening.task, 20)
            session = [(b"mcp-session-id", opening.headers["mcp-session-id"].encode())]
            initialized = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
            await Exchange(api, [initialized], session).task
            body, headers = call_of("core_list_kbs", LEGACY)
            Exchange(api, [body], [*headers, *session])
            await asyncio.wait_for(pipeline.began.wait(), 20)
            cancel = (
                b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
            )
            acknowledged = Exchange(api, [cancel], session)
            await asyncio.wait_for(acknowledged.task, 5)
            assert acknowledged.status == 202
            await asyncio.wait_for(pipeline.cancelled.wait(), 5)

    asyncio.run(talk())
