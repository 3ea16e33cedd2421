"""PDF made to break readers: each ends with a document or a reason, within bounds."""

from __future__ import annotations

import zlib

import pytest
from fpdf import FPDF
from parser_samples import archive, pdf, sentence, text_pages

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.pdf import PdfParser
from eagle_rag_core.types import ParsedDocument

WORDS = "Some plain words on a page of a document"
SHOW_WORDS = f"BT /F1 12 Tf 72 700 Td ({WORDS}) Tj ET".encode()
CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
ONE_PAGE = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


def file_of(*bodies: bytes) -> bytes:
    """A file with these objects, numbered from 1; the first is the catalog."""
    data, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(bodies, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    count = len(bodies) + 1
    xref = b"xref\n0 %d\n0000000000 65535 f \n%b" % (count, table)
    trailer = b"trailer<</Root 1 0 R/Size %d>>\nstartxref\n%d\n%%%%EOF\n" % (count, len(data))
    return data + xref + trailer


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<<%b/Length %d>>stream\n%b\nendstream" % (entries, len(content), content)


def page_of(
    content: bytes = SHOW_WORDS, *, box: bytes = b"0 0 612 792", entries: bytes = b""
) -> bytes:
    """A document of one page."""
    page = (
        b"<</Type/Page/Parent 2 0 R/MediaBox[%b]%b/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R>>"
    )
    return file_of(CATALOG, ONE_PAGE, page % (box, entries), stream(content), FONT)


def image_page(content: bytes, image_filter: bytes, width: int, height: int) -> bytes:
    """A document of one page that is filled by an image."""
    image = b"/Type/XObject/Subtype/Image/Width %d/Height %d/Filter/%b" % (
        width,
        height,
        image_filter,
    )
    return file_of(
        CATALOG,
        ONE_PAGE,
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</XObject<</I 5 0 R>>>>"
        b"/Contents 4 0 R>>",
        stream(b"612 0 0 792 0 0 cm /I Do"),
        stream(content, image + b"/ColorSpace/DeviceGray/BitsPerComponent 1"),
    )


def parse(data: bytes, **options: int) -> ParsedDocument:
    return PdfParser(**options).parse(data, "a.pdf")


def refused(data: bytes, **options: int) -> IngestError:
    with pytest.raises(IngestError) as caught:
        parse(data, **options)
    return caught.value


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(page_of(), id="plain"),
        pytest.param(page_of(box=b"0 0 100000 100000"), id="page of a kilometre"),
        pytest.param(page_of(box=b"0 0 1e30 1e30"), id="page of no size"),
        pytest.param(page_of(box=b"0 0 0 0"), id="page of size zero"),
        pytest.param(page_of(box=b"612 792 0 0"), id="page inside out"),
        pytest.param(page_of(entries=b"/CropBox[0 600 612 792]"), id="cropped to its text"),
        pytest.param(page_of(entries=b"/Rotate 90"), id="rotated, text on its side"),
        pytest.param(page_of(entries=b"/Rotate 180"), id="rotated, text on its head"),
        pytest.param(page_of(entries=b"/Rotate 17"), id="rotated by nonsense"),
        pytest.param(b"x" * 900 + page_of(), id="junk before"),
        pytest.param(page_of() + b"x" * 900, id="junk behind"),
        pytest.param(b"PK\x03\x04" + bytes(100) + page_of(), id="pretends to be an archive"),
        pytest.param(page_of() + archive(note__txt=b"hello"), id="an archive as well"),
        pytest.param(b"<!doctype html><p>hi</p>\n" + page_of(), id="a web page as well"),
        pytest.param(page_of().replace(b"0000000", b"9999999"), id="wrong offsets"),
        pytest.param(page_of().replace(b"/Type/Catalog", b"/Type/Katalog"), id="no catalog"),
        pytest.param(
            page_of().replace(b"/Length %d" % len(SHOW_WORDS), b"/Length 9"), id="wrong length"
        ),
    ],
)
def test_what_readers_show_is_read(data: bytes) -> None:
    assert parse(data).text == WORDS


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(page_of(b""), "all blank", id="blank"),
        pytest.param(page_of(entries=b"/CropBox[0 0 9 9]"), "all blank", id="text cropped away"),
        pytest.param(
            page_of(box=b"0 0 1000000 1000000"), "as no page is", id="page of ten kilometres"
        ),
        pytest.param(page_of()[:-200], "cut off", id="cut off"),
        pytest.param(b"%PDF-1.7\n", "cut off", id="signature alone"),
        pytest.param(b"x" * 1100 + page_of(), "not a PDF", id="signature too far inside"),
        pytest.param(
            file_of(CATALOG, b"<</Type/Pages/Kids[2 0 R]/Count 1>>"),
            "damaged",
            id="page tree that holds itself",
        ),
        pytest.param(
            file_of(
                CATALOG,
                *(b"<</Type/Pages/Kids[%d 0 R]/Count 1>>" % child for child in range(3, 5000)),
                b"<</Type/Page/MediaBox[0 0 100 100]>>",
            ),
            "damaged",
            id="page tree of 5,000 levels",
        ),
        pytest.param(
            file_of(CATALOG, ONE_PAGE.replace(b"Count 1", b"Count 2000000000"), b"<</Type/Page>>"),
            "",
            id="claims two billion pages",
        ),
    ],
)
def test_what_nobody_can_read_ends_with_a_reason(data: bytes, reason: str) -> None:
    error = refused(data)
    assert error.code in (ErrorCode.PARSE_FAILED, ErrorCode.EMPTY_DOCUMENT)
    assert reason in error.message


@pytest.mark.parametrize(
    ("image_filter", "content"),
    [
        (b"JBIG2Decode", b"\x97JB2\r\n\x1a\n" + bytes(range(256)) * 4),
        (b"JPXDecode", b"\x00\x00\x00\x0cjP  \r\n\x87\n" + bytes(range(256)) * 4),
        (b"DCTDecode", b"\xff\xd8\xff\xe0" + bytes(range(256)) * 4),
        (b"CCITTFaxDecode", bytes(range(256)) * 4),
        (b"FlateDecode", zlib.compress(bytes(20_000_000), 9)),
    ],
)
@pytest.mark.parametrize("side", [1_000, 40_000])
def test_damaged_and_huge_images_end_with_a_reason(
    image_filter: bytes, content: bytes, side: int
) -> None:
    error = refused(image_page(content, image_filter, side, side))
    assert error.code in (ErrorCode.EMPTY_DOCUMENT, ErrorCode.NEEDS_OCR)


@pytest.mark.parametrize("pages", [3, 4])
def test_the_number_of_pages_is_limited(pages: int) -> None:
    data = pdf(text_pages(*(sentence(f"P{number}") for number in range(pages))))
    if pages <= 3:
        assert parse(data, max_pages=3).metadata["pages"] == "3"
    else:
        error = refused(data, max_pages=3)
        assert error.code == ErrorCode.PARSE_FAILED
        assert "4 pages" in error.message
        assert "ingest.max_pages" in error.message


def test_one_page_named_many_times_counts_many_times() -> None:
    kids = b"<</Type/Pages/Kids[%b]/Count 3000>>" % (b"3 0 R " * 3_000)
    assert "3,000 pages" in refused(file_of(CATALOG, kids, b"<</Type/Page>>")).message


def test_missing_pages_are_named() -> None:
    data = page_of().replace(b"/Count 1", b"/Count 9")
    document = parse(data)
    assert document.text == WORDS
    assert document.metadata["pages_unreadable"] == "2-9"


def test_pages_of_all_sizes_in_one_document() -> None:
    def write(document: FPDF) -> None:
        for number, size in enumerate([(60, 60), (210, 297), (2_000, 90), (90, 3_000)]):
            document.add_page(format=size)
            document.multi_cell(0, 6, sentence(f"Page{number}", 6))

    document = parse(pdf(write))
    assert [page.number for page in document.pages] == [1, 2, 3, 4]
    assert all(f"Page{number}" in document.text for number in range(4))


def test_a_user_password_is_named_and_an_owner_password_ignored() -> None:
    locked = pdf(text_pages(sentence("A")), owner_password="o", user_password="u")
    assert "password" in refused(locked).message
    assert parse(pdf(text_pages(sentence("A")), owner_password="o")).text.startswith("A ")
