"""CSV and its relatives."""

from __future__ import annotations

import pytest
from invariants import check_document

from eagle_rag_core.errors import IngestError
from eagle_rag_core.ingest.parsers import delimited
from eagle_rag_core.ingest.parsers.delimited import DelimitedParser
from eagle_rag_core.types import ParsedDocument

PARSER = DelimitedParser()


def parse(source: str | bytes, name: str = "a.csv") -> ParsedDocument:
    data = source.encode() if isinstance(source, str) else source
    document = PARSER.parse(data, name)
    check_document(document)
    return document


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_told_by_the_content(delimiter: str) -> None:
    rows = [["name", "note"], ["a", "1.5"], ["b", "2.5"]]
    document = parse("\n".join(delimiter.join(row) for row in rows))
    assert document.text == "| name | note |\n| --- | --- |\n| a | 1.5 |\n| b | 2.5 |"
    assert document.metadata["rows"] == "2"
    tabs = delimiter == "\t"
    assert document.media_type == ("text/tab-separated-values" if tabs else "text/csv")


def test_decimal_commas_do_not_delimit() -> None:
    assert "| a | 1,5 |" in parse("name;sum\na;1,5\nb;2,5").text


def test_quoted_cells_hold_delimiters_quotes_and_line_ends() -> None:
    document = parse('name,note\n"a, b","say ""hi""\nthere"\n')
    assert '| a, b | say "hi" there |' in document.text


def test_a_quote_that_is_never_closed_swallows_nothing() -> None:
    document = parse('name,note\na,"b\nc,d\n' + "e,f\n" * 20)
    assert document.text.count("| e | f |") == 20
    assert "| c | d |" in document.text


def test_rows_of_other_lengths_and_blank_ones_stay_in_the_table() -> None:
    assert parse("a,b,c\n1\n\n,,\n1,2,3,4").text.count("| a | b | c |") == 1


def test_a_file_of_numbers_has_no_names() -> None:
    assert parse("1,2\n3,4").text.startswith("| A | B |")


def test_one_column_is_a_list() -> None:
    assert parse("apple\npear\nfig").text == "apple\n\npear\n\nfig"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "cp1252"])
def test_exports_in_other_encodings(encoding: str) -> None:
    assert "| Größe | 3 |" in parse("Maß;Wert\nGröße;3\nLänge;4".encode(encoding)).text


def test_very_long_cells_are_read() -> None:
    document = parse("name,note\na," + "word " * 60_000)
    assert document.text.startswith("name: a\nnote: word word")


def test_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "MAX_CELLS", 10)
    with pytest.raises(IngestError, match="more than 10 cells"):
        parse("a,b\n" * 10)
