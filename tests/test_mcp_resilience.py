"""Calls that hang, fail, pile up or are given up harm nobody but their callers."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from eagle_rag_core.app import EagleApp
from eagle_rag_core.calls.breaker import CircuitState
from eagle_rag_core.calls.events import (
    CallAbandoned,
    CallEvent,
    CallRefused,
    CallRetried,
    CircuitChanged,
)
from eagle_rag_core.calls.outcome import CallOutcome
from eagle_rag_core.calls.pipeline import CallPipeline
from eagle_rag_core.calls.refusal import Refusal
from eagle_rag_core.calls.work import Work
from eagle_rag_core.errors import (
    CallTimeout,
    EagleError,
    ErrorCode,
    InvalidArgument,
    ModelError,
    StorageError,
)
from eagle_rag_core.mcp_resilience import Resilience, resilient_call
from eagle_rag_core.settings import Settings, load_settings
from eagle_rag_core.types import LOCAL, current_deadline

LONG = 60.0


def configured(home: Path, **mcp: Any) -> Settings:
    text = {"text_embedder": "none"}
    return load_settings(overrides={"home": home, "mcp": mcp, "models": text})


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Resilience]]:
    made: list[Resilience] = []

    def new(**mcp: Any) -> Resilience:
        made.append(Resilience(configured(tmp_path, **mcp)))
        return made[-1]

    yield new
    for resilience in made:
        resilience.close()


@contextmanager
def hanging() -> Iterator[Callable[[], bool]]:
    """A function that hangs until the end of the block."""
    release = threading.Event()
    try:
        yield lambda: release.wait(LONG)
    finally:
        release.set()


def failing(error: Exception) -> Callable[[], Any]:
    def fail() -> None:
        raise error

    return fail


async def code_of(call: Awaitable[Any]) -> str:
    """``ok``, or how the call failed."""
    try:
        await call
    except EagleError as error:
        return error.code
    except Exception as error:
        return type(error).__name__
    return "ok"


def circuit(resilience: Resilience, operation: str) -> CircuitState:
    return resilience.guard(operation, "").circuit.state


async def patiently(true: Callable[[], bool]) -> None:
    for _ in range(1000):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it does not become true")


# What a breaker around every call does wrong when it is a library's (E1 to E5).


def test_e1_healthy_calls_run_side_by_side(make: Callable[..., Resilience]) -> None:
    """A breaker that holds its lock during the call makes them wait for each other."""
    resilience, meeting = make(), threading.Barrier(100)

    async def main() -> list[str]:
        calls = [
            resilient_call("query", lambda: meeting.wait(LONG), resilience) for _ in range(100)
        ]
        return await asyncio.gather(*map(code_of, calls))

    assert asyncio.run(main()) == ["ok"] * 100


def test_e2_one_hung_call_harms_no_other(make: Callable[..., Resilience]) -> None:
    """Neither those to other tools nor those to the same one."""
    resilience = make(tool_timeout=LONG, queue_timeout=LONG)

    async def main() -> list[str]:
        with hanging() as hang:
            hung = asyncio.create_task(code_of(resilient_call("query", hang, resilience)))
            await patiently(lambda: bool(resilience.state()))
            calls = [
                resilient_call(operation, int, resilience)
                for operation in ("query", "retrieve_text")
                for _ in range(100)
            ]
            codes = await asyncio.gather(*map(code_of, calls))
            assert not hung.done()
        await hung
        return codes

    assert asyncio.run(main()) == ["ok"] * 200


def test_e3_bad_file_names_cost_nothing_and_open_nothing(tmp_path: Path) -> None:
    """They are the caller's mistake: not tried again, and not held against the tool."""
    app = EagleApp.open(configured(tmp_path, circuit_fail_threshold=1), no_packs=True)
    events: list[CallEvent] = []
    app.pipeline.resilience.listen(events.append)

    async def main() -> list[CallOutcome]:
        return [
            await app.pipeline.call(
                "core_ingest", {"source_uri": f"missing-{n}.md"}, caller=LOCAL, face="test"
            )
            for n in range(10)
        ]

    outcomes = asyncio.run(main())
    app.close()
    assert {outcome.code for outcome in outcomes} == {ErrorCode.SOURCE_NOT_FOUND}
    assert events == []


def test_e4_timeouts_open_the_circuit_and_their_threads_are_bounded(
    make: Callable[..., Resilience],
) -> None:
    resilience = make(tool_timeout=0.05, circuit_fail_threshold=5)

    async def main() -> list[str]:
        with hanging() as hang:
            codes = [await code_of(resilient_call("query", hang, resilience)) for _ in range(8)]
            assert resilience.state()[0].load.abandoned == 5
        await patiently(lambda: resilience.state()[0].load.abandoned == 0)
        return codes

    assert asyncio.run(main()) == ["timeout"] * 5 + ["circuit_open"] * 3


def test_e5_a_backend_that_answers_nonsense_opens_the_circuit(
    make: Callable[..., Resilience],
) -> None:
    """Whether the nonsense is noticed as such, or a parser stumbles over it."""
    resilience = make()

    async def main(operation: str, function: Callable[[], Any]) -> list[str]:
        return [await code_of(resilient_call(operation, function, resilience)) for _ in range(6)]

    stumbled = asyncio.run(main("query", lambda: json.loads("<html>Bad gateway</html>")))
    assert stumbled == ["JSONDecodeError"] * 5 + ["circuit_open"]
    noticed = asyncio.run(main("search", failing(ModelError("It answers no JSON."))))
    assert noticed == ["model_unavailable"] * 5 + ["circuit_open"]


# The circuit.


def test_ten_thousand_mistakes_of_callers_open_nothing(make: Callable[..., Resilience]) -> None:
    resilience = make(circuit_fail_threshold=1)

    async def main() -> set[str]:
        wrong = failing(InvalidArgument("No."))
        return {await code_of(resilient_call("query", wrong, resilience)) for _ in range(10_000)}

    assert asyncio.run(main()) == {"invalid_argument"}
    assert circuit(resilience, "query") is CircuitState.CLOSED


def test_of_200_callers_one_probes_and_the_circuit_closes_again(
    make: Callable[..., Resilience],
) -> None:
    resilience = make(circuit_fail_threshold=1, circuit_cooldown=0.05)

    async def main() -> list[str]:
        await code_of(resilient_call("query", failing(ValueError()), resilience))
        await asyncio.sleep(0.06)
        with hanging() as hang:
            calls = [
                asyncio.create_task(code_of(resilient_call("query", hang, resilience)))
                for _ in range(200)
            ]
            await patiently(lambda: sum(call.done() for call in calls) == 199)
        return sorted(await asyncio.gather(*calls))

    assert asyncio.run(main()) == ["circuit_open"] * 199 + ["ok"]
    assert circuit(resilience, "query") is CircuitState.CLOSED


def test_calls_given_up_by_their_callers_open_nothing(make: Callable[..., Resilience]) -> None:
    resilience = make(circuit_fail_threshold=1)

    async def main() -> None:
        with hanging() as hang:
            for _ in range(5):
                call = asyncio.create_task(resilient_call("query", hang, resilience))
                await asyncio.sleep(0.01)
                call.cancel()
                await asyncio.gather(call, return_exceptions=True)

    asyncio.run(main())
    assert circuit(resilience, "query") is CircuitState.CLOSED


def test_each_operation_and_dependency_has_a_circuit_of_its_own(
    make: Callable[..., Resilience],
) -> None:
    resilience = make(circuit_fail_threshold=1)

    async def main() -> list[str]:
        broken = resilient_call("query", failing(ValueError()), resilience, dependency="a")
        await code_of(broken)
        return [
            await code_of(resilient_call(operation, int, resilience, dependency=dependency))
            for operation, dependency in (("query", "a"), ("query", "b"), ("search", "a"))
        ]

    assert asyncio.run(main()) == ["circuit_open", "ok", "ok"]


# Repetitions.


def test_a_read_that_meets_a_passing_fault_is_tried_again(make: Callable[..., Resilience]) -> None:
    resilience, made, events = make(max_retries=3), list[int](), list[CallEvent]()
    resilience.listen(events.append)

    def fail_twice() -> str:
        made.append(1)
        if len(made) < 3:
            raise StorageError("Busy.")
        return "done"

    assert asyncio.run(resilient_call("query", fail_twice, resilience)) == "done"
    code = ErrorCode.STORAGE_UNAVAILABLE
    assert events == [CallRetried("query", "", n, code) for n in (1, 2)]


@pytest.mark.parametrize(
    ("error", "more", "attempts"),
    [
        (StorageError("Busy."), {}, 4),
        (StorageError("Busy."), {"reads": False}, 1),
        (StorageError("Damaged.", retryable=False), {}, 1),
        (StorageError("Busy.", retry_after_s=100.0), {}, 1),
        (InvalidArgument("No."), {}, 1),
        (CallTimeout("Slow."), {}, 1),
        (ValueError("defect"), {}, 1),
        (ConnectionResetError("passing"), {}, 4),
    ],
)
def test_how_often_a_call_is_made(
    make: Callable[..., Resilience], error: Exception, more: dict[str, Any], attempts: int
) -> None:
    resilience, made = make(max_retries=3), list[int]()

    def fail() -> None:
        made.append(1)
        raise error

    with pytest.raises(type(error)):
        asyncio.run(resilient_call("query", fail, resilience, **more))
    assert len(made) == attempts


def test_one_time_limit_covers_all_attempts(make: Callable[..., Resilience]) -> None:
    resilience, deadlines = make(max_retries=10), list[float]()

    def fail() -> None:
        deadlines.append(current_deadline())
        raise StorageError("Busy.")

    with pytest.raises(StorageError):
        asyncio.run(resilient_call("query", fail, resilience, seconds=0.3))
    assert 1 < len(deadlines) < 10
    assert len(set(deadlines)) == 1


def test_a_call_counts_once_however_often_it_is_tried(make: Callable[..., Resilience]) -> None:
    """A short fault that two calls repeat into is no reason to spare the part."""
    resilience = make(max_retries=3, circuit_fail_threshold=3)
    busy = failing(StorageError("Busy."))

    async def main() -> list[str]:
        return [await code_of(resilient_call("query", busy, resilience)) for _ in range(4)]

    assert asyncio.run(main()) == ["storage_unavailable"] * 3 + ["circuit_open"]


def test_a_probe_is_one_attempt(make: Callable[..., Resilience]) -> None:
    resilience, made = make(circuit_fail_threshold=1, circuit_cooldown=0.05), list[int]()

    def fail() -> None:
        made.append(1)
        raise StorageError("Busy.")

    async def main() -> None:
        await code_of(resilient_call("query", failing(ValueError()), resilience))
        await asyncio.sleep(0.06)
        await code_of(resilient_call("query", fail, resilience))

    asyncio.run(main())
    assert len(made) == 1


def test_what_opens_meanwhile_ends_the_repetitions_and_does_not_hide_their_cause(
    make: Callable[..., Resilience],
) -> None:
    resilience, made = make(max_retries=3), list[int]()

    def fail() -> None:
        made.append(1)
        resilience.guard("query", "").circuit.hold_open(10)
        raise StorageError("Busy.")

    with pytest.raises(StorageError):
        asyncio.run(resilient_call("query", fail, resilience))
    assert len(made) == 1


def test_what_opens_while_a_call_waits_turns_it_away(make: Callable[..., Resilience]) -> None:
    resilience = make(max_concurrent_calls=1, queue_timeout=LONG)

    async def main() -> tuple[str, str]:
        with hanging() as hang:
            first = asyncio.create_task(code_of(resilient_call("query", hang, resilience)))
            await asyncio.sleep(0)
            second = asyncio.create_task(code_of(resilient_call("query", int, resilience)))
            await patiently(lambda: resilience.state()[0].load.waiting == 1)
            resilience.guard("query", "").circuit.hold_open(10)
        return await first, await second

    assert asyncio.run(main()) == ("ok", "circuit_open")


def test_a_fault_that_lasts_is_not_multiplied(make: Callable[..., Resilience]) -> None:
    """Repetitions are bounded for all calls together, not only for each."""
    resilience, made = make(max_retries=3, circuit_fail_threshold=1000), list[int]()

    def fail() -> None:
        made.append(1)
        raise StorageError("Busy.")

    async def main() -> None:
        calls = [resilient_call("query", fail, resilience) for _ in range(15)]
        await asyncio.gather(*map(code_of, calls))

    asyncio.run(main())
    assert 15 < len(made) <= 15 + 10 + 1


# Hangs and floods.


def flood(resilience: Resilience, calls: int) -> tuple[list[str], int]:
    """Outcomes of hanging calls that all come at once, and the most threads at a time."""

    async def main() -> tuple[list[str], int]:
        with hanging() as hang:
            made = [resilient_call("query", hang, resilience) for _ in range(calls)]
            codes = await asyncio.gather(*map(code_of, made))
            threads = sum(thread.name == "call" for thread in threading.enumerate())
        return codes, threads

    return asyncio.run(main())


def test_hanging_calls_that_come_at_once_take_bounded_threads(
    make: Callable[..., Resilience],
) -> None:
    resilience = make(
        tool_timeout=0.2, queue_timeout=0.1, max_concurrent_calls=20, max_abandoned_calls=5
    )
    codes, threads = flood(resilience, 200)
    assert set(codes) <= {"timeout", "overloaded", "circuit_open"}
    assert threads <= 20 + 5


@pytest.mark.full
def test_a_thousand_hangs_take_bounded_threads(make: Callable[..., Resilience]) -> None:
    """Even when the circuit never opens."""
    resilience = make(tool_timeout=0.2, circuit_fail_threshold=1000)
    threads = 0
    with hanging() as hang:

        async def main() -> list[str]:
            made = [resilient_call("query", hang, resilience) for _ in range(200)]
            return await asyncio.gather(*map(code_of, made))

        for _ in range(5):
            codes = asyncio.run(main())
            assert "ok" not in codes
            now = sum(thread.name == "call" for thread in threading.enumerate())
            threads = max(threads, now)
    assert threads <= 100 + 32


def test_with_too_many_hangs_left_behind_calls_are_turned_away_at_once(
    make: Callable[..., Resilience],
) -> None:
    resilience = make(tool_timeout=0.05, circuit_fail_threshold=100, max_abandoned_calls=3)

    async def main() -> list[str]:
        with hanging() as hang:
            codes = [await code_of(resilient_call("query", hang, resilience)) for _ in range(5)]
            codes.append(await code_of(resilient_call("search", int, resilience)))
        return codes

    assert asyncio.run(main()) == ["timeout"] * 3 + ["overloaded"] * 2 + ["ok"]


# Calls that are given up.


def test_work_that_looks_sees_that_its_call_was_given_up(make: Callable[..., Resilience]) -> None:
    resilience, saw = make(tool_timeout=LONG), threading.Event()

    def work() -> None:
        while current_deadline() > time.monotonic():
            time.sleep(0.005)
        saw.set()

    async def main() -> bool:
        call = asyncio.create_task(resilient_call("query", work, resilience))
        await asyncio.sleep(0.05)
        assert not saw.is_set()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        (state,) = resilience.state()
        assert state.load.running == 0
        return await asyncio.to_thread(saw.wait, LONG / 2)

    assert asyncio.run(main())


def test_everything_that_happens_is_told(make: Callable[..., Resilience]) -> None:
    resilience = make(tool_timeout=0.05, circuit_fail_threshold=1, circuit_cooldown=0.1)
    events: list[CallEvent] = []

    def broken(event: CallEvent) -> None:
        raise ValueError("a listener's own fault")

    resilience.listen(broken)
    resilience.listen(events.append)

    async def main() -> None:
        with hanging() as hang:
            await code_of(resilient_call("query", hang, resilience))
            await code_of(resilient_call("query", hang, resilience))
        await asyncio.sleep(0.11)
        await code_of(resilient_call("query", int, resilience))

    asyncio.run(main())
    closed, opened, half_open = CircuitState.CLOSED, CircuitState.OPEN, CircuitState.HALF_OPEN
    assert events == [
        CallAbandoned("query", "", 1),
        CircuitChanged("query", "", closed, opened, False),
        CallRefused("query", "", ErrorCode.CIRCUIT_OPEN),
        CircuitChanged("query", "", opened, half_open, False),
        CircuitChanged("query", "", half_open, closed, False),
    ]


# The pipeline around it.


@pytest.fixture
def pipeline(tmp_path: Path) -> Iterator[CallPipeline]:
    made = CallPipeline(configured(tmp_path, tool_timeout=0.2, circuit_fail_threshold=1), {}, None)
    yield made
    made.close()


async def perform(pipeline: CallPipeline, run: Callable[[], Any]) -> CallOutcome:
    return await pipeline.perform(Work("ingest", {}, run), caller=LOCAL, face="test")


def test_callers_are_told_the_operation_and_when_to_come_back(pipeline: CallPipeline) -> None:
    async def main() -> tuple[CallOutcome, CallOutcome]:
        with hanging() as hang:
            return await perform(pipeline, hang), await perform(pipeline, hang)

    late, refused = asyncio.run(main())
    assert (late.error["error"], late.retryable) == ("timeout: ingest", True)
    assert (refused.error["error"], refused.retryable) == ("circuit_open: ingest", True)
    assert 0 < refused.retry_after_s <= 10


def test_an_overload_is_told_in_the_same_way(tmp_path: Path) -> None:
    settings = configured(tmp_path, max_concurrent_calls=1, queue_timeout=0)
    pipeline = CallPipeline(settings, {}, None)

    async def main() -> CallOutcome:
        with hanging() as hang:
            first = asyncio.create_task(perform(pipeline, hang))
            await asyncio.sleep(0)
            second = await perform(pipeline, hang)
        await first
        return second

    refused = asyncio.run(main())
    pipeline.close()
    assert (refused.error["error"], refused.code) == ("overloaded: ingest", "overloaded")
    assert refused.retry_after_s > 0


def test_calls_in_flight_finish_before_the_end_and_later_ones_are_turned_away(
    pipeline: CallPipeline,
) -> None:
    async def main() -> tuple[bool, bool, CallOutcome, CallOutcome]:
        release = threading.Event()
        call = asyncio.create_task(perform(pipeline, lambda: release.wait(LONG)))
        await asyncio.sleep(0)
        early = await pipeline.drain(0.01)
        pipeline.close()
        release.set()
        drained = await pipeline.drain(LONG)
        return early, drained, await call, await perform(pipeline, int)

    early, drained, finished, refused = asyncio.run(main())
    assert (early, drained, finished.code) == (False, True, "ok")
    assert (refused.code, refused.retryable) == (ErrorCode.OVERLOADED, True)


def test_with_nothing_in_flight_there_is_nothing_to_wait_for(pipeline: CallPipeline) -> None:
    assert asyncio.run(pipeline.drain(LONG))


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_retries": -1},
        {"circuit_fail_threshold": 0},
        {"circuit_cooldown": 0},
        {"max_concurrent_calls": 0},
        {"queue_timeout": -1},
        {"max_abandoned_calls": 0},
    ],
)
def test_settings_that_could_not_work_are_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(EagleError, match=next(iter(wrong))):
        configured(tmp_path, **wrong)


def test_a_refusal_never_advises_to_come_back_at_once() -> None:
    assert Refusal("", ErrorCode.OVERLOADED, 0.0).retry_after_s > 0
