"""Scans and screenshots, which have no words but those that OCR reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import LOCAL, ScopeRequest

SCAN = ("Harbour dues", "Barges pay nine crowns a night.", "Rafts of timber pay nothing.")
DIALOG = ("Export calendar", "Choose a colour scheme", "Cancel", "Save as spreadsheet")


def draw(path: Path, lines: tuple[str, ...]) -> None:
    page = Image.new("RGB", (1000, 600), "white")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(40)
    for at, line in enumerate(lines):
        pen.text((60, 60 + 110 * at), line, fill="black", font=font)
    pen.rectangle((20, 20, 980, 580), outline="black", width=4)
    page.save(path)


@pytest.mark.full
def test_scans_and_screenshots_are_found_by_what_is_read_on_them(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    draw(tmp_path / "scan.pdf", SCAN)
    draw(tmp_path / "dialog.png", DIALOG)
    with PackLibrary(tmp_path / "home") as library:
        scan, dialog = library.ingest(tmp_path / "scan.pdf", tmp_path / "dialog.png")
        for query, document_id in (
            ("what do barges pay for a night", scan),
            ("screenshot of exporting a calendar as spreadsheet", dialog),
        ):
            found = library.app.services().visual.search(
                LOCAL, query, top_k=3, request=ScopeRequest()
            )
            assert found.hits[0].document_id == document_id
            assert found.hits[0].matched_by == "ocr"
