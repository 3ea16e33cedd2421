"""The shared vocabulary of metadata, and the forms its values take."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.ingest.parsers import core_parsers
from eagle_rag_core.ingest.parsers.declared import (
    NO_TITLE,
    VOCABULARY,
    fields,
    iso_date,
    keywords,
)

PAGE = Path(__file__).resolve().parents[3] / "docs" / "formats.md"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024", "2024"),
        ("2024-05", "2024-05"),
        ("2024-05-06", "2024-05-06"),
        (" 2024-05-06T07:08:09Z ", "2024-05-06T07:08:09Z"),
        ("2024-05-06 07:08", "2024-05-06T07:08"),
        ("2024-05-06T07:08:09.123456+02:00", "2024-05-06T07:08:09+02:00"),
        ("2024-13-01", ""),
        ("2024-02-30", ""),
        ("2024-05-06T25:00", ""),
        ("6 May 2024", ""),
        ("20240506", ""),
        ("", ""),
    ],
)
def test_dates_are_iso_or_nothing(text: str, expected: str) -> None:
    assert iso_date(text) == expected


@given(st.dates())
def test_every_iso_date_is_one(day: datetime.date) -> None:
    assert iso_date(day.isoformat()) == day.isoformat()


def test_keywords_are_split_and_not_repeated() -> None:
    assert keywords(["a, b;c", "b", " ", "d\u00ade"]) == ("a", "b", "c", "de")


def test_fields_without_a_value_are_left_out() -> None:
    moment = datetime.datetime(2024, 5, 6, 7, 8, tzinfo=datetime.UTC)
    assert fields(author=" A\n B ", created=moment, pages=0, rows=3, subject=None) == {
        "author": "A B",
        "created": "2024-05-06T07:08:00+00:00",
        "rows": "3",
    }


@pytest.mark.parametrize("title", ["Untitled 1", "PowerPoint Presentation", "report.docx"])
def test_titles_by_programs_are_no_titles(title: str) -> None:
    assert NO_TITLE.fullmatch(title)


def test_titles_about_programs_are_titles() -> None:
    assert not NO_TITLE.fullmatch("A PowerPoint presentation of the plan")


def test_the_page_about_formats_names_every_parser_and_field() -> None:
    page = PAGE.read_text("utf-8")
    for parser in core_parsers():
        assert f"`{parser.name}`" in page
    for key, meaning in VOCABULARY.items():
        assert f"| `{key}` | {meaning} |" in page
