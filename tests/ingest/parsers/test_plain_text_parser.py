"""Plain text in any encoding."""

from __future__ import annotations

import random

import pytest

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.plain_text import PlainTextParser

PARSER = PlainTextParser()


def test_text_is_kept_and_normalised() -> None:
    document = PARSER.parse("Größe\r\n\r\n\r\n\r\n\r\n  zwei  \r\n".encode("cp1252"), "a.txt")
    assert document.text == "Größe\n\n\n  zwei"
    assert document.media_type == "text/plain"
    assert document.headings == ()


@pytest.mark.parametrize("data", [b"", b"\x00" * 100, b" \n\t\n ", b"-- ** --"])
def test_nothing_to_read_is_an_empty_document(data: bytes) -> None:
    with pytest.raises(IngestError) as caught:
        PARSER.parse(data, "a.txt")
    assert caught.value.code == ErrorCode.EMPTY_DOCUMENT
    assert "a.txt" in caught.value.message


def test_binary_data_is_refused() -> None:
    noise = random.Random(1).randbytes(2_000)
    assert PARSER.sniff(noise, "a.txt") == 0.0
    with pytest.raises(IngestError) as caught:
        PARSER.parse(noise, "a.txt")
    assert caught.value.code == ErrorCode.PARSE_FAILED
