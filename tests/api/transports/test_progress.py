"""Progress of calls: where it can be sent, for those who asked."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from api.transports.exchanges import Exchange, call_of, served
from e2e.product import LEGACY, MODERN

from eagle_rag_core.calls.outcome import CallOutcome


async def slowly(*_arguments: Any, **_more: Any) -> CallOutcome:
    await asyncio.sleep(0.1)
    return CallOutcome({"items": []})


def messages(home: Path, protocol: str, *, as_json: bool, progress: bool) -> list[dict[str, Any]]:
    """Everything that is sent in answer to one slow call."""

    async def talk() -> Exchange:
        async with served(home, json_response=as_json) as (app, api):
            app.pipeline.call = slowly  # type: ignore[method-assign]
            body, headers = call_of("core_list_kbs", protocol, progress=progress)
            exchange = Exchange(api, [body], headers)
            await asyncio.wait_for(exchange.task, 20)
            return exchange

    exchange = asyncio.run(talk())
    if exchange.headers["content-type"].startswith("application/json"):
        return [json.loads(exchange.body)]
    lines = exchange.body.decode().splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eagle_rag_core.api.serving.progress._BEAT_SECONDS", 0.02)


@pytest.mark.parametrize("protocol", [LEGACY, MODERN])
def test_a_stream_carries_progress_before_the_answer(tmp_path: Path, protocol: str) -> None:
    *notes, answer = messages(tmp_path, protocol, as_json=False, progress=True)
    assert answer["result"]["structuredContent"] == {"items": []}
    assert {note["method"] for note in notes} == {"notifications/progress"}
    assert {note["params"]["progressToken"] for note in notes} == {"p1"}
    seconds = [note["params"]["progress"] for note in notes]
    assert len(seconds) > 1 and seconds == sorted(set(seconds))


@pytest.mark.parametrize("protocol", [LEGACY, MODERN])
@pytest.mark.parametrize(("as_json", "progress"), [(True, True), (False, False)])
def test_nothing_but_the_answer_is_sent_otherwise(
    tmp_path: Path, protocol: str, as_json: bool, progress: bool
) -> None:
    (answer,) = messages(tmp_path, protocol, as_json=as_json, progress=progress)
    assert answer["result"]["structuredContent"] == {"items": []}
