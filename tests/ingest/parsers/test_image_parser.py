"""Pictures as documents: formats, frames, orientation, and files made to break readers."""

from __future__ import annotations

import random
import struct
import zlib

import numpy as np
import pytest
from invariants import check_document
from ocr_samples import KnownOcr, page_picture, picture
from PIL import Image

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest import progress
from eagle_rag_core.ingest.parsers.image import ImageParser
from eagle_rag_core.types import ParsedDocument

PAGE = page_picture("hello")
ORIENTATION = 274


def parse(data: bytes, ocr: KnownOcr | None = None, **options: int) -> ParsedDocument:
    parser = ImageParser(ocr or KnownOcr(["A line of text"]), **options)
    assert parser.sniff(data[:65_536], "download") > 0.9
    document = parser.parse(data, "a.png")
    check_document(document)
    return document


def refused(data: bytes, ocr: KnownOcr | None = None, **options: int) -> IngestError:
    with pytest.raises(IngestError) as caught:
        ImageParser(ocr or KnownOcr(["A line of text"]), **options).parse(data, "a.png")
    return caught.value


def marked(mode: str = "RGB") -> Image.Image:
    """A wide picture with a dark corner at the top left."""
    image = Image.new("L", (300, 200), 255)
    image.paste(0, (0, 0, 50, 50))
    return image.convert(mode)


def dark_corner(ocr: KnownOcr) -> tuple[int, int]:
    """Row and column of the darkest corner of the picture read last: 0 first, -1 last."""
    pixels = ocr.pictures[-1].mean(axis=2)
    corners = {(row, column): pixels[row, column] for row in (0, -1) for column in (0, -1)}
    assert min(corners.values()) < 60 < 200 < max(corners.values())
    return min(corners, key=corners.__getitem__)


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [
        ("PNG", "image/png"),
        ("JPEG", "image/jpeg"),
        ("TIFF", "image/tiff"),
        ("WEBP", "image/webp"),
        ("BMP", "image/bmp"),
        ("GIF", "image/gif"),
    ],
)
def test_every_format_is_read(kind: str, media_type: str) -> None:
    document = parse(picture(PAGE, kind))
    assert (document.text, document.media_type) == ("A line of text", media_type)
    assert document.title == ""  # the file name is used
    assert document.metadata == {"pages_by_ocr": "1"}


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "CMYK", "I;16", "I", "F"])
def test_every_kind_of_pixel_is_shown_as_it_looks(mode: str) -> None:
    image = marked().convert(mode) if mode != "I;16" else _sixteen_bits()
    ocr = KnownOcr(["A line of text"])
    parse(picture(image, "TIFF"), ocr)
    assert dark_corner(ocr) == (0, 0)


def _sixteen_bits() -> Image.Image:
    return Image.fromarray(np.asarray(marked("L"), np.uint16) * 16)  # 12 bits, as scanners give


def test_what_is_transparent_is_white() -> None:
    image = Image.new("RGBA", (100, 100), (0, 0, 0, 0))
    image.paste((0, 0, 0, 255), (0, 0, 20, 20))
    ocr = KnownOcr(["A line of text"])
    parse(picture(image), ocr)
    assert dark_corner(ocr) == (0, 0)


@pytest.mark.parametrize(
    ("orientation", "corner", "turned"),
    [(1, (0, 0), False), (3, (-1, -1), False), (6, (0, -1), True), (8, (-1, 0), True)],
)
@pytest.mark.parametrize("kind", ["JPEG", "TIFF", "PNG", "WEBP"])
def test_pictures_are_turned_as_the_camera_says(
    kind: str, orientation: int, corner: tuple[int, int], turned: bool
) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    ocr = KnownOcr(["A line of text"])
    parse(picture(marked(), kind, exif=exif), ocr)
    assert dark_corner(ocr) == corner
    assert ocr.seen[-1][:2] == ((300, 200) if turned else (200, 300))


def test_date_and_author_come_from_the_camera() -> None:
    exif = Image.Exif()
    exif[306] = "2024:05:06 07:08:09"
    exif[315] = "Ann Author"
    metadata = parse(picture(PAGE, "JPEG", exif=exif)).metadata
    assert (metadata["created"], metadata["author"]) == ("2024-05-06T07:08:09", "Ann Author")


@pytest.mark.parametrize("date", ["0000:00:00 00:00:00", "yesterday", "2024:13:40 99:00:00", ""])
def test_a_clock_that_was_never_set_gives_no_date(date: str) -> None:
    exif = Image.Exif()
    exif[306] = date
    assert "created" not in parse(picture(PAGE, "JPEG", exif=exif)).metadata


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("junk", [b"", b"II*\0\x08\0\0\0\xff\xff" + bytes(range(200))])
def test_damaged_camera_data_are_ignored(kind: str, junk: bytes) -> None:
    exif = b"Exif\0\0" + (junk or b"garbage")
    assert parse(picture(PAGE, kind, exif=exif)).metadata == {"pages_by_ocr": "1"}


def test_the_pages_of_a_tiff_are_pages() -> None:
    data = picture(PAGE, "TIFF", save_all=True, append_images=[PAGE] * 3)
    ocr = KnownOcr(["First page"], [], None, ["Last page"])
    heard: list[float] = []
    with progress.listening(heard.append):
        document = parse(data, ocr)
    assert document.text == "First page\n\nLast page"
    assert [page.number for page in document.pages] == [1, 4]
    assert document.metadata == {
        "pages": "4",
        "pages_by_ocr": "1, 4",
        "pages_without_text": "2",
        "pages_need_ocr": "3",
    }
    assert heard == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_of_an_animation_the_first_frame_is_read(kind: str) -> None:
    other = page_picture("world")
    ocr = KnownOcr(["First"], ["Second"])
    document = parse(picture(PAGE, kind, save_all=True, append_images=[other, other]), ocr)
    assert document.text == "First"
    assert len(ocr.seen) == 1


def test_reduced_copies_of_a_page_are_no_pages() -> None:
    copy = Image.new("L", (40, 40), 255)
    copy.encoderinfo = {"tiffinfo": {254: 1}}
    data = picture(PAGE, "TIFF", save_all=True, append_images=[copy])
    assert "pages" not in parse(data).metadata


def test_large_pictures_are_reduced_before_they_are_read() -> None:
    ocr = KnownOcr(["A line of text"])
    parse(picture(Image.new("L", (6_000, 4_000), 255)), ocr)
    height, width, _ = ocr.seen[0]
    assert height * width <= 8_000_000
    assert width == pytest.approx(1.5 * height, rel=0.01)


def png_of(width: int, height: int) -> bytes:
    """A PNG that claims a size and has no pixels to speak of."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.mark.parametrize(
    ("width", "height"),
    [(9_100, 9_100), (12_000, 12_000), (40_000, 40_000), (2**31 - 1, 1), (2**31 - 1, 2**31 - 1)],
)
def test_pixel_bombs_are_refused_before_they_are_unpacked(width: int, height: int) -> None:
    error = refused(png_of(width, height))
    assert error.code == ErrorCode.PARSE_FAILED
    assert "80 million pixels" in error.message


def test_the_number_of_frames_is_limited() -> None:
    tiny = Image.new("1", (16, 16))
    data = picture(tiny, "TIFF", save_all=True, append_images=[tiny] * 3)
    assert parse(data, max_frames=4).metadata["pages"] == "4"
    error = refused(data, max_frames=3)
    assert error.code == ErrorCode.PARSE_FAILED
    assert "ingest.max_pages" in error.message


def test_frames_that_follow_each_other_in_a_circle_end() -> None:
    data = bytearray(picture(Image.new("1", (16, 16)), "TIFF"))
    start = int.from_bytes(data[4:8], "little")
    entries = int.from_bytes(data[start : start + 2], "little")
    link = start + 2 + 12 * entries
    data[link : link + 4] = start.to_bytes(4, "little")
    parse(bytes(data))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF"])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.7])
def test_a_picture_cut_off_is_named_so(kind: str, share: float) -> None:
    noise = Image.fromarray(
        np.frombuffer(random.Random(1).randbytes(90_000), np.uint8).reshape(300, 300)
    )
    whole = picture(noise, kind)
    error = refused(whole[: int(len(whole) * share)])
    assert error.code == ErrorCode.PARSE_FAILED
    assert "damaged or cut-off" in error.message


def test_a_name_alone_makes_no_picture() -> None:
    assert ImageParser().sniff(b"BM is how this text begins, and no bitmap", "a.bmp") == 0
    assert ImageParser().sniff(b"RIFF\x00\x00\x00\x00WAVEfmt ", "a.webp") == 0
    assert "damaged" in refused(b"text").message


def test_without_an_engine_the_remedy_is_named() -> None:
    with pytest.raises(IngestError) as caught:
        ImageParser().parse(picture(PAGE), "a.png")
    assert caught.value.code == ErrorCode.NEEDS_OCR
    assert "pip install 'eagle-rag-core[ocr]'" in caught.value.message


def test_a_picture_without_text_is_an_empty_document() -> None:
    error = refused(picture(PAGE), KnownOcr([]))
    assert error.code == ErrorCode.EMPTY_DOCUMENT
    assert "PNG image without text" in error.message


def test_writing_the_engine_does_not_know_needs_another_ocr() -> None:
    error = refused(picture(PAGE, "JPEG"), KnownOcr(None))
    assert error.code == ErrorCode.NEEDS_OCR
    assert "JPEG image with writing that the OCR engine cannot read" in error.message
