from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.catalog import cursors
from eagle_rag_core.errors import InvalidArgument

TIME = "2026-01-31T08:00:00.000001Z"
ROW = "0123456789abcdef" * 2


def pack(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


def test_a_cursor_says_where_it_stands_and_nothing_readable() -> None:
    cursor = cursors.encode(TIME, ROW)
    assert cursors.decode(cursor) == (TIME, ROW)
    assert cursor.isascii() and "=" not in cursor and ROW not in cursor


@given(st.text(max_size=80) | st.binary(max_size=80).map(lambda raw: raw.decode("latin-1")))
def test_nothing_else_is_taken_for_a_cursor(text: str) -> None:
    with pytest.raises(InvalidArgument, match="cursor"):
        cursors.decode(text)


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        None,
        [TIME],
        [TIME, ROW, 1],
        [ROW, TIME],
        [1, ROW],
        [TIME, 1],
        [TIME + "\n", ROW],
        [TIME, ROW + "\n"],
        ["2026-01-31T08:00:00.00000' Z", ROW],
    ],
)
def test_a_forged_cursor_is_refused(value: object) -> None:
    with pytest.raises(InvalidArgument, match="next_cursor"):
        cursors.decode(pack(value))


@given(st.integers(0, 200), st.integers(0, 255))
def test_a_damaged_cursor_is_refused_or_still_a_position(at: int, byte: int) -> None:
    cursor = bytearray(cursors.encode(TIME, ROW).encode())
    cursor[at % len(cursor)] = byte
    try:
        time, row = cursors.decode(cursor.decode("latin-1"))
    except InvalidArgument:
        return
    assert len(time) == 27 and len(row) == 32


def test_places_and_names_read_back() -> None:
    assert cursors.decode_place(cursors.encode_place(ROW, 12_345)) == (ROW, 12_345)
    assert cursors.decode_name(cursors.encode_name("my-kb_2")) == "my-kb_2"


@pytest.mark.parametrize(
    "value",
    [[ROW], [ROW, "5"], [ROW, -1], [ROW, 1.0], [ROW, True], [ROW, 2**50], ["x", 1], [1, ROW], "5"],
)
def test_a_forged_place_is_refused(value: object) -> None:
    with pytest.raises(InvalidArgument, match="next_cursor"):
        cursors.decode_place(pack(value))


@pytest.mark.parametrize("value", [[], [5], ["No Name"], ["a", "b"], {"name": "a"}])
def test_a_forged_name_is_refused(value: object) -> None:
    with pytest.raises(InvalidArgument, match="next_cursor"):
        cursors.decode_name(pack(value))


def test_cursors_of_one_kind_are_not_taken_for_another() -> None:
    with pytest.raises(InvalidArgument):
        cursors.decode(cursors.encode_place(ROW, 1))
    with pytest.raises(InvalidArgument):
        cursors.decode_place(cursors.encode(TIME, ROW))
