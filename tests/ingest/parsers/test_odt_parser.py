"""OpenDocument texts."""

from __future__ import annotations

import pytest
from format_samples import odt, zipped
from invariants import check_document

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.odt import OdtParser
from eagle_rag_core.types import ParsedDocument

PARSER = OdtParser()


def parse(data: bytes) -> ParsedDocument:
    document = PARSER.parse(data, "a.odt")
    check_document(document)
    return document


def test_headings_lists_and_tables_in_order() -> None:
    document = parse(
        odt(
            "<text:table-of-content><text:p>One ... 1</text:p></text:table-of-content>"
            '<text:h text:outline-level="1">One</text:h>'
            "<text:p>A<text:s/>b<text:tab/>c<text:line-break/>d <text:span>bold</text:span>"
            "<office:annotation><text:p>comment</text:p></office:annotation> end</text:p>"
            "<text:list><text:list-item><text:p>first</text:p><text:list><text:list-item>"
            "<text:p>inner</text:p></text:list-item></text:list></text:list-item></text:list>"
            '<text:section><text:h text:outline-level="2">Two</text:h></text:section>'
            "<table:table><table:table-row><table:table-cell><text:p>A</text:p></table:table-cell>"
            "<table:table-cell><text:p>B</text:p></table:table-cell></table:table-row>"
            '<table:table-row><table:table-cell table:number-columns-repeated="2">'
            "<text:p>1</text:p></table:table-cell></table:table-row></table:table>"
        )
    )
    assert document.text == (
        "One\n\nA b c\nd bold end\n\n- first\n  - inner\n\nTwo\n\n"
        "| A | B |\n| --- | --- |\n| 1 | 1 |"
    )
    assert [(heading.level, heading.title) for heading in document.headings] == [
        (1, "One"),
        (2, "Two"),
    ]


def test_metadata() -> None:
    document = parse(
        odt(
            "<text:p>Text.</text:p>",
            "<dc:title>Report</dc:title><dc:language>de-DE</dc:language>"
            "<meta:initial-creator>Ann</meta:initial-creator><dc:creator>Bob</dc:creator>"
            "<meta:keyword>x</meta:keyword><meta:keyword>y, z</meta:keyword>"
            "<meta:creation-date>2024-05-06T07:08:09.123</meta:creation-date>",
        )
    )
    assert (document.title, document.language) == ("Report", "de-DE")
    assert document.keywords == ("x", "y", "z")
    assert document.metadata == {"author": "Ann", "created": "2024-05-06T07:08:09"}


def test_an_empty_text_and_a_damaged_one() -> None:
    with pytest.raises(IngestError) as caught:
        parse(odt("<text:p/>"))
    assert caught.value.code is ErrorCode.EMPTY_DOCUMENT
    with pytest.raises(IngestError, match="is damaged"):
        parse(zipped({"content.xml": "<broken"}))
