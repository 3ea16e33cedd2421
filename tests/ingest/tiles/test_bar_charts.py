"""Which boxes of a page are one chart."""

from __future__ import annotations

import pytest

from eagle_rag_core.ingest.tiles.bar_charts import chart_around
from eagle_rag_core.types import Box


def bars(*heights: float, gap: float = 0.02) -> list[Box]:
    return [
        Box.of(0.1 + at * (0.1 + gap), 0.6 - height, 0.2 + at * (0.1 + gap), 0.6)
        for at, height in enumerate(heights)
    ]


def lying(boxes: list[Box]) -> list[Box]:
    return [Box.of(1 - box.y1, box.x0, 1 - box.y0, box.x1) for box in boxes]


def test_bars_on_one_line_are_one_chart_with_its_axes() -> None:
    drawn = bars(0.1, 0.3, 0.2)
    axes = [Box.of(0.08, 0.6, 0.5, 0.601), Box.of(0.08, 0.25, 0.081, 0.6)]
    whole = chart_around(drawn[1], [*drawn, *axes])
    assert (whole.x0, whole.y0, whole.x1) == (0.08, 0.25, 0.5)


def test_bars_that_lie_are_one_too() -> None:
    drawn = lying(bars(0.1, 0.3, 0.2))
    assert chart_around(drawn[0], drawn) == drawn[0].union(drawn[1]).union(drawn[2])


@pytest.mark.parametrize(
    "drawn",
    [
        bars(0.2, 0.2, 0.2),  # pictures in a row
        bars(0.1, 0.3),  # two columns
        bars(0.1, 0.3, 0.2, gap=0.15),  # far from each other
        [*bars(0.1), Box.of(0.22, 0.2, 0.6, 0.6), Box.of(0.62, 0.1, 0.9, 0.6)],  # not alike
    ],
)
def test_other_figures_stay_what_they_are(drawn: list[Box]) -> None:
    assert chart_around(drawn[0], drawn) == drawn[0]
