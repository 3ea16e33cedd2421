"""Which parser reads what: content before suffix, packs before the core."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from format_samples import SAMPLES, zipped
from ocr_samples import KnownOcr
from parser_samples import archive, pdf, sentence, text_pages, word

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers import ParserRegistry
from eagle_rag_core.ingest.parsers.docx import DocxParser
from eagle_rag_core.ingest.parsers.pdf import PdfParser
from eagle_rag_core.types import ParsedDocument, Parser

PDF = pdf(text_pages(sentence("A")))
DOCX = word(lambda document: document.add_paragraph("text"))
HTML = b"<!doctype html><html><body><p>text</p></body></html>"
MARKDOWN = b"# Title\n\nText with a [link](http://example.org).\n"
TEXT = b"Just a few words.\n"
COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def utf16(stream: str) -> bytes:
    """The name of a stream as compound files hold it."""
    return stream.encode("utf-16-le")


class PackParser:
    """A parser of a pack that takes YAML-like schema files."""

    name = "schema"
    version = "7"

    def __init__(self, confidence: float = 0.6) -> None:
        self._confidence = confidence

    def sniff(self, head: bytes, name: str) -> float:
        return self._confidence if head.startswith(b"schema:") else 0.0

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        return ParsedDocument("schema", "text/x-schema")


class BrokenParser(PackParser):
    name = "broken"

    def sniff(self, head: bytes, name: str) -> float:
        raise KeyError("secret")


def pick(data: bytes, name: str, *packs: Parser) -> str:
    return ParserRegistry(packs).pick(data[:65536], name).name


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (PDF, "a.pdf", "pdf"),
        (PDF, "a.txt", "pdf"),
        (PDF, "", "pdf"),
        (DOCX, "a.docx", "docx"),
        (DOCX, "report", "docx"),
        (HTML, "index.html", "html"),
        (HTML, "a.txt", "html"),
        (HTML, "download", "html"),
        (MARKDOWN, "README.md", "markdown"),
        (MARKDOWN, "README", "markdown"),
        (MARKDOWN, "a.txt", "plain-text"),
        (b'<div align="center">\n\n# Tool\n\n</div>', "README.md", "markdown"),
        (TEXT, "a.txt", "plain-text"),
        (TEXT, "テスト 🦆.log", "plain-text"),
        (TEXT, "a.pdf", "plain-text"),
        (TEXT, "a.docx", "plain-text"),
        (TEXT, "a.html", "plain-text"),
        ("Größe, Straße".encode("utf-16"), "a.txt", "plain-text"),
        (b'{"a": 1}', "a.json", "json"),
        (b'{"a": 1}', "items", "json"),
        (b'{"a": 1}', "a.txt", "plain-text"),
        (b'{"a": 1}', "a.csv", "csv"),
        ('{"größe": 1}'.encode("utf-16"), "a.json", "json"),
        (b'{"a": 1}\n{"a": 2}\n', "a.ndjson", "json"),
        (b"[[Page]] and [](x)", "a", "plain-text"),
        (HTML, "a.csv", "html"),
        (HTML, "a.json", "html"),
        (HTML, "a.eml", "html"),
        (TEXT, "a.xlsx", "plain-text"),
        (TEXT, "a.epub", "plain-text"),
        (b"a,b\n1,2\n", "a.csv", "csv"),
        (b"a\tb\n1\t2\n", "a.tsv", "csv"),
        (b"Title\n=====\n\ntext", "a.rst", "rst"),
        (b".. toctree::\n\n   a\n", "index", "rst"),
        (b"def f(): pass\n", "a.py", "source-code"),
        (b"#!/bin/sh\necho\n", "run", "source-code"),
        (b"key: value\n", "a.yaml", "plain-text"),
        (b"[a]\nb = 1\n", "a.toml", "source-code"),
        (b"junk before\n" + PDF, "a.docx", "pdf"),
        (SAMPLES["image"][1], "a.txt", "image"),
        *((SAMPLES[kind][1], "a.docx", kind) for kind in ("xlsx", "pptx", "odt", "epub")),
        *((SAMPLES[kind][1], "a.zip", kind) for kind in ("docx", "xlsx", "pptx", "odt", "epub")),
    ],
)
def test_content_decides_before_the_suffix(data: bytes, name: str, expected: str) -> None:
    assert pick(data, name) == expected
    registry = ParserRegistry(ocr=KnownOcr(["text"]))
    assert registry.pick(data[:65536], name).parse(data, name).text


def test_a_pack_wins_a_tie_and_a_higher_confidence_wins_over_it() -> None:
    assert pick(b"schema: 1", "a.txt") == "plain-text"
    assert pick(b"schema: 1", "a.txt", PackParser(0.6)) == "schema"
    assert pick(b"schema: 1", "a.txt", PackParser(0.5)) == "plain-text"


def test_a_pack_parser_that_fails_to_sniff_is_passed_over() -> None:
    assert pick(TEXT, "a.txt", BrokenParser()) == "plain-text"


@pytest.mark.parametrize(
    ("data", "name", "seen"),
    [
        (archive(notes__a=b"x"), "a.zip", "a ZIP archive, which no parser reads. Unpack"),
        (zipped({"META-INF/MANIFEST.MF": b"x"}), "a.jar", "a Java archive"),
        (zipped({"AndroidManifest.xml": b"x"}), "a.apk", "an Android package"),
        (COMPOUND, "a.doc", "old or encrypted Office"),
        (COMPOUND + utf16("WordDocument"), "a.doc", "old Word document (.doc), which no parser "),
        (COMPOUND + utf16("Workbook"), "a.xls", "Save it as .xlsx without a password."),
        (COMPOUND + utf16("PowerPoint Document"), "a.ppt", "Save it as .pptx"),
        (COMPOUND + utf16("EncryptedPackage"), "secret", "protected by a password"),
        (COMPOUND + utf16("__properties_version1.0"), "a.msg", "an Outlook message (.msg)"),
        (b"{\\rtf1 text}", "a.rtf", "an RTF document, which no parser reads. Save it as .docx."),
        (b"%!PS-Adobe-3.0", "a.ps", "a PostScript file"),
        (b"\x00\x00\x00\x18ftypmp42" + bytes(64), "a.mp4", "a video"),
        (random.Random(6).randbytes(3_000), "a.txt", "binary data"),
        (random.Random(7).randbytes(3_000), "a.md", "binary data"),
    ],
)
def test_what_nobody_reads_is_named_with_what_is_read(data: bytes, name: str, seen: str) -> None:
    with pytest.raises(IngestError) as caught:
        pick(data, name)
    assert caught.value.code == ErrorCode.UNSUPPORTED_FORMAT
    assert seen in caught.value.message
    assert "Supported: pdf, docx, pptx, xlsx, " in caught.value.message


@pytest.mark.parametrize("suffix", ["pdf", "docx", "pptx", "xlsx", "odt", "epub"])
def test_random_bytes_with_a_suffix_fail_with_a_reason(suffix: str) -> None:
    noise = random.Random(8).randbytes(3_000)
    with pytest.raises(IngestError) as caught:
        ParserRegistry().pick(noise, f"a.{suffix}").parse(noise, f"a.{suffix}")
    assert caught.value.code == ErrorCode.PARSE_FAILED


@pytest.mark.parametrize("suffix", ["pdf", "docx", "html", "md", "txt", "xyz", ""])
def test_no_bytes_are_an_empty_document_whatever_the_suffix(suffix: str) -> None:
    with pytest.raises(IngestError) as caught:
        pick(b"", f"a.{suffix}")
    assert caught.value.code == ErrorCode.EMPTY_DOCUMENT


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "head",
    [
        *(b"<!-- -->" * 8_192, b"<!--" * 16_384, b"<a" * 32_768, b"[](" * 21_845, b"<" * 65_536),
        *(b"# x" + b" " * 65_000, b"<?xml " * 10_922, b"---\n" * 16_384, b"```\n" * 16_384),
    ],
)
def test_no_first_bytes_make_the_choice_slow(head: bytes) -> None:
    registry = ParserRegistry()
    for name in ("a", "a.html", "a.md"):
        assert registry.pick(head, name).name in ("html", "markdown", "plain-text")


def test_the_fingerprint_names_parsers_and_versions_in_order() -> None:
    core = ParserRegistry().fingerprint()
    assert core.split(";")[0] == f"pdf={PdfParser().version}"
    assert f";docx={DocxParser.version};" in core
    assert ParserRegistry([PackParser()]).fingerprint() == f"schema=7;{core}"


def test_pictures_in_a_folder_are_worth_a_job_where_there_is_ocr() -> None:
    picture, text = SAMPLES["image"][1], b"words"
    without, with_ocr = ParserRegistry(), ParserRegistry(ocr=KnownOcr([]))
    assert not without.is_worth_a_job(picture, "a.png")
    assert with_ocr.is_worth_a_job(picture, "a.png")
    assert without.is_worth_a_job(text, "a.txt")
    assert without.is_worth_a_job(b"", "a.txt")  # the job says that it is empty
    assert not with_ocr.is_worth_a_job(random.Random(6).randbytes(3_000), "a.bin")


def test_the_registry_imports_no_parsing_library() -> None:
    code = (
        "import sys\n"
        "from eagle_rag_core.ingest.parsers import ParserRegistry\n"
        "ParserRegistry().pick(b'# Title\\n\\ntext', 'a.md')\n"
        "heavy = {'liteparse', 'docx', 'pptx', 'openpyxl', 'trafilatura', 'lxml', 'markdown_it',"
        " 'yaml', 'numpy', 'charset_normalizer', 'docutils', 'pygments'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
