"""Asking legs that work, fail, hang or lie."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Iterator

import pytest

from eagle_rag_core.errors import StorageError
from eagle_rag_core.retrieval.legs import PlannedLeg
from eagle_rag_core.retrieval.running import Attempt, ask_legs, describe
from eagle_rag_core.retrieval.workers import Overrun, Stuck, WorkerPool
from eagle_rag_core.types import Leg, LegRequest, Scope, ScoredNode

REQUEST = LegRequest("query", Scope(frozenset({"default"})), 3)


@pytest.fixture
def attempt() -> Iterator[Attempt]:
    pool = WorkerPool()
    yield Attempt(pool, timeout=30.0, deadline=math.inf)
    pool.close()


def leg(name: str, retrieve: object, *, inline: bool = False) -> PlannedLeg:
    return PlannedLeg(Leg(name, retrieve), inline=inline)  # type: ignore[arg-type]


def found(*ids: str) -> object:
    return lambda request: [ScoredNode(node_id, 1.0) for node_id in ids]


def test_answers_come_in_the_order_of_the_legs(attempt: Attempt) -> None:
    legs = [leg("a", found("1")), leg("b", found("2"), inline=True), leg("c", found("3"))]
    answers = ask_legs(legs, REQUEST, attempt)
    assert [answer.nodes[0].node_id for answer in answers] == ["1", "2", "3"]


def test_inline_legs_run_in_the_calling_thread_and_others_do_not(attempt: Attempt) -> None:
    ran: dict[str, int] = {}

    def note(name: str) -> object:
        def retrieve(request: LegRequest) -> list[ScoredNode]:
            ran[name] = threading.get_ident()
            return []

        return retrieve

    ask_legs([leg("far", note("far")), leg("near", note("near"), inline=True)], REQUEST, attempt)
    assert ran["near"] == threading.get_ident() != ran["far"]


def test_legs_run_at_the_same_time(attempt: Attempt) -> None:
    together = threading.Barrier(3, timeout=30)

    def meet(request: LegRequest) -> list[ScoredNode]:
        together.wait()
        return [ScoredNode("met", 1.0)]

    legs = [leg("a", meet), leg("b", meet), leg("c", meet, inline=True)]
    assert all(answer.error is None for answer in ask_legs(legs, REQUEST, attempt))


@pytest.mark.parametrize("inline", [True, False])
def test_a_failing_leg_loses_nobody_elses_answer(attempt: Attempt, inline: bool) -> None:
    def fail(request: LegRequest) -> list[ScoredNode]:
        raise RuntimeError("secret detail")

    bad, good = ask_legs(
        [leg("bad", fail, inline=inline), leg("good", found("1"))], REQUEST, attempt
    )
    assert isinstance(bad.error, RuntimeError) and bad.nodes == ()
    assert good.nodes[0].node_id == "1"


def test_a_hanging_leg_is_given_up_after_its_time() -> None:
    release, pool = threading.Event(), WorkerPool()
    attempt = Attempt(pool, timeout=0.05, deadline=math.inf)
    legs = [leg("hangs", lambda request: release.wait()), leg("good", found("1"), inline=True)]
    hangs, good = ask_legs(legs, REQUEST, attempt)
    release.set()
    assert isinstance(hangs.error, Overrun)
    assert good.nodes[0].node_id == "1"


def test_a_leg_that_hangs_while_it_is_iterated_is_given_up_too() -> None:
    release, pool = threading.Event(), WorkerPool()

    def trickle(request: LegRequest) -> Iterator[ScoredNode]:
        yield ScoredNode("1", 1.0)
        release.wait()

    (answer,) = ask_legs([leg("trickle", trickle)], REQUEST, Attempt(pool, 0.05, math.inf))
    release.set()
    assert isinstance(answer.error, Overrun)


def test_legs_that_hang_again_and_again_are_no_longer_asked() -> None:
    release, pool = threading.Event(), WorkerPool(stuck_per_name=2)
    attempt = Attempt(pool, timeout=0.01, deadline=math.inf)
    hangs = leg("hangs", lambda request: release.wait())
    errors = [ask_legs([hangs], REQUEST, attempt)[0].error for _ in range(3)]
    release.set()
    assert [type(error) for error in errors] == [Overrun, Overrun, Stuck]


def test_no_leg_is_asked_after_the_calls_deadline() -> None:
    attempt = Attempt(WorkerPool(), timeout=30.0, deadline=time.monotonic() - 1)
    (answer,) = ask_legs([leg("near", found("1"), inline=True)], REQUEST, attempt)
    assert isinstance(answer.error, Overrun)


def test_an_endless_answer_is_cut_at_the_limit(attempt: Attempt) -> None:
    endless = leg("endless", lambda request: (ScoredNode(str(n), 1.0) for n in itertools.count()))
    (answer,) = ask_legs([endless], REQUEST, attempt)
    assert len(answer.nodes) == REQUEST.limit and answer.saturated


@pytest.mark.parametrize("result", [["a"], [("a", 1.0)], None, 7])
def test_an_answer_that_is_no_list_of_nodes_is_a_failure(attempt: Attempt, result: object) -> None:
    (answer,) = ask_legs([leg("odd", lambda request: result)], REQUEST, attempt)
    assert isinstance(answer.error, TypeError)


@pytest.mark.parametrize(
    "error", [ValueError("secret"), StorageError("secret"), Overrun("secret"), Stuck("secret")]
)
def test_descriptions_never_repeat_an_exceptions_text(error: Exception) -> None:
    text = describe(error, "leg")
    assert "secret" not in text and text.endswith(".")
