"""A lane widens for calls that wait, and narrows for calls that compute."""

from __future__ import annotations

import pytest

from eagle_rag_core.calls.width import LaneWidth

ON_TIME, LATE = 0.001, 0.050


def ended(width: LaneWidth, *, took: float, cpu: float) -> LaneWidth:
    for _ in range(20):
        width.learn(took, cpu)
    return width


def test_it_widens_at_first_when_nothing_is_known() -> None:
    width, places = LaneWidth(100), []
    for _ in range(6):
        places.append(width.places)
        width.adjust(ON_TIME, width.places)
    assert places == [4, 8, 16, 32, 64, 100]


def test_calls_that_wait_widen_it_however_late_the_event_loop_is() -> None:
    width = ended(LaneWidth(100), took=2.0, cpu=0.01)
    for _ in range(6):
        width.adjust(LATE, 10)
    assert width.places == 100


def test_calls_that_compute_narrow_it_when_the_event_loop_is_late() -> None:
    width = ended(LaneWidth(100), took=0.1, cpu=0.02)
    for _ in range(6):
        width.adjust(ON_TIME, width.places)
    assert width.places == 100
    for _ in range(6):
        width.adjust(LATE, width.places)
    assert width.places == 4


def test_it_is_never_wider_than_allowed() -> None:
    width = LaneWidth(2)
    width.adjust(ON_TIME, 2)
    assert width.places == 2


def test_when_nobody_waits_it_keeps_what_is_in_use_and_one_more() -> None:
    width = LaneWidth(100)
    for _ in range(6):
        width.adjust(ON_TIME, width.places)
    width.relax(50)
    assert width.places == 51
    width.relax(60)
    assert width.places == 51
    width.relax(1)
    assert width.places == 4


def test_a_lane_that_waits_expects_to_get_as_wide_as_it_may() -> None:
    width = ended(LaneWidth(100), took=0.5, cpu=0.001)
    assert width.expected_wait(10, 4, still_s=0.1) == pytest.approx(0.05)


def test_a_lane_that_computes_does_not() -> None:
    width = ended(LaneWidth(100), took=0.5, cpu=0.4)
    assert width.expected_wait(10, 4, still_s=0.1) == pytest.approx(1.25)


def test_a_crowded_lane_goes_by_the_pace_of_its_calls() -> None:
    width = ended(LaneWidth(100), took=0.5, cpu=0.4)
    width.adjust(LATE, 4)
    for _ in range(20):
        width.learn_pace(0.02)
    assert width.expected_wait(10, 4, still_s=0.1) == pytest.approx(0.2)
    width.relax(1)
    assert width.expected_wait(10, 4, still_s=0.1) == pytest.approx(1.25)


@pytest.mark.parametrize("crowded", [False, True])
def test_when_no_call_ends_the_expected_wait_grows(crowded: bool) -> None:
    width = ended(LaneWidth(4), took=0.01, cpu=0.01)
    width.learn_pace(0.01)
    if crowded:
        width.adjust(LATE, 4)
    assert width.expected_wait(4, 4, still_s=20.0) == pytest.approx(20.0)
