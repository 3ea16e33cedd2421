"""Bodies that are too large or too slow: refused in the caller's language, counted as they come."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from api.transports.exchanges import Exchange, Part, call_of, served
from e2e.product import LEGACY

LIMIT = 10_000


def exchange(home: Path, make: Callable[[Any], Exchange], **mcp: Any) -> Exchange:
    """Run one request against an application of its own."""

    async def run() -> Exchange:
        async with served(home, max_request_bytes=LIMIT, **mcp) as (_, api):
            made = make(api)
            await asyncio.wait_for(made.task, 30)
            return made

    return asyncio.run(run())


def chunks(size: int) -> list[Part]:
    return [b"x" * 1000 for _ in range(size // 1000)]


@pytest.mark.parametrize(
    "length", [None, b"5", b"99999999"], ids=["chunked", "too-small-a-length", "declared"]
)
def test_a_body_beyond_the_limit_is_refused_as_json(tmp_path: Path, length: bytes | None) -> None:
    _, headers = call_of("core_list_kbs", LEGACY)
    if length is not None:
        headers.append((b"content-length", length))
    refused = exchange(tmp_path, lambda api: Exchange(api, chunks(3 * LIMIT), headers))
    assert refused.status == 413
    assert refused.headers["connection"] == "close"
    error = json.loads(refused.body)["error"]
    assert error["data"]["code"] == "request_too_large"
    assert str(LIMIT) in error["message"]


def test_the_rest_of_a_refused_body_is_read_so_that_the_answer_is(tmp_path: Path) -> None:
    _, headers = call_of("core_list_kbs", LEGACY)
    refused = exchange(tmp_path, lambda api: Exchange(api, chunks(5 * LIMIT), headers))
    assert refused.read == 50


def test_who_asks_before_sending_is_told_at_once(tmp_path: Path) -> None:
    _, headers = call_of("core_list_kbs", LEGACY)
    headers += [(b"content-length", b"99999999"), (b"expect", b"100-continue")]
    refused = exchange(tmp_path, lambda api: Exchange(api, chunks(3 * LIMIT), headers))
    assert (refused.status, refused.read) == (413, 0)


def test_a_body_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    body, headers = call_of("core_list_kbs", LEGACY)
    padded = body + b" " * (LIMIT - len(body))
    answered = exchange(tmp_path, lambda api: Exchange(api, [padded], headers))
    assert answered.status == 200
    assert json.loads(answered.body)["result"]["structuredContent"]["items"] == []


def test_other_paths_have_the_limit_of_sources(tmp_path: Path) -> None:
    headers = [(b"content-length", b"101048577")]
    refused = exchange(tmp_path, lambda api: Exchange(api, chunks(LIMIT), headers, path="/ingest"))
    assert refused.status == 413
    assert refused.headers["content-type"] == "application/problem+json"
    problem = json.loads(refused.body)
    assert (problem["status"], problem["code"]) == (413, "request_too_large")


def test_a_body_that_stalls_is_refused(tmp_path: Path) -> None:
    async def nothing() -> bytes:
        await asyncio.Event().wait()
        raise AssertionError

    _, headers = call_of("core_list_kbs", LEGACY)
    refused = exchange(
        tmp_path, lambda api: Exchange(api, [b"{", nothing], headers), read_timeout=0.05
    )
    assert refused.status == 408
    assert json.loads(refused.body)["error"]["data"]["code"] == "request_timeout"


def test_a_body_that_trickles_is_refused(tmp_path: Path) -> None:
    """A byte now and then is no progress."""

    async def byte() -> bytes:
        await asyncio.sleep(0.03)
        return b" "

    _, headers = call_of("core_list_kbs", LEGACY)
    refused = exchange(
        tmp_path,
        lambda api: Exchange(api, [byte] * 30, headers),
        read_timeout=0.2,
    )
    assert refused.status == 408
    assert refused.read < 30


def test_a_body_that_comes_at_a_fair_rate_may_take_longer(tmp_path: Path) -> None:
    async def part() -> bytes:
        await asyncio.sleep(0.03)
        return b" " * 900

    body, headers = call_of("core_list_kbs", LEGACY)
    parts: list[Part] = [*[part] * 10, body]
    answered = exchange(tmp_path, lambda api: Exchange(api, parts, headers), read_timeout=0.1)
    assert answered.status == 200
