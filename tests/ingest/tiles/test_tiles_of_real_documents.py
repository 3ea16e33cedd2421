"""Tiles and places of words on documents that people made."""

from __future__ import annotations

import os
import random
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from tile_samples import tiles_of

from eagle_rag_core.errors import IngestError
from eagle_rag_core.ingest.tiles.alignment import Alignment
from eagle_rag_core.ingest.tiles.pdf_layout import read_layouts
from eagle_rag_core.types import Box, ParsedDocument, Tile, TileKind

SAMPLES = 60
MARGIN = 1.0


@pytest.fixture(scope="module")
def documents() -> dict[str, tuple[bytes, ParsedDocument, tuple[Tile, ...]]]:
    root = Path(__file__).resolve().parents[3]
    data = Path(os.environ.get("EAGLE_RAG_TEST_DATA", root.parent / "shared" / "data"))
    if not (data / "documents").is_dir():
        pytest.skip(f"no test documents at {data / 'documents'}; set EAGLE_RAG_TEST_DATA")
    found = {}
    for path in sorted((data / "documents").iterdir()):
        if path.suffix in (".pdf", ".docx", ".pptx", ".html"):
            content = path.read_bytes()
            try:
                found[path.name] = (content, *tiles_of(content, path.name))
            except IngestError:
                continue  # a scan, which needs OCR
    return found


Documents = dict[str, tuple[bytes, ParsedDocument, tuple[Tile, ...]]]


def test_every_tile_lies_on_its_page_and_says_where_it_belongs(documents: Documents) -> None:
    kinds: set[TileKind] = set()
    for _, parsed, tiles in documents.values():
        ids = [tile.image_id for tile in tiles]
        assert len(set(ids)) == len(ids)
        assert [tile.ordinal for tile in tiles] == list(range(len(tiles)))
        pages = [tile.page for tile in tiles if tile.kind is TileKind.PAGE]
        assert len(set(pages)) == len(pages)
        assert set(pages) >= {span.number for span in parsed.pages}
        for tile in tiles:
            # A box that is none cannot be made; one of a region is a proper part of its page.
            assert (
                tile.kind in (TileKind.PAGE, TileKind.IMAGE)
                or tile.page == 0
                or (tile.box.area <= 0.86)
            )
            assert len(tile.text) <= 4_000
            assert bool(tile.text_source) == bool(tile.text or tile.caption)
        kinds.update(tile.kind for tile in tiles)
    assert kinds == set(TileKind)


def test_captions_are_found(documents: Documents) -> None:
    _, _, tiles = documents["redp5110_sampled.pdf"]
    captions = {tile.caption for tile in tiles if tile.caption}
    assert "Figure 1-2 Existing row and column controls" in captions
    assert "Figure 4-69 Index advice with no RCAC" in captions
    assert any(caption.startswith("Table 2-2 Comparison") for caption in captions)
    assert not any("shows" in caption or "summarizes" in caption for caption in captions)
    _, _, tiles = documents["amt_handbook_sample.pdf"]
    assert {tile.caption for tile in tiles if tile.kind is TileKind.FIGURE} == {
        "Figure 7-26. Self-locking nuts.",
        "Figure 7-27. Stainless steel self-locking nut.",
    }
    figure = documents["word_sample.docx"][2][0]
    assert figure.caption == "Figure 1: This is a cute duckling"


def test_words_stand_in_their_boxes(documents: Documents) -> None:
    """At least 95 % of quoted words, as another reader sees the pages."""
    rng = random.Random(1)
    found = asked = 0
    for name, (content, parsed, _) in documents.items():
        if not name.endswith(".pdf"):
            continue
        pages = Pages(content)
        for word, number, boxes in sampled(rng, content, parsed):
            asked += 1
            found += folded(word) in folded("".join(pages.text(number, box) for box in boxes))
        pages.close()
    assert asked > 300
    assert found >= 0.95 * asked, f"{found} of {asked}"


def sampled(
    rng: random.Random, content: bytes, parsed: ParsedDocument
) -> Iterator[tuple[str, int, list[Box]]]:
    """Words of a document, each with its page and places."""
    spans = {span.number: span for span in parsed.pages}
    layouts = {layout.number: layout for layout in read_layouts(content)}
    alignments = {
        number: Alignment(parsed.text[span.start : span.end], layouts[number].displayed_words())
        for number, span in spans.items()
    }
    words = [
        (match, number)
        for number, span in spans.items()
        for match in re.finditer(r"[^\W_]{3,}", parsed.text[span.start : span.end])
    ]
    for match, number in rng.sample(words, min(SAMPLES, len(words))):
        alignment = alignments[number]
        places = [alignment.words[word].box for word in alignment.between(*match.span())]
        yield match[0], number, places


class Pages:
    """Texts in rectangles of pages, by PDFium itself."""

    def __init__(self, content: bytes) -> None:
        self._document = pdfium.PdfDocument(content)
        self._opened: dict[int, tuple[pdfium.PdfPage, pdfium.PdfTextPage]] = {}

    def text(self, number: int, box: Box) -> str:
        if number not in self._opened:
            page = self._document[number - 1]
            assert page.get_rotation() == 0
            self._opened[number] = page, page.get_textpage()
        page, text = self._opened[number]
        width, height = page.get_size()
        left, bottom, _, _ = page.get_cropbox()
        found: str = text.get_text_bounded(
            left + box.x0 * width - MARGIN,
            bottom + (1 - box.y1) * height - MARGIN,
            left + box.x1 * width + MARGIN,
            bottom + (1 - box.y0) * height + MARGIN,
        )
        return found

    def close(self) -> None:
        for page, text in self._opened.values():
            text.close()
            page.close()
        self._document.close()


def folded(text: str) -> str:
    normal = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in normal if character.isalnum())
