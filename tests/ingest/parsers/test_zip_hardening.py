"""Archives made to harm: what is refused before a library sees it, for every format on ZIP."""

from __future__ import annotations

import io
import zipfile

import pytest
from format_samples import SAMPLES, epub, zipped

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers import core_parsers, zip_container
from eagle_rag_core.ingest.parsers.zip_sniff import zip_kind

PARSERS = {parser.name: parser for parser in core_parsers()}
FORMATS = ("docx", "pptx", "xlsx", "odt", "epub")
#: The part of each format that holds its text.
MAIN = {
    "docx": "word/document.xml",
    "pptx": "ppt/slides/slide1.xml",
    "xlsx": "xl/worksheets/sheet1.xml",
    "odt": "content.xml",
    "epub": "OEBPS/one.xhtml",
}
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


def members(format_name: str) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(SAMPLES[format_name][1])) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(format_name: str, **added: bytes) -> bytes:
    """The sample with further or other members; ``main`` stands for the part with the text."""
    return zipped(
        {
            **members(format_name),
            **{MAIN[format_name] if n == "main" else n: data for n, data in added.items()},
        }
    )


def refused(format_name: str, data: bytes) -> IngestError:
    with pytest.raises(IngestError) as caught:
        PARSERS[format_name].parse(data, SAMPLES[format_name][0])
    assert caught.value.code is ErrorCode.PARSE_FAILED
    return caught.value


def with_prologue(format_name: str, prologue: str, encoding: str = "utf-8") -> bytes:
    """The sample whose main part begins with ``prologue``."""
    source = members(format_name)[MAIN[format_name]].decode()
    body = source[source.index("?>") + 2 :] if source.startswith("<?xml") else source
    body = body.replace("<!DOCTYPE html>", "")
    text = f'<?xml version="1.0" encoding="{encoding}"?>{prologue}{body}'
    return changed(format_name, main=text.encode(encoding))


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    "prologue",
    [
        f'<!DOCTYPE x [<!ENTITY l0 "ha">{LAUGHS}]>',
        '<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE x [<!ENTITY % remote SYSTEM "http://127.0.0.1:9/x.dtd">%remote;]>',
        f'<!-- {"long " * 2_000}--><!DOCTYPE x [<!ENTITY a "b">]>',
    ],
    ids=["laughs", "file", "remote", "late"],
)
def test_entities_are_refused(format_name: str, encoding: str, prologue: str) -> None:
    error = refused(format_name, with_prologue(format_name, prologue, encoding))
    assert "declares XML entities" in error.message


@pytest.mark.parametrize("format_name", sorted(set(FORMATS) - {"epub"}))
def test_office_documents_name_no_document_type(format_name: str) -> None:
    data = with_prologue(format_name, '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">')
    assert "document type" in refused(format_name, data).message


def test_books_may_name_one() -> None:
    public = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://127.0.0.1:9/x.dtd">'
    document = PARSERS["epub"].parse(with_prologue("epub", public), "book.epub")
    assert "epubword" in document.text


def test_entities_of_html_in_a_book_are_characters() -> None:
    book = epub({"one.xhtml": "<p>a&nbsp;b &eacute; &unknown;</p>"})
    assert "a b é" in PARSERS["epub"].parse(book, "b.epub").text.replace("\xa0", " ")


@pytest.mark.parametrize("format_name", FORMATS)
def test_bombs_are_refused_unopened(format_name: str) -> None:
    bomb = changed(format_name, filler=bytes(40 * 1024 * 1024))
    assert len(bomb) < 200_000
    assert "unpacks to 40 MB" in refused(format_name, bomb).message


@pytest.mark.parametrize("format_name", FORMATS)
def test_too_many_members_are_refused(format_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_container, "MAX_MEMBERS", 100)
    crowd = {f"m{number}": b"" for number in range(101)}
    error = refused(format_name, zipped({**members(format_name), **crowd}))
    assert "more than the 100 a document may" in error.message


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("member", ["../x", "/etc/x", "a/../../x", "..\\x", "C:\\x"])
def test_members_outside_of_the_archive_are_refused(format_name: str, member: str) -> None:
    error = refused(format_name, zipped({**members(format_name), member: b"x"}))
    assert "outside of itself" in error.message


@pytest.mark.parametrize("format_name", FORMATS)
def test_members_under_a_password_are_named(format_name: str) -> None:
    data = bytearray(SAMPLES[format_name][1])
    position = data.index(b"PK\x01\x02")
    data[position + 8] |= 1  # the flag of encryption in the central directory
    assert "password" in refused(format_name, bytes(data)).message


@pytest.mark.parametrize("format_name", FORMATS)
def test_an_archive_in_itself_and_one_of_nothing_are_refused(format_name: str) -> None:
    assert "is not a" in refused(format_name, zipped({"inner.zip": SAMPLES["docx"][1]})).message
    assert "is not a" in refused(format_name, zipped({})).message


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("other", FORMATS)
def test_a_document_of_another_kind_is_named(format_name: str, other: str) -> None:
    if other != format_name:
        assert "is not a" in refused(format_name, SAMPLES[other][1]).message


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize(
    ("stream", "advice"),
    [
        ("EncryptedPackage", "protected by a password"),
        ("WordDocument", "save it as .docx"),
        ("Workbook", "save it as .xlsx"),
        ("PowerPoint Document", "save it as .pptx"),
        ("Unknown", "save it as"),
    ],
)
def test_compound_files_say_what_to_do(format_name: str, stream: str, advice: str) -> None:
    compound = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(80_000) + stream.encode("utf-16-le")
    with pytest.raises(IngestError, match=advice):
        PARSERS[format_name].parse(compound, SAMPLES[format_name][0])


def test_kinds_are_told_by_top_level_members_only() -> None:
    embedded = zipped({"word/embeddings/book.xlsx": SAMPLES["xlsx"][1], "word/document.xml": "x"})
    assert zip_kind(embedded[:65_536]) == "docx"
    assert zip_kind(zipped({"META-INF/MANIFEST.MF": "x", "a.class": b"x"})) == "jar"
    assert zip_kind(zipped({"META-INF/MANIFEST.MF": "x", "ppt/presentation.xml": "x"})) == "pptx"
    assert zip_kind(zipped({"readme.txt": "word/ xl/ ppt/"})) == "zip"
    assert zip_kind(b"%PDF-1.7 PK\x03\x04word/") == ""


def test_streamed_archives_whose_sizes_follow_are_told_too() -> None:
    class Stream(io.BytesIO):
        def seekable(self) -> bool:
            return False

    target = Stream()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("docProps/app.xml", "x" * 500)
        archive.writestr("xl/workbook.xml", "x")
    assert zip_kind(target.getvalue()) == "xlsx"
