"""``eagle-rag search --visual``."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fpdf import FPDF
from PIL import Image

from eagle_rag_core.cli.main import cli
from eagle_rag_core.testing import PackLibrary


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with one figure."""
    monkeypatch.setenv("EAGLE_RAG_MODELS__TEXT_EMBEDDER", "auto")
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("Helvetica", size=14)
    pdf.cell(0, 10, "Fish of the bay.", new_x="LMARGIN", new_y="NEXT")
    picture = io.BytesIO()
    Image.new("RGB", (300, 100), (200, 60, 50)).save(picture, "PNG")
    pdf.image(picture, x=20, y=60, w=150)
    pdf.set_y(115)
    pdf.cell(0, 10, "Figure 1: Colour of a garibaldi.", new_x="LMARGIN", new_y="NEXT")
    pdf.output(str(tmp_path / "fish.pdf"))
    with PackLibrary(tmp_path / "home") as library:
        library.ingest(tmp_path / "fish.pdf")
    return tmp_path / "home"


def run(home: Path, *arguments: str) -> Result:
    command = ["search", *arguments, "--home", str(home), "--no-packs"]
    return CliRunner().invoke(cli, command, catch_exceptions=False)


def test_what_was_found_is_written_as_images(home: Path, tmp_path: Path) -> None:
    result = run(home, "garibaldi", "--visual", "--save", str(tmp_path / "out"))
    assert result.exit_code == 0
    assert "1. figure of" in result.output and "Figure 1: Colour" in result.output
    first = min((tmp_path / "out").iterdir())
    assert first.name.startswith("01-figure-") and first.name in result.output
    image = Image.open(first)
    assert image.format == "PNG" and image.width > image.height


def test_json_is_that_of_the_tool(home: Path) -> None:
    (hit, *_) = json.loads(run(home, "garibaldi", "--visual", "--json").stdout)
    assert (hit["kind"], hit["matched_by"]) == ("figure", "caption")


def test_nothing_found_and_a_wrong_use(home: Path, tmp_path: Path) -> None:
    assert "Nothing found." in run(home, "zzzz", "--visual").output
    refused = run(home, "garibaldi", "--save", str(tmp_path))
    assert refused.exit_code == 2 and "--visual" in refused.output
