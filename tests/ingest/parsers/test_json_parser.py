"""JSON and JSON Lines: paths, records, and grammar broken in every way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invariants import check_document

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.json_data import JsonParser
from eagle_rag_core.ingest.parsers.json_text import MAX_DEPTH
from eagle_rag_core.types import ParsedDocument

PARSER = JsonParser()
LONG = "word " * 150

VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=20,
)


def parse(source: str | bytes, name: str = "a.json") -> ParsedDocument:
    data = source.encode() if isinstance(source, str) else source
    document = PARSER.parse(data, name)
    check_document(document)
    return document


def refused(source: str, name: str = "a.json") -> IngestError:
    with pytest.raises(IngestError) as caught:
        parse(source, name)
    return caught.value


def outline(document: ParsedDocument) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in document.headings]


def test_values_stand_behind_their_paths() -> None:
    source = '{"server": {"host": "db1", "ports": [1, 2]}, "grid": [[1, 2], [3]], "on": true}'
    assert parse(source).text == (
        "server.host: db1\nserver.ports: 1, 2\ngrid[0]: 1, 2\ngrid[1]: 3\non: true"
    )


def test_numbers_stay_as_they_are_written() -> None:
    huge = "9" * 6_000
    assert parse(f'{{"a": 1.10, "b": NaN, "c": -Infinity, "d": {huge}}}').text == (
        f"a: 1.10\nb: NaN\nc: -Infinity\nd: {huge}"
    )


def test_keys_that_occur_twice_keep_both_values() -> None:
    assert parse('{"a": 1, "a": {"b": 2}}').text == "a: 1\na.b: 2"


def test_records_with_a_name_are_sections_with_their_text() -> None:
    lines = [
        {"id": 7, "title": "Otters", "text": "They swim.\nThey eat.", "tags": ["sea", "fur"]},
        {"question": "Why?", "answer": "Because."},
        {"id": 9, "kind": "nameless"},
        "loose",
    ]
    document = parse("\n".join(map(json.dumps, lines)), "a.jsonl")
    assert document.text == (
        "Otters\n\nThey swim.\nThey eat.\n\nid: 7\ntags: sea, fur\n\n"
        "Why?\n\nBecause.\n\nid: 9\nkind: nameless\n\nloose"
    )
    assert outline(document) == [(1, "Otters"), (1, "Why?")]
    assert document.metadata == {"records": "4"}
    assert document.media_type == "application/jsonl"


def test_a_list_of_objects_is_a_list_of_records() -> None:
    document = parse('[{"name": "A", "n": 1}, {"name": "B", "n": 2}]')
    assert outline(document) == [(1, "A"), (1, "B")]
    assert document.metadata == {"records": "2"}


def test_large_objects_become_sections_and_small_ones_paths() -> None:
    source = {
        "title": "Catalogue",
        "owner": {"name": "Ann"},
        "items": [{"name": "Lamp", "body": LONG}, {"name": "Desk", "body": "short"}],
        "notes": {"first": LONG, "inner": {"deep": {"deeper": {"deepest": LONG}}}},
    }
    document = parse(json.dumps(source))
    assert document.title == "Catalogue"
    assert outline(document) == [
        (1, "items"),
        (2, "Lamp"),
        (2, "Desk"),
        (1, "notes"),
        (2, "inner"),
        (3, "deep"),
    ]
    assert document.text.startswith("owner.name: Ann\n\nitems")
    assert "deeper.deepest: word" in document.text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_any_unicode_encoding(encoding: str) -> None:
    assert parse('{"größe": "字"}'.encode(encoding)).text == "größe: 字"


def test_lone_surrogates_and_control_characters_become_storable() -> None:
    assert parse('{"a": "x\\ud800\\u0000y"}').text == "a: x\ufffdy"


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_either_kind_may_go_by_the_name_of_the_other(name: str) -> None:
    assert parse('{"a": 1}\n{"a": 2}\n', name).metadata == {"records": "2"}
    assert parse('{\n "a": 1\n}', name).text == "a: 1"


def test_comments_and_trailing_commas_of_configuration_files() -> None:
    source = '// head\n{"a": "x // y", /* c */ "b": [1, 2,],}'
    assert parse(source).text == "a: x // y\nb: 1, 2"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ('{"a": [1, 2', "line 1, the end is missing"),
        ('{\n"a": 1,\n"b" 2}', "line 3, column 5"),
        ('{"a": 1}}', "line 1, column 9"),
        ("plain words", "line 1, column 1"),
    ],
)
def test_broken_grammar_is_named_with_its_place(source: str, reason: str) -> None:
    error = refused(source)
    assert error.code is ErrorCode.PARSE_FAILED
    assert reason in error.message


def test_a_broken_line_is_named() -> None:
    assert "line 3, the end is missing" in refused('{"a": 1}\n\n{"a": ', "a.jsonl").message


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 900, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_what_is_nested_too_deep_is_refused(depth: int, opening: str, closing: str) -> None:
    source = opening * depth + "1" + closing * depth
    assert "levels deep" in refused(source).message


def test_what_is_nested_less_deep_is_read() -> None:
    depth = MAX_DEPTH - 2
    assert parse('{"a":' * depth + "1" + "}" * depth).text.endswith("a: 1")


@pytest.mark.timeout(20)
@pytest.mark.parametrize("source", ['\\"' * 100_000, "/*" * 100_000, ",  " * 100_000, '"' * 99_999])
def test_no_source_makes_the_reader_slow(source: str) -> None:
    assert refused(f"{{{source}").code is ErrorCode.PARSE_FAILED


@pytest.mark.parametrize("source", ["{}", "[]", "null", '{"a": null}', '""'])
def test_values_without_content_are_empty(source: str) -> None:
    assert refused(source).code is ErrorCode.EMPTY_DOCUMENT


@given(VALUES)
def test_any_value_is_read_or_empty(value: Any) -> None:
    for source, name in ((json.dumps(value), "a.json"), (json.dumps(value) + "\n{}", "a.jsonl")):
        try:
            parse(source, name)
        except IngestError as error:
            assert error.code is ErrorCode.EMPTY_DOCUMENT
