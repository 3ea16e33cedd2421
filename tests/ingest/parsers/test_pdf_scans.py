"""PDF with pages that are pictures of text, with and without OCR."""

from __future__ import annotations

import logging

import pytest
from fpdf import FPDF
from ocr_samples import KnownOcr, mixed_pdf, scanned
from parser_samples import pdf, scan, sentence, text_pages

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest import progress
from eagle_rag_core.ingest.parsers.pdf import PdfParser
from eagle_rag_core.types import ParsedDocument


def parse(data: bytes, ocr: KnownOcr | None = None) -> ParsedDocument:
    return PdfParser(ocr).parse(data, "a.pdf")


def refused(data: bytes, ocr: KnownOcr | None = None) -> IngestError:
    with pytest.raises(IngestError) as caught:
        parse(data, ocr)
    return caught.value


def test_only_the_pages_without_text_are_read_by_ocr() -> None:
    ocr = KnownOcr(["First scanned line", "and a second one"], ["Another scanned page"])
    document = parse(mixed_pdf("tsbs"), ocr)
    assert [page.number for page in document.pages] == [1, 2, 4]
    texts = [document.text[page.start : page.end] for page in document.pages]
    assert texts[0].startswith("Text1 ")
    assert texts[1:] == ["First scanned line and a second one", "Another scanned page"]
    assert document.metadata["pages_by_ocr"] == "2, 4"
    assert document.metadata["pages_without_text"] == "3"
    assert "pages_need_ocr" not in document.metadata
    assert len(ocr.seen) == 2


def test_a_document_with_text_never_meets_the_engine() -> None:
    ocr = KnownOcr(None)
    assert "pages_by_ocr" not in parse(mixed_pdf("tbt"), ocr).metadata
    assert not ocr.seen


def test_a_mixed_document_without_ocr_says_what_is_missing() -> None:
    document = parse(mixed_pdf("tsssbts"))
    assert [page.number for page in document.pages] == [1, 6]
    assert document.metadata["pages_need_ocr"] == "2-4, 7"
    assert document.metadata["pages_without_text"] == "5"
    assert document.metadata["pages"] == "7"


def test_a_scan_without_ocr_names_what_to_install() -> None:
    error = refused(mixed_pdf("sbs"))
    assert error.code == ErrorCode.NEEDS_OCR
    assert "3 pages" in error.message
    assert "pip install 'eagle-rag-core[ocr]'" in error.message


def test_a_scan_in_a_script_the_engine_does_not_know_says_so() -> None:
    error = refused(mixed_pdf("ss"), KnownOcr(None))
    assert error.code == ErrorCode.NEEDS_OCR
    assert "cannot read" in error.message
    assert "pip install" not in error.message


def test_pages_the_engine_does_not_know_are_named_beside_those_it_read() -> None:
    document = parse(mixed_pdf("sss"), KnownOcr(["A legible page"], None, ["One more"]))
    assert document.metadata["pages_by_ocr"] == "1, 3"
    assert document.metadata["pages_need_ocr"] == "2"


def test_pictures_without_text_are_an_empty_document() -> None:
    error = refused(mixed_pdf("ss"), KnownOcr([]))
    assert error.code == ErrorCode.EMPTY_DOCUMENT
    assert "pictures without text" in error.message


def test_a_picture_with_a_caption_keeps_its_caption() -> None:
    def write(document: FPDF) -> None:
        scanned(document)
        document.text(10, 290, "A duck, 2024")

    document = parse(pdf(write), KnownOcr([]))
    assert document.text == "A duck, 2024"
    assert "pages_by_ocr" not in document.metadata


def test_a_stamp_gives_way_to_what_ocr_reads_below_it() -> None:
    def write(document: FPDF) -> None:
        scanned(document)
        document.text(10, 290, "Copy 1")

    read = ["The page below the stamp has a whole line of text"]
    assert parse(pdf(write), KnownOcr(read)).text == read[0]


def test_a_layer_of_text_over_a_scan_is_taken_as_it_is() -> None:
    def write(document: FPDF) -> None:
        document.add_page()
        document.multi_cell(0, 6, sentence("Layer"))
        document.image(scan("hello"), 0, 0, 210, 297)

    ocr = KnownOcr(["something else"])
    assert parse(pdf(write), ocr).text.startswith("Layer ")
    assert not ocr.seen


def test_text_drawn_as_outlines_is_read() -> None:
    def write(document: FPDF) -> None:
        document.add_page()
        for step in range(20):
            document.rect(20 + 8 * step, 30, 5, 9, style="F")

    assert parse(pdf(write), KnownOcr(["Outlines of letters"])).text == "Outlines of letters"
    assert refused(pdf(write)).code == ErrorCode.NEEDS_OCR


def test_codes_of_a_font_that_tells_no_letters_are_replaced() -> None:
    def write(document: FPDF) -> None:
        document.add_page()
        document.set_font("zapfdingbats", size=11)
        document.multi_cell(0, 6, "abcdefg hijk " * 20)

    document = parse(pdf(write), KnownOcr(["What the page really shows"]))
    assert document.text == "What the page really shows"


def test_every_page_read_is_progress() -> None:
    heard: list[float] = []
    with progress.listening(heard.append):
        parse(mixed_pdf("sts"), KnownOcr(["One"], ["Two"]))
    assert heard == [pytest.approx(1 / 3), 1.0]


def test_a_listener_can_end_the_reading() -> None:
    def stop(_share: float) -> None:
        raise KeyError("cancelled")

    ocr = KnownOcr(["One"])
    with progress.listening(stop), pytest.raises(KeyError):
        parse(mixed_pdf("sss"), ocr)
    assert len(ocr.seen) == 1


@pytest.mark.parametrize("side", [300, 3_000, 14_400])
def test_pages_of_any_size_are_drawn_within_bounds(side: int) -> None:
    def write(document: FPDF) -> None:
        document.add_page(format=(side, 2 * side))
        document.rect(0, 0, side / 2, side / 2, style="F")

    ocr = KnownOcr(["Found"])
    parse(pdf(write), ocr)
    height, width, _ = ocr.seen[0]
    assert height == pytest.approx(2 * width, rel=0.01)
    assert height * width <= 8_100_000


def test_the_version_names_the_engine() -> None:
    assert PdfParser().version != PdfParser(KnownOcr([])).version


def test_a_page_lying_on_its_side_is_read_upright() -> None:
    def write(document: FPDF) -> None:
        document.add_page()
        document.multi_cell(0, 6, sentence("Upright"))
        document.add_page()
        with document.rotation(90, 105, 148):
            document.set_xy(20, 60)
            document.multi_cell(150, 6, sentence("Turned", 120))

    document = parse(pdf(write))
    assert [page.number for page in document.pages] == [1, 2]
    turned = document.text[document.pages[1].start :]
    assert turned == sentence("Turned", 120)


def test_nothing_is_logged_as_an_error(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        parse(pdf(text_pages(sentence("A"))))
        parse(mixed_pdf("ts"))
    assert not caplog.records
