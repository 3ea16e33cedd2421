"""How many headings of real documents are found, against reference Markdown.

The reference of the PDF files is the output of another converter, not a human's; a heading
counts as found when it agrees with the reference by nine tenths of its letters and digits.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

from eagle_rag_core.ingest.parsers import ParserRegistry
from eagle_rag_core.ingest.parsers.ocr_layout import blocks_from_ocr
from eagle_rag_core.ingest.parsers.pdf import PdfParser
from eagle_rag_core.ingest.parsers.pdf_pictures import PdfPictures
from eagle_rag_core.models import rapid_ocr
from eagle_rag_core.models.ocr import ocr_engine
from eagle_rag_core.types import ParsedDocument

#: Recall and precision every file must reach.
PDF_FILES = {
    "amt_handbook_sample.pdf": (1.0, 1.0),
    "code_and_formula.pdf": (1.0, 1.0),
    "multi_page.pdf": (1.0, 1.0),
    "normal_4pages.pdf": (0.72, 0.68),
    "picture_classification.pdf": (1.0, 1.0),
    "redp5110_sampled.pdf": (0.95, 0.63),
}
WORD_FILES = ("unit_test_headers.docx", "unit_test_headers_numbered.docx", "word_sample.docx")


def parse(folder: Path, name: str) -> ParsedDocument:
    data = (folder / name).read_bytes()
    return ParserRegistry().pick(data[:65536], name).parse(data, name)


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def reference(folder: Path, name: str) -> list[str]:
    source = folder / "gt" / f"{name.removesuffix('.pdf')}.md"
    lines = source.read_text(encoding="utf-8").splitlines()
    titles = (letters(line.lstrip("#")) for line in lines if re.match(r"#{1,6} ", line))
    return list(dict.fromkeys(title for title in titles if title and not title.isdecimal()))


def found(document: ParsedDocument) -> list[str]:
    titles = (letters(heading.title) for heading in document.headings)
    return list(dict.fromkeys(title for title in titles if title))


def agrees(title: str, others: list[str]) -> bool:
    return any(difflib.SequenceMatcher(None, title, other).ratio() >= 0.9 for other in others)


def hits(folder: Path, name: str) -> tuple[int, int, int, int]:
    """Reference headings found, reference headings, correct headings, headings."""
    expected, actual = reference(folder, name), found(parse(folder, name))
    return (
        sum(agrees(title, actual) for title in expected),
        len(expected),
        sum(agrees(title, expected) for title in actual),
        len(actual),
    )


@pytest.mark.parametrize("name", PDF_FILES)
def test_headings_of_every_pdf(shared_documents: Path, name: str) -> None:
    recalled, expected, correct, actual = hits(shared_documents, name)
    recall, precision = PDF_FILES[name]
    assert recalled >= recall * expected
    assert correct >= precision * actual


def test_headings_of_the_latin_pdfs_together(shared_documents: Path) -> None:
    counts = [hits(shared_documents, name) for name in PDF_FILES if name != "normal_4pages.pdf"]
    recalled, expected, *_ = (sum(column) for column in zip(*counts, strict=True))
    assert recalled >= 0.95 * expected


@pytest.mark.parametrize("name", WORD_FILES)
def test_all_headings_of_word_documents_with_their_levels(
    shared_documents: Path, name: str
) -> None:
    source = (shared_documents / "gt" / f"{name}.md").read_text(encoding="utf-8")
    expected = [
        (len(line) - len(line.lstrip("#")), letters(line.lstrip("#")))
        for line in source.splitlines()
        if re.match(r"#{1,6} ", line)
    ]
    document = parse(shared_documents, name)
    assert [(heading.level, letters(heading.title)) for heading in document.headings] == expected


def test_headings_of_a_wikipedia_page(shared_documents: Path) -> None:
    recalled, _, correct, actual = hits(shared_documents, "wiki_duck.html")
    assert recalled >= 20
    assert correct == actual


def test_the_columns_of_a_handbook_page_are_read_in_order(shared_documents: Path) -> None:
    text = parse(shared_documents, "amt_handbook_sample.pdf").text
    order = ["pulleys, provided", "Boots Self-Locking Nut", "the most common ranges in size"]
    order += ["Stainless Steel Self-Locking Nut", "Elastic Stop Nut"]
    positions = [text.index(part) for part in order]
    assert positions == sorted(positions)


def test_a_scanned_document_is_reported(shared_documents: Path) -> None:
    from eagle_rag_core.errors import ErrorCode, IngestError

    with pytest.raises(IngestError) as caught:
        parse(shared_documents, "ocr_test.pdf")
    assert caught.value.code == ErrorCode.NEEDS_OCR


@pytest.mark.skipif(not rapid_ocr.installed(), reason="the [ocr] extra is missing")
def test_a_scanned_document_is_read_by_ocr(shared_documents: Path) -> None:
    data = (shared_documents / "ocr_test.pdf").read_bytes()
    document = PdfParser(ocr_engine("auto")).parse(data, "ocr_test.pdf")
    assert document.text == (
        "Docling bundles PDF document conversion to JSON and Markdown in an easy self contained "
        "package"
    )
    assert document.metadata["pages_by_ocr"] == "1"


@pytest.mark.full
@pytest.mark.skipif(not rapid_ocr.installed(), reason="the [ocr] extra is missing")
@pytest.mark.parametrize(
    ("name", "share"), [("amt_handbook_sample.pdf", 0.99), ("multi_page.pdf", 0.99)]
)
def test_ocr_of_a_drawn_page_agrees_with_its_text(
    shared_documents: Path, name: str, share: float
) -> None:
    data = (shared_documents / name).read_bytes()
    document = parse(shared_documents, name)
    first = document.text[document.pages[0].start : document.pages[0].end]
    with PdfPictures(data) as pictures:
        drawn = pictures.picture(1)
    engine = ocr_engine("auto")
    assert drawn is not None and engine is not None
    read = "".join(block.text for block in blocks_from_ocr(engine.read(drawn[0])))
    matcher = difflib.SequenceMatcher(None, letters(first), letters(read), autojunk=False)
    found = sum(block.size for block in matcher.get_matching_blocks())
    assert found >= share * len(letters(first))


@pytest.mark.full
@pytest.mark.skipif(not rapid_ocr.installed(), reason="the [ocr] extra is missing")
def test_a_korean_page_is_reported_instead_of_being_misread(shared_documents: Path) -> None:
    with PdfPictures((shared_documents / "normal_4pages.pdf").read_bytes()) as pictures:
        drawn = pictures.picture(3)
    engine = ocr_engine("auto")
    assert drawn is not None and engine is not None
    assert engine.read(drawn[0]).illegible
