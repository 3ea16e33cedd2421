"""What every parser promises, over samples of its format and damaged ones."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from format_samples import SAMPLES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from invariants import check_document
from ocr_samples import KnownOcr

from eagle_rag_core.errors import IngestError
from eagle_rag_core.ingest.parsers import ParserRegistry, core_parsers
from eagle_rag_core.types import ParsedDocument

OCR = KnownOcr(["The word of this format is imageword"])
REGISTRY = ParserRegistry(ocr=OCR)
BY_NAME = {parser.name: parser for parser in core_parsers(OCR)}


def read(data: bytes, name: str) -> ParsedDocument | None:
    """The document by whichever parser takes the source; ``None`` when it is refused."""
    try:
        document = REGISTRY.pick(data[:65_536], name).parse(data, name)
    except IngestError as error:
        assert error.message
        return None
    check_document(document)
    return document


def test_there_is_a_sample_of_every_format() -> None:
    assert set(SAMPLES) == set(BY_NAME)


@pytest.mark.parametrize("format_name", SAMPLES)
def test_a_sample_is_recognised_and_read(format_name: str) -> None:
    name, data = SAMPLES[format_name]
    assert REGISTRY.pick(data[:65_536], name).name == format_name
    document = read(data, name)
    assert document is not None
    assert f"{format_name.replace('-', '')}word" in document.text


@pytest.mark.parametrize("format_name", sorted(set(SAMPLES) - {"csv", "plain-text", "markdown"}))
def test_formats_with_a_mark_of_their_own_need_no_suffix(format_name: str) -> None:
    data = SAMPLES[format_name][1]
    expected = {"rst": "plain-text", "source-code": "plain-text"}.get(format_name, format_name)
    assert REGISTRY.pick(data, "download").name == expected


@pytest.mark.parametrize(
    "name",
    ["テスト 🦆", "with  blanks ", "e\u0301tude", "n" * 200, "../up", "a\nb", ""],
)
@pytest.mark.parametrize("format_name", SAMPLES)
def test_odd_names_change_nothing(format_name: str, name: str) -> None:
    usual, data = SAMPLES[format_name]
    suffix = Path(usual).suffix
    expected = BY_NAME[format_name].parse(data, usual)
    assert BY_NAME[format_name].parse(data, name + suffix) == expected


@pytest.mark.parametrize("share", range(10, 100, 10))
@pytest.mark.parametrize("format_name", SAMPLES)
def test_a_file_cut_off_is_read_or_refused_with_a_reason(format_name: str, share: int) -> None:
    name, data = SAMPLES[format_name]
    read(data[: len(data) * share // 100], name)


@pytest.mark.parametrize("format_name", ["docx", "pptx", "xlsx", "odt", "epub"])
def test_an_archive_cut_off_is_never_read(format_name: str) -> None:
    name, data = SAMPLES[format_name]
    for share in range(10, 100, 10):
        assert read(data[: len(data) * share // 100], name) is None


@pytest.mark.parametrize("format_name", SAMPLES)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), flips=st.integers(1, 20))
def test_flipped_bytes_are_read_or_refused_with_a_reason(
    format_name: str, seed: int, flips: int
) -> None:
    name, data = SAMPLES[format_name]
    chance = random.Random(seed)
    damaged = bytearray(data)
    for _ in range(flips):
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    for parser in (BY_NAME[format_name], REGISTRY.pick(bytes(data[:65_536]), name)):
        try:
            check_document(parser.parse(bytes(damaged), name))
        except IngestError as error:
            assert error.message


@pytest.mark.parametrize("format_name", SAMPLES)
@settings(max_examples=15, deadline=None)
@given(data=st.binary(max_size=400))
def test_any_bytes_are_read_or_refused_with_a_reason(format_name: str, data: bytes) -> None:
    name, sample = SAMPLES[format_name]
    for source in (data, sample[:40] + data, data + sample[-60:]):
        try:
            check_document(BY_NAME[format_name].parse(source, name))
        except IngestError as error:
            assert error.message


@pytest.mark.parametrize("format_name", SAMPLES)
@pytest.mark.parametrize("data", [b"", bytes(4096), b" \n\t\n", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_nothing_is_refused_with_a_reason(format_name: str, data: bytes) -> None:
    with pytest.raises(IngestError) as caught:
        BY_NAME[format_name].parse(data, SAMPLES[format_name][0])
    assert caught.value.message


@pytest.mark.parametrize(
    "text", ["a\x00b\x07 word\r\nc\u2028d\ufeff", "e\u0301 \ud83e\udd86 字", "\x0bword\x0c\x85"]
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("suffix", ["txt", "md", "rst", "csv", "py", "html", "toml"])
def test_texts_in_any_encoding_become_storable(suffix: str, encoding: str, text: str) -> None:
    text = text.encode("utf-16", "surrogatepass").decode("utf-16")
    document = read(text.encode(encoding), f"a.{suffix}")
    assert document is None or document.text


def test_real_documents_hold_the_same(shared_documents: Path) -> None:
    paths = [path for path in sorted(shared_documents.iterdir()) if path.is_file()]
    readable = [path.name for path in paths if read(path.read_bytes(), path.name) is not None]
    assert len(readable) == len(paths)
