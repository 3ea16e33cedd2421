"""Which regions become tiles."""

from __future__ import annotations

import pytest

from eagle_rag_core.ingest.tiles.regions import (
    Region,
    bounded,
    is_worth_showing,
    merged,
    without_logos,
)
from eagle_rag_core.types import WHOLE, Box, TileKind


def test_strips_of_one_picture_are_put_together() -> None:
    strips = [Box(0.2, 0.1 * row, 0.8, 0.1 * row + 0.102) for row in range(2, 6)]
    assert merged(strips) == [Box(0.2, 0.2, 0.8, 0.602)]
    assert merged([Box(0.1, 0.1, 0.3, 0.4), Box(0.3, 0.1, 0.6, 0.4)]) == [Box(0.1, 0.1, 0.6, 0.4)]


def test_pictures_of_different_widths_stay_apart() -> None:
    apart = [Box(0.2, 0.1, 0.8, 0.3), Box(0.2, 0.3, 0.5, 0.5)]
    assert merged(apart) == apart


def test_nested_duplicates_are_one() -> None:
    assert merged([Box(0.1, 0.1, 0.9, 0.9), Box(0.15, 0.2, 0.6, 0.6)]) == [Box(0.1, 0.1, 0.9, 0.9)]


@pytest.mark.parametrize(
    ("box", "worth"),
    [
        (Box(0.1, 0.1, 0.5, 0.3), True),
        (Box(0.1, 0.1, 0.9, 0.11), False),  # a rule
        (Box(0.1, 0.1, 0.15, 0.15), False),  # an icon
        (Box(0.0, 0.0, 1.0, 0.99), False),  # the page
    ],
)
def test_what_is_worth_showing(box: Box, worth: bool) -> None:
    assert is_worth_showing(box) is worth


def test_of_very_many_pictures_the_largest_are_looked_at() -> None:
    icons = [Box.of(0.3 * (n % 3), n / 4000, 0.3 * (n % 3) + 0.2, n / 4000) for n in range(4000)]
    large = Box(0.0, 0.0, 0.9, 0.05)
    found = merged([*icons, large])
    assert len(found) <= 200
    assert any(box.shared(large) == large.area for box in found)


def figure(page: int, box: Box, caption: str = "") -> Region:
    return Region(TileKind.FIGURE, page, box, caption=caption)


def test_a_picture_that_pages_repeat_is_a_logo() -> None:
    logo = Box(0.8, 0.02, 0.95, 0.08)
    other = Box(0.1, 0.3, 0.9, 0.5)
    regions = [figure(page, logo) for page in (1, 2, 3)] + [figure(2, other)]
    assert without_logos(regions) == [figure(2, other)]
    assert len(without_logos(regions[:2])) == 2  # twice may be chance


def test_large_or_captioned_pictures_are_no_logos() -> None:
    large = [figure(page, Box(0.1, 0.1, 0.9, 0.5)) for page in range(5)]
    captioned = [figure(page, Box(0.1, 0.6, 0.4, 0.7), f"Figure {page}") for page in range(5)]
    assert without_logos([*large, *captioned]) == [*large, *captioned]


def test_the_smallest_regions_go_first_and_pages_last() -> None:
    page = Region(TileKind.PAGE, 1, WHOLE)
    sections = [
        Region(TileKind.SECTION, 1, Box(0.0, 0.02 * number, 0.1 + 0.01 * number, 0.9))
        for number in range(40)
    ]
    kept = bounded([page, *sections])
    assert len(kept) == 24
    assert kept[0] == page
    largest = sorted(sections, key=lambda region: -region.box.area)[:23]
    assert set(map(id, kept[1:])) != set()
    assert {str(region.box) for region in kept[1:]} == {str(region.box) for region in largest}


def test_a_document_has_a_bound_of_its_own() -> None:
    pages = [Region(TileKind.PAGE, number, WHOLE) for number in range(1, 3001)]
    parts = [figure(number, Box(0.1, 0.1, 0.5, 0.5)) for number in range(1, 3001)]
    kept = bounded([*pages, *parts])
    assert len(kept) == 4000
    assert kept[:3000] == pages


def test_no_place_is_shown_twice_and_texts_are_bounded() -> None:
    same = Region(TileKind.TABLE, 2, Box(0.1, 0.1, 0.5, 0.5), text="x" * 10_000)
    kept = bounded([same, same])
    assert [len(region.text) for region in kept] == [4000]
