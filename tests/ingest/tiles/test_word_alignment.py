"""Words of a page found again in the text that was made of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.ingest.tiles.alignment import Alignment
from eagle_rag_core.ingest.tiles.words import Word, joined_on_lines, split_line, words_of_lines
from eagle_rag_core.types import Box, ReadLine


def on_lines(*lines: str) -> list[Word]:
    """Words at a tenth of the page each, line under line."""
    return [
        Word(text, Box.of(0.1 * column, 0.05 * row, 0.1 * column + 0.09, 0.05 * row + 0.04))
        for row, line in enumerate(lines)
        for column, text in enumerate(line.split())
    ]


def quoted(text: str, words: Sequence[Word], quotation: str, occurrence: int = 0) -> list[str]:
    """The words of the page behind a part of the text."""
    start = -1
    for _ in range(occurrence + 1):
        start = text.index(quotation, start + 1)
    found = Alignment(text, words).between(start, start + len(quotation))
    return [words[word].text for word in found]


def test_words_are_found_where_they_stand() -> None:
    words = on_lines("Sea otters eat urchins", "and sleep in kelp")
    text = "Sea otters eat urchins and sleep in kelp"
    assert quoted(text, words, "urchins and sleep") == ["urchins", "and", "sleep"]


def test_a_divided_word_has_two_places() -> None:
    words = on_lines("they hold each other while sleep-", "ing in the kelp")
    text = "they hold each other while sleeping in the kelp"
    assert quoted(text, words, "sleeping") == ["sleep-", "ing"]


def test_ligatures_case_and_width_do_not_matter() -> None:
    words = on_lines("the \ufb01rst o\ufb03ce Ｎｏ 7")
    assert quoted("The first office NO 7", words, "first office NO") == [
        "\ufb01rst",
        "o\ufb03ce",
        "Ｎｏ",
    ]


def test_columns_may_have_been_put_one_after_the_other() -> None:
    words = on_lines(
        "alpha beta right one",
        "gamma delta right two",
        "epsilon zeta right three",
    )
    text = "alpha beta gamma delta epsilon zeta right one right two right three"
    assert quoted(text, words, "right two") == ["right", "two"]
    found = Alignment(text, words).between(text.index("right two"), len(text) - len(" right three"))
    assert [words[word].box.y0 for word in found] == [0.05, 0.05]


def test_what_was_left_out_of_the_text_is_skipped() -> None:
    words = on_lines("Annual report 7", "the sea level rises", "page 7 of 9")
    assert quoted("the sea level rises", words, "the sea") == ["the", "sea"]


def test_of_words_that_say_the_same_the_one_in_the_same_place_is_meant() -> None:
    words = on_lines("total cost of the first ship", "total cost of the second ship")
    text = "total cost of the first ship\ntotal cost of the second ship"
    found = Alignment(text, words).between(text.rindex("total"), text.rindex("total") + 5)
    assert [words[word].box.y0 for word in found] == [0.05]


def test_cells_of_tables_are_found_by_their_neighbours() -> None:
    words = on_lines("Name Price", "Nut 12", "Bolt 12")
    text = "| Name | Price |\n| --- | --- |\n| Nut | 12 |\n| Bolt | 12 |"
    alignment = Alignment(text, words)
    last = text.rindex("12")
    assert [words[word].box.y0 for word in alignment.between(last, last + 2)] == [0.1]


def test_a_word_is_not_found_inside_of_another() -> None:
    words = on_lines("the particular apartment")
    assert quoted("a part of it", words, "part") == []


def test_what_does_not_stand_on_the_page_has_no_place() -> None:
    words = on_lines("entirely different words")
    assert quoted("Summary written elsewhere", words, "Summary") == []
    assert Alignment("", words).between(0, 10) == []
    assert Alignment("Sea otters", []).between(0, 10) == []


@given(st.permutations(["alpha beta gamma", "delta epsilon zeta", "eta theta iota kappa"]))
def test_the_order_of_blocks_does_not_matter(blocks: list[str]) -> None:
    words = on_lines("alpha beta gamma", "delta epsilon zeta", "eta theta iota kappa")
    text = "\n\n".join(blocks)
    for block in blocks:
        assert quoted(text, words, block) == block.split()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a" * 30_000, ["a" * 60_000]),
        ("ab " * 10_000, ["ab"] * 20_000),
        ("1 " * 20_000, ["12"] * 20_000),
    ],
)
def test_pages_made_to_take_long_are_given_up(text: str, words: list[str]) -> None:
    """Each would take minutes, since everything matches everywhere."""
    box = Box(0.0, 0.0, 0.1, 0.1)
    Alignment(text, [Word(word, box) for word in words])


def test_a_line_is_cut_by_the_width_of_its_characters() -> None:
    box = Box(0.0, 0.0, 1.0, 0.1)
    first, second = split_line("ab cdefg", box)
    assert (first.text, first.box.x1) == ("ab", 0.25)
    assert (second.text, second.box.x0) == ("cdefg", 0.375)
    assert [word.box.x1 for word in split_line("海獺ab", box)] == [0.3333, 0.6667, 1.0]


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_a_turned_line_is_cut_along_its_own_direction(turns: int) -> None:
    upright = Box(0.2, 0.1, 0.6, 0.12)
    line = ReadLine(1, upright.turned(turns), "sea otters eat", turns)
    words = words_of_lines([line])
    assert [word.text for word in words] == ["sea", "otters", "eat"]
    assert words[0].box.turned(-turns).x0 == 0.2
    assert words[2].box.turned(-turns).x1 == 0.6
    assert joined_on_lines(words) == [line.box]


def test_words_on_one_line_are_one_box_and_those_on_two_are_two() -> None:
    words = on_lines("sea otters", "eat urchins")
    assert [str(box) for box in joined_on_lines(words)] == ["0,0,0.19,0.04", "0,0.05,0.19,0.09"]
