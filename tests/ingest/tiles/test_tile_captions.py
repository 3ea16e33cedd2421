"""Captions: which paragraphs are some, and what they describe."""

from __future__ import annotations

import pytest

from eagle_rag_core.ingest.tiles.captions import Caption, caption_kind, captioned, drawing_of
from eagle_rag_core.ingest.tiles.regions import Region
from eagle_rag_core.types import Box, TileKind

FIGURE, TABLE = TileKind.FIGURE, TileKind.TABLE


@pytest.mark.parametrize(
    ("paragraph", "kind"),
    [
        ("Figure 3: Growth of kelp", FIGURE),
        ("Fig. 2. Teeth", FIGURE),
        ("FIGURE 4-68 Visual Explain", FIGURE),
        ("Figure 7-26. Self-locking nuts.", FIGURE),
        ("Abbildung 5: Zähne", FIGURE),
        ("图 3：海獭的分布", FIGURE),
        ("図1 ラッコ", FIGURE),
        ("Figure 12", FIGURE),
        ("Table 2 Prices of nuts", TABLE),
        ("TABLE IV: Results", TABLE),
        ("表 1 各地区产量", TABLE),
        ("Tabelle 3. Preise", TABLE),
        ("Figure 3 shows the growth of kelp.", None),
        ("Table 2-2 lists what each function does.", None),
        ("Table of contents", None),
        ("Figures of the year", None),
        ("A figure 3: of speech", None),
        ("Tables 1 and 2", None),
        ("", None),
    ],
)
def test_what_is_a_caption(paragraph: str, kind: TileKind | None) -> None:
    assert caption_kind(paragraph) is kind


def region(kind: TileKind, *box: float) -> Region:
    return Region(kind, 1, Box(*box))


def caption(kind: TileKind, top: float, left: float = 0.1, right: float = 0.9) -> Caption:
    return Caption(kind, f"{kind} at {top}", Box(left, top, right, top + 0.02))


def test_figures_have_their_captions_below_and_tables_above() -> None:
    upper = region(FIGURE, 0.1, 0.1, 0.9, 0.3)
    lower = region(FIGURE, 0.1, 0.36, 0.9, 0.6)
    found, left = captioned([upper, lower], [caption(FIGURE, 0.32), caption(FIGURE, 0.62)])
    assert [each.caption for each in found] == ["figure at 0.32", "figure at 0.62"]
    assert not left
    table = region(TABLE, 0.1, 0.36, 0.9, 0.6)
    found, _ = captioned([region(TABLE, 0.1, 0.1, 0.9, 0.3), table], [caption(TABLE, 0.32)])
    assert [each.caption for each in found] == ["", "table at 0.32"]


def test_a_caption_keeps_to_its_column() -> None:
    left_column, right_column = (
        region(FIGURE, 0.1, 0.2, 0.45, 0.4),
        region(FIGURE, 0.55, 0.2, 0.9, 0.4),
    )
    found, _ = captioned([left_column, right_column], [caption(FIGURE, 0.42, 0.56, 0.8)])
    assert [each.caption for each in found] == ["", "figure at 0.42"]


def test_a_caption_of_something_far_away_is_left() -> None:
    found, left = captioned([region(FIGURE, 0.1, 0.1, 0.9, 0.3)], [caption(FIGURE, 0.6)])
    assert found[0].caption == ""
    assert [each.text for each in left] == ["figure at 0.6"]


def test_a_table_that_is_a_picture_has_its_caption_too() -> None:
    found, _ = captioned([region(FIGURE, 0.1, 0.2, 0.9, 0.3)], [caption(TABLE, 0.16)])
    assert found[0].caption == "table at 0.16"


def test_a_drawing_is_found_above_its_caption_and_stays_in_its_column() -> None:
    drawn = [
        Box(0.0, 0.0, 1.0, 1.0),  # a background
        Box(0.1, 0.5, 0.45, 0.7),
        Box(0.1, 0.42, 0.45, 0.499),  # touches it
        Box(0.4, 0.55, 0.52, 0.6),  # a shadow
        Box(0.53, 0.4, 0.9, 0.7),  # another drawing
        Box(0.1, 0.05, 0.45, 0.1),
    ]
    found = drawing_of(caption(FIGURE, 0.71, 0.1, 0.3), drawn)
    assert found is not None
    assert str(found) == "0.1,0.42,0.45,0.7"
    assert drawing_of(caption(FIGURE, 0.3), drawn) is None
