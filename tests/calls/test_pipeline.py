"""The pipeline every face calls through."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field
from typing_extensions import TypedDict

from eagle_rag_core.calls.pipeline import CallPipeline
from eagle_rag_core.errors import EagleError, ErrorCode, InvalidArgument
from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.plugins.specs import ToolSpec, tool_spec_of
from eagle_rag_core.settings import Settings, load_settings
from eagle_rag_core.telemetry.call_log import CallLog
from eagle_rag_core.types import Caller, current_caller

ALICE = Caller("alice", frozenset({"a"}))
Text = Annotated[str, Field(max_length=100, description="Any text.")]


class Echo(TypedDict):
    text: str


def spec(function: Callable[..., Any], **mark: Any) -> ToolSpec:
    mark.setdefault("description", "Find what the test wants to see.")
    marked = register_mcp_tool(namespace="core", **mark)(function)
    return tool_spec_of(marked, owner="eagle-rag-core")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(overrides={"home": tmp_path, "mcp": {"tool_timeout": 0.4}})


@pytest.fixture
def log(tmp_path: Path) -> Iterator[CallLog]:
    found = CallLog(tmp_path / "audit.db", keep_days=1)
    yield found
    found.close()


@pytest.fixture
def run(settings: Settings, log: CallLog) -> Iterator[Callable[..., Any]]:
    pipelines: list[CallPipeline] = []

    def call(tool: ToolSpec, name: str | None = None, **arguments: Any) -> Any:
        pipeline = CallPipeline(settings, {tool.name: tool}, log)
        pipelines.append(pipeline)
        return asyncio.run(pipeline.call(name or tool.name, arguments, caller=ALICE, face="test"))

    yield call
    for pipeline in pipelines:
        pipeline.close()


def echo(text: Text) -> Echo:
    return {"text": f"{current_caller().id}: {text}"}


def test_tool_runs_for_its_caller(run: Callable[..., Any]) -> None:
    outcome = run(spec(echo, name="find_echo"), text="hi")
    assert (outcome.code, outcome.payload) == ("ok", {"text": "alice: hi"})


def test_unknown_tool_suggests_the_closest(run: Callable[..., Any]) -> None:
    outcome = run(spec(echo, name="find_echo"), "core_find_ecko", text="hi")
    assert outcome.code == ErrorCode.TOOL_NOT_FOUND
    assert "core_find_echo" in outcome.error["error"]


def test_unknown_argument_is_refused(run: Callable[..., Any]) -> None:
    outcome = run(spec(echo, name="find_echo"), text="hi", txt="ho")
    assert outcome.code == ErrorCode.UNKNOWN_ARGUMENT


def test_own_errors_keep_code_and_message(run: Callable[..., Any]) -> None:
    def refuse(text: Text) -> Echo:
        raise InvalidArgument("Give something else.")

    outcome = run(spec(refuse, name="find_refusal"), text="hi")
    assert outcome.payload == {
        "error": "InvalidArgument: Give something else.",
        "code": "invalid_argument",
        "retryable": False,
        "retry_after_s": 0.0,
    }


def test_foreign_exceptions_show_name_and_log_id_only(
    run: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    def leak(text: Text) -> Echo:
        raise ValueError("postgresql://user:secret@db/prod")

    outcome = run(spec(leak, name="find_leak"), text="hi")
    shown = outcome.error["error"]
    assert shown.startswith("ValueError: ")
    assert "secret" not in shown
    assert shown.rsplit(" ", 1)[-1] in caplog.text
    assert outcome.code == ErrorCode.INTERNAL


def test_list_tools_fail_with_a_list(run: Callable[..., Any]) -> None:
    def fail(text: Text) -> list[Echo]:
        raise InvalidArgument("No.")

    outcome = run(spec(fail, name="find_list"), text="hi")
    assert outcome.payload == [outcome.error]


def test_slow_tool_times_out_as_its_operation(run: Callable[..., Any]) -> None:
    release = threading.Event()

    def hang(text: Text) -> Echo:
        release.wait(5)
        return {"text": text}

    started = time.monotonic()
    outcome = run(spec(hang, name="find_slow"), text="hi")
    release.set()
    assert outcome.error["error"] == "timeout: find_slow"
    assert outcome.retryable
    assert time.monotonic() - started < 4


def test_a_tools_own_timeout_error_is_not_ours(run: Callable[..., Any]) -> None:
    def fail(text: Text) -> Echo:
        raise TimeoutError("of its own")

    outcome = run(spec(fail, name="find_own"), text="hi")
    assert outcome.code == ErrorCode.INTERNAL


def test_every_call_is_recorded_with_its_outcome(run: Callable[..., Any], log: CallLog) -> None:
    tool = spec(echo, name="find_echo")
    run(tool, text="hi")
    run(tool, text=5)
    newest, oldest = log.recent()
    assert (oldest["tool"], oldest["caller"], oldest["outcome"]) == (
        "core_find_echo",
        "alice",
        "ok",
    )
    assert newest["outcome"] == ErrorCode.INVALID_ARGUMENT


def test_hanging_calls_do_not_block_others(settings: Settings) -> None:
    release = threading.Event()

    def hang(text: Text) -> Echo:
        release.wait(5)
        return {"text": text}

    slow, fast = spec(hang, name="find_slow"), spec(echo, name="find_echo")
    pipeline = CallPipeline(settings, {slow.name: slow, fast.name: fast}, None)

    async def both() -> list[Any]:
        hung = asyncio.create_task(
            pipeline.call(slow.name, {"text": "x"}, caller=ALICE, face="test")
        )
        answers = [
            await pipeline.call(fast.name, {"text": str(i)}, caller=ALICE, face="test")
            for i in range(10)
        ]
        assert not hung.done()
        release.set()
        return [*answers, await hung]

    outcomes = asyncio.run(both())
    pipeline.close()
    assert [outcome.code for outcome in outcomes] == ["ok"] * 11


def test_oversized_answers_are_cut(settings: Settings) -> None:
    def long(text: Text) -> list[Echo]:
        return [{"text": "z" * 200_000}]

    tool = spec(long, name="find_long")
    pipeline = CallPipeline(settings, {tool.name: tool}, None)
    outcome = asyncio.run(pipeline.call(tool.name, {"text": "x"}, caller=ALICE, face="test"))
    pipeline.close()
    assert outcome.payload[0]["truncated"] is True
    assert len(outcome.payload[0]["text"]) <= settings.mcp.max_result_tokens * 4


def test_errors_carry_retry_advice(run: Callable[..., Any]) -> None:
    def busy(text: Text) -> Echo:
        raise EagleError("Busy.", code=ErrorCode.OVERLOADED, retryable=True, retry_after_s=2.0)

    outcome = run(spec(busy, name="find_busy"), text="hi")
    assert outcome.error == {
        "error": "overloaded: find_busy",
        "code": "overloaded",
        "retryable": True,
        "retry_after_s": 2.0,
    }
