"""OCR of regions: only where there is no text, and within bounds."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import Image
from tile_samples import KnownOcr

from eagle_rag_core.ingest import progress
from eagle_rag_core.ingest.tiles.reading import ReadingLimits, read_regions
from eagle_rag_core.ingest.tiles.regions import Region
from eagle_rag_core.types import WHOLE, Box, TileKind

LINE = "Index advice for the table of accounts"


def figure(width: float, text: str = "") -> Region:
    return Region(TileKind.FIGURE, 1, Box.of(0, 0, width, 0.5), text=text, caption="Figure 1")


def drawn(region: Region) -> Image.Image:
    return Image.new("RGB", (400, 300), "white")


def read(
    regions: list[Region], limits: ReadingLimits | None = None, ocr: KnownOcr | None = None
) -> list[Region]:
    return read_regions(regions, drawn, ocr or KnownOcr(LINE), limits or ReadingLimits())


def test_a_figure_without_text_is_read_and_keeps_its_caption() -> None:
    (region,) = read([figure(0.5)])
    assert (region.text, region.text_source, region.caption) == (LINE, "ocr", "Figure 1")


def test_what_has_a_text_is_left_alone() -> None:
    ocr = KnownOcr(LINE)
    regions = [
        figure(0.5, "Labels of a drawing that its file knows"),
        Region(TileKind.PAGE, 1, WHOLE),
        Region(TileKind.SECTION, 1, WHOLE),
    ]
    assert read(regions, ocr=ocr) == regions
    assert not ocr.seen


def test_a_label_gives_way_to_what_the_picture_says() -> None:
    (region,) = read([figure(0.5, "User")])
    assert region.text == LINE
    (region,) = read([figure(0.5, "A long label")], ocr=KnownOcr("IBM"))
    assert region.text == "A long label"


def test_the_largest_are_read_and_the_rest_is_left() -> None:
    ocr = KnownOcr(LINE)
    regions = read([figure(0.2), figure(0.6), figure(0.4)], ReadingLimits(regions=2), ocr)
    assert [region.text for region in regions] == ["", LINE, LINE]
    assert len(ocr.seen) == 2


def test_nothing_is_begun_when_the_time_is_over() -> None:
    def clock() -> Iterator[float]:
        yield from (0.0, 1.0, 5.0, 11.0)

    times = clock()
    ocr = KnownOcr(LINE)
    regions = [figure(0.2), figure(0.6), figure(0.4)]
    found = read_regions(regions, drawn, ocr, ReadingLimits(seconds=10), lambda: next(times))
    assert [region.text for region in found] == ["", LINE, LINE]


def test_every_region_read_is_progress() -> None:
    shares: list[float] = []
    with progress.listening(shares.append):
        read([figure(0.2), figure(0.6)])
    assert shares == [0.5, 1.0]


def test_what_cannot_be_drawn_is_left() -> None:
    def broken(region: Region) -> Image.Image:
        raise ValueError("damaged")

    assert read_regions([figure(0.5)], broken, KnownOcr(LINE), ReadingLimits()) == [figure(0.5)]
