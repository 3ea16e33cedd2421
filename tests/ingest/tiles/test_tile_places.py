"""Boxes: always on the page, never empty, and the same after a full turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.types import WHOLE, Box

numbers = st.floats(-5, 5, allow_nan=False)
boxes = st.builds(Box.of, numbers, numbers, numbers, numbers)


@given(numbers, numbers, numbers, numbers)
def test_any_rectangle_becomes_a_box_on_the_page(
    x0: float, y0: float, x1: float, y1: float
) -> None:
    box = Box.of(x0, y0, x1, y1)
    assert 0 <= box.x0 < box.x1 <= 1
    assert 0 <= box.y0 < box.y1 <= 1


@given(boxes)
def test_a_box_is_read_from_its_own_text(box: Box) -> None:
    assert Box.parse(str(box)) == box


@given(boxes)
def test_four_quarters_are_a_full_turn(box: Box) -> None:
    assert box.turned(4) == box
    assert box.turned(3).turned(1) == box
    assert box.turned(-1) == box.turned(3)


def test_a_quarter_turn_takes_the_top_left_to_the_top_right() -> None:
    corner = Box(0.0, 0.0, 0.2, 0.1)
    assert corner.turned(1) == Box(0.9, 0.0, 1.0, 0.2)
    assert corner.turned(2) == Box(0.8, 0.9, 1.0, 1.0)


@given(boxes)
def test_the_whole_of_a_part_is_the_part(box: Box) -> None:
    assert WHOLE.within(box) == box
    assert box.within(WHOLE) == box


def test_what_two_boxes_share() -> None:
    left, right = Box(0.0, 0.0, 0.6, 1.0), Box(0.4, 0.0, 1.0, 0.5)
    assert left.shared(right) == pytest.approx(0.1)
    assert left.union(right) == WHOLE
    assert Box(0.0, 0.0, 0.1, 0.1).shared(Box(0.5, 0.5, 1.0, 1.0)) == 0


@pytest.mark.parametrize(
    "text", ["0,0,0,1", "0.5,0,0.4,1", "-0.1,0,1,1", "0,0,1,1.1", "nan,0,1,1", "0,0,1", "a,b,c,d"]
)
def test_what_is_no_box_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Box.parse(text)
