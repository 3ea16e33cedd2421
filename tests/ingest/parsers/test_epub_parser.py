"""Books: reading order, levels by the table of contents, metadata, protection, damage."""

from __future__ import annotations

import pytest
from format_samples import CONTAINER, epub, zipped
from invariants import check_document

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.epub import EpubParser
from eagle_rag_core.types import ParsedDocument

PARSER = EpubParser()


def parse(data: bytes) -> ParsedDocument:
    document = PARSER.parse(data, "b.epub")
    check_document(document)
    return document


def refused(data: bytes) -> IngestError:
    with pytest.raises(IngestError) as caught:
        parse(data)
    return caught.value


def outline(document: ParsedDocument) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in document.headings]


def test_chapters_nest_as_the_contents_say() -> None:
    chapters = {
        "cover.xhtml": '<img src="a.png"/>',
        "part.xhtml": "<h1>Part I</h1>",
        "one two.xhtml": "<h2>Chapter 1</h2><p>Text one.</p><h3>Scene</h3><p>More.</p>",
        "two.xhtml": "<p>Text two.</p>",
        "notes.xhtml": "<h1>Notes</h1><p>End.</p>",
    }
    contents = (
        '<li><a href="part.xhtml">Part I</a><ol><li><a href="one%20two.xhtml#x">Chapter 1</a></li>'
        '<li><a href="two.xhtml">Chapter <i>2</i></a></li></ol></li>'
    )
    document = parse(epub(chapters, navigation=contents))
    assert outline(document) == [
        (1, "Part I"),
        (2, "Chapter 1"),
        (3, "Scene"),
        (2, "Chapter 2"),
        (1, "Notes"),
    ]
    assert document.text.startswith("Part I\n\nChapter 1\n\nText one.")
    assert "Chapter 2\n\nText two." in document.text


def test_the_contents_of_older_books() -> None:
    ncx = (
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel>'
        '<text>First</text></navLabel><content src="one.xhtml#a"/></navPoint></navMap></ncx>'
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest>'
        '<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        '<item id="c" href="one.xhtml" media-type="application/xhtml+xml"/>'
        '</manifest><spine toc="n"><itemref idref="c"/></spine></package>'
    )
    document = parse(
        epub(
            {"one.xhtml": "<p>Text.</p>"},
            extra={"OEBPS/toc.ncx": ncx, "OEBPS/book.opf": package},
        )
    )
    assert document.text == "First\n\nText."


def test_metadata_is_read_as_declared() -> None:
    metadata = (
        "<dc:title>The <!-- x -->Sea</dc:title><dc:creator>A. One</dc:creator>"
        "<dc:creator>B. Two</dc:creator><dc:language>pt-BR</dc:language>"
        "<dc:subject>Otters; Seas</dc:subject><dc:subject>Fur</dc:subject>"
        "<dc:date>2019-03</dc:date><dc:publisher>House</dc:publisher>"
        "<dc:identifier>urn:isbn:123</dc:identifier><dc:description>About.</dc:description>"
        '<meta property="dcterms:modified">2020-01-02T03:04:05Z</meta>'
    )
    document = parse(epub({"one.xhtml": "<p>Text.</p>"}, metadata=metadata))
    assert (document.title, document.language) == ("The Sea", "pt-BR")
    assert document.keywords == ("Otters", "Seas", "Fur")
    assert document.metadata == {
        "author": "A. One; B. Two",
        "published": "2019-03",
        "modified": "2020-01-02T03:04:05Z",
        "publisher": "House",
        "identifier": "urn:isbn:123",
        "description": "About.",
    }


def test_chapters_under_rights_management_are_refused_and_fonts_are_not() -> None:
    def encrypted(uri: str) -> bytes:
        listed = f'<encryption><d:CipherReference xmlns:d="d" URI="{uri}"/></encryption>'
        return epub({"one.xhtml": "<p>Text.</p>"}, extra={"META-INF/encryption.xml": listed})

    assert parse(encrypted("OEBPS/font.otf")).text == "Text."
    assert "rights management" in refused(encrypted("OEBPS/one.xhtml")).message


def test_books_with_missing_parts_are_refused() -> None:
    assert "does not say where" in refused(zipped({"META-INF/container.xml": "<x/>"})).message
    lost = refused(zipped({"META-INF/container.xml": CONTAINER}))
    assert "list of chapters" in lost.message
    package = (
        '<package><manifest><item id="c" href="gone.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="d" href="one.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="c"/><itemref idref="d"/></spine></package>'
    )
    half = epub({"one.xhtml": "<p>Text.</p>"}, extra={"OEBPS/book.opf": package})
    assert "lacks 1 of its 2 chapters" in refused(half).message


def test_a_book_of_pictures_is_empty() -> None:
    error = refused(epub({"one.xhtml": '<img src="a.png"/>'}))
    assert error.code is ErrorCode.EMPTY_DOCUMENT


def test_references_out_of_the_book_are_not_followed() -> None:
    package = (
        '<package><manifest><item id="c" href="../../../etc/hostname"'
        ' media-type="text/html"/></manifest><spine><itemref idref="c"/></spine></package>'
    )
    assert "lacks 1 of its 1" in _refused_with(package)


def _refused_with(package: str) -> str:
    book = epub({"one.xhtml": "<p>Text.</p>"}, extra={"OEBPS/book.opf": package})
    with pytest.raises(IngestError) as caught:
        PARSER.parse(book, "b.epub")
    return caught.value.message


def test_a_spine_that_repeats_itself_is_read_once() -> None:
    package = (
        '<package><manifest><item id="c" href="one.xhtml" media-type="application/xhtml+xml"/>'
        '</manifest><spine><itemref idref="c"/><itemref idref="c"/></spine></package>'
    )
    book = epub({"one.xhtml": "<p>Text.</p>"}, extra={"OEBPS/book.opf": package})
    assert parse(book).text == "Text."
