"""PDF: structure, reading order, pages, and every kind of broken file."""

from __future__ import annotations

import random
import re

import pytest
from fpdf import FPDF
from parser_samples import heading_and_text, pdf, scan, sentence, text_pages

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.pdf import PdfParser
from eagle_rag_core.ingest.parsers.pdf_blocks import (
    close_cjk_gaps,
    is_unreadable,
    join_lines,
)
from eagle_rag_core.types import ParsedDocument

PARSER = PdfParser()
NO_PAGES = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>"
    b"endobj\nxref\n0 3\n0000000000 65535 f \n0000000009 00000 n \n0000000052 00000 n \n"
    b"trailer<</Root 1 0 R/Size 3>>\nstartxref\n101\n%%EOF"
)


def parse(data: bytes) -> ParsedDocument:
    return PARSER.parse(data, "a.pdf")


def refused(data: bytes) -> IngestError:
    with pytest.raises(IngestError) as caught:
        parse(data)
    return caught.value


def chapters(document: FPDF) -> None:
    for number in (1, 2, 3):
        document.add_page()
        heading_and_text(document, f"Chapter {number}", sentence(f"C{number}"), size=20)
        heading_and_text(document, f"Part {number}.1", sentence(f"P{number}"), size=14)


def test_headings_have_levels_and_exact_offsets() -> None:
    document = parse(pdf(chapters))
    assert [(h.level, h.title) for h in document.headings] == [
        (level, title)
        for number in (1, 2, 3)
        for level, title in ((1, f"Chapter {number}"), (2, f"Part {number}.1"))
    ]
    for heading in document.headings:
        end = heading.start + len(heading.title)
        assert document.text[heading.start : end] == heading.title
    assert document.title == "Chapter 1"


def test_labels_in_a_row_are_no_headings() -> None:
    def write(document: FPDF) -> None:
        document.add_page()
        heading_and_text(document, "A Heading", sentence("Text"))
        document.set_font("times", "B", 14)
        for label in ("Client", "Server", "Database"):
            document.cell(0, 20, label, new_x="LMARGIN", new_y="NEXT")
        document.set_font("times", "", 11)
        document.multi_cell(0, 6, sentence("More"))

    document = parse(pdf(write))
    assert [heading.title for heading in document.headings] == ["A Heading"]
    assert "Client\n\nServer\n\nDatabase" in document.text


def test_the_bold_first_line_of_a_paragraph_is_no_heading() -> None:
    def write(document: FPDF) -> None:
        document.add_page()
        heading_and_text(document, "A Heading", sentence("Text"))
        document.ln(6)
        document.set_font("times", "B", 11)
        line = "Ann Author is a woman of many words and one of few deeds who"
        document.cell(0, 5, line, new_x="LMARGIN", new_y="NEXT")
        document.set_font("times", "", 11)
        document.multi_cell(100, 5, sentence("writes", 60))

    assert [heading.title for heading in parse(pdf(write)).headings] == ["A Heading"]


def test_pages_span_their_text() -> None:
    document = parse(pdf(chapters))
    assert [page.number for page in document.pages] == [1, 2, 3]
    for page in document.pages:
        assert document.text[page.start : page.end].startswith(f"Chapter {page.number}")
    assert document.metadata["pages"] == "3"


def test_blank_pages_are_skipped_and_counted() -> None:
    document = parse(pdf(text_pages(sentence("A"), "", sentence("B"))))
    assert [page.number for page in document.pages] == [1, 3]
    assert document.metadata["pages_without_text"] == "2"


@pytest.mark.parametrize("columns", [2, 3])
def test_columns_are_read_one_after_the_other(columns: int) -> None:
    def write(document: FPDF) -> None:
        document.add_page()
        document.set_font("times", "B", 18)
        document.cell(0, 12, "In Columns", align="C", new_x="LMARGIN", new_y="NEXT")
        document.set_font("times", "", 10)
        with document.text_columns(ncols=columns, gutter=6, text_align="J") as body:
            for number in range(24):
                with body.paragraph(bottom_margin=3) as paragraph:
                    paragraph.write(sentence(f"P{number:02d}"))

    document = parse(pdf(write))
    assert document.text.startswith("In Columns\n\nP00")
    assert re.findall(r"P\d\d", document.text) == [f"P{number:02d}" for number in range(24)]
    assert [heading.title for heading in document.headings] == ["In Columns"]
    first = document.text.split("\n\n")[1]
    assert first == sentence("P00")


def test_tables_become_rows() -> None:
    def write(document: FPDF) -> None:
        document.add_page()
        document.multi_cell(0, 6, sentence("Before"), new_x="LMARGIN", new_y="NEXT")
        with document.table() as table:
            for cells in (("Name", "Price"), ("Apple", "1.20"), ("Pear", "2.40"), ("Fig", "3.10")):
                row = table.row()
                for cell in cells:
                    row.cell(cell)

    assert "| Name | Price |\n| --- | --- |\n| Apple | 1.20 |" in parse(pdf(write)).text


def test_running_heads_and_page_numbers_are_left_out() -> None:
    class Book(FPDF):
        def header(self) -> None:
            self.set_font("times", "", 9)
            self.cell(0, 8, "The Book of Ducks", new_x="LMARGIN", new_y="NEXT")

        def footer(self) -> None:
            self.set_y(-15)
            self.cell(0, 8, str(self.page_no()), align="C")

    book = Book()
    for number in range(4):
        book.add_page()
        book.set_font("times", "", 11)
        book.multi_cell(0, 6, sentence(f"Page{number}", 200))
    text = parse(bytes(book.output())).text
    assert "The Book of Ducks" not in text
    assert not re.search(r"^\d$", text, re.M)
    assert [f"Page{number}" in text for number in range(4)] == [True] * 4


def test_declared_metadata_is_read_from_xmp() -> None:
    def write(document: FPDF) -> None:
        document.add_page()
        document.multi_cell(0, 6, sentence("Text"))
        document.set_xmp_metadata(
            '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
            'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description '
            'xmlns:dc="http://purl.org/dc/elements/1.1/">'
            "<dc:title><rdf:Alt><rdf:li>On Ducks</rdf:li></rdf:Alt></dc:title>"
            "<dc:subject><rdf:Bag><rdf:li>duck</rdf:li><rdf:li>bird</rdf:li></rdf:Bag></dc:subject>"
            "<dc:creator><rdf:Seq><rdf:li>A</rdf:li><rdf:li>B</rdf:li></rdf:Seq></dc:creator>"
            "<dc:language><rdf:Bag><rdf:li>en</rdf:li></rdf:Bag></dc:language>"
            "</rdf:Description></rdf:RDF></x:xmpmeta>"
        )

    document = parse(pdf(write))
    assert (document.title, document.language) == ("On Ducks", "en")
    assert document.keywords == ("duck", "bird")
    assert document.metadata["author"] == "A; B"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}", document.metadata["created"])


def test_bytes_before_the_signature_do_no_harm() -> None:
    data = b"\n\nSome mail header\n" + pdf(text_pages(sentence("A")))
    assert PARSER.sniff(data, "mail.bin") == 1.0
    assert parse(data).text.startswith("A ")


def test_a_broken_cross_reference_table_is_repaired() -> None:
    data = pdf(text_pages(sentence("A"))).replace(b"startxref", b"startxxxx")
    assert parse(data).text.startswith("A ")


def test_a_password_is_named_as_the_reason() -> None:
    error = refused(pdf(text_pages("secret"), owner_password="o", user_password="u"))
    assert error.code == ErrorCode.PARSE_FAILED
    assert "password" in error.message


def test_a_pdf_that_only_restricts_printing_is_read() -> None:
    assert parse(pdf(text_pages(sentence("A")), owner_password="o")).text.startswith("A ")


def test_a_scan_needs_ocr() -> None:
    def write(document: FPDF) -> None:
        document.add_page()
        document.image(scan("hello"), 0, 0, 210, 297)

    assert refused(pdf(write)).code == ErrorCode.NEEDS_OCR


def test_a_scan_with_a_stamp_still_needs_ocr() -> None:
    def write(document: FPDF) -> None:
        for number in range(3):
            document.add_page()
            document.image(scan("hello"), 0, 0, 210, 297)
            document.text(10, 290, f"Copy {number}")

    assert refused(pdf(write)).code == ErrorCode.NEEDS_OCR


def test_a_short_text_is_no_scan() -> None:
    assert parse(pdf(text_pages("Hello"))).text == "Hello"


def test_blank_pages_alone_are_an_empty_document() -> None:
    error = refused(pdf(text_pages("", "")))
    assert error.code == ErrorCode.EMPTY_DOCUMENT
    assert "2 pages" in error.message


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_pdf_cut_off_is_named_so(share: float) -> None:
    whole = pdf(text_pages(*(sentence(str(number)) for number in range(5))))
    error = refused(whole[: int(len(whole) * share)])
    assert error.code == ErrorCode.PARSE_FAILED
    assert "cut off" in error.message


@pytest.mark.parametrize(
    "data", [random.Random(3).randbytes(3_000), b"just text", b"PK\x03\x04" + bytes(100)]
)
def test_what_is_no_pdf_is_named_so(data: bytes) -> None:
    assert "not a PDF" in refused(data).message


@pytest.mark.parametrize(
    "data", [NO_PAGES, b"%PDF-1.7\n" + random.Random(4).randbytes(3_000) + b"%%EOF"]
)
def test_damage_is_named_without_the_words_of_the_library(data: bytes) -> None:
    error = refused(data)
    assert error.code == ErrorCode.PARSE_FAILED
    assert error.message.startswith("a.pdf is a damaged PDF")


def test_no_bytes_are_an_empty_document() -> None:
    assert refused(b"").code == ErrorCode.EMPTY_DOCUMENT


def test_lines_are_joined_as_words() -> None:
    assert join_lines("a docu-", "ment") == "a document"
    assert join_lines("the state-", "Owned") == "the state- Owned"
    assert join_lines("one", "two") == "one two"
    assert join_lines("检索增强", "生成系统") == "检索增强生成系统"
    assert join_lines("검색 증강", "생성") == "검색 증강 생성"


def test_spaces_between_ideographs_close_and_others_stay() -> None:
    assert close_cjk_gaps("中 文 and 日 本 x") == "中文 and 日本 x"


def test_text_of_fonts_without_a_character_map_is_unreadable() -> None:
    assert is_unreadable("\x03\x0e\x05 \x12\x07ab")
    assert not is_unreadable("plain words \x03")
