"""Pages and regions as images over HTTP."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from fpdf import FPDF
from PIL import Image
from rest_client import OTTERS, RestClient, problem


def _report() -> bytes:
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("Helvetica", size=14)
    pdf.cell(0, 10, "Sea otters eat urchins.", new_x="LMARGIN", new_y="NEXT")
    picture = io.BytesIO()
    Image.new("RGB", (300, 100), (200, 60, 50)).save(picture, "PNG")
    pdf.image(picture, x=20, y=60, w=150)
    pdf.set_y(115)
    pdf.cell(0, 10, "Figure 1: Colour of a garibaldi.", new_x="LMARGIN", new_y="NEXT")
    return bytes(pdf.output())


@dataclass(frozen=True)
class Shown:
    client: RestClient
    document_id: str


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    client = RestClient(tmp_path_factory.mktemp("pages") / "home")
    yield Shown(client, client.ingest("report.pdf", _report()))
    client.close()


def picture_of(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content)).convert("RGB")


def test_a_page_is_drawn_as_wide_as_asked(shown: Shown) -> None:
    response = shown.client.get(f"/documents/{shown.document_id}/pages/1.png?width=400")
    assert (response.status_code, response.headers["content-type"]) == (200, "image/png")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "private" in response.headers["cache-control"]
    assert picture_of(response.content).width == 400


def test_an_unchanged_page_is_not_sent_again(shown: Shown) -> None:
    path = f"/documents/{shown.document_id}/pages/1.png"
    etag = shown.client.get(path).headers["etag"]
    same = shown.client.get(path, headers={"if-none-match": etag})
    assert (same.status_code, same.content) == (304, b"")


def test_quoted_words_are_marked(shown: Shown) -> None:
    path = f"/documents/{shown.document_id}/pages/1.png"
    marked = picture_of(shown.client.get(f"{path}?highlight=0-10").content)
    plain = picture_of(shown.client.get(path).content)
    yellow = sum(count for count, rgb in marked.getcolors(1 << 24) if rgb == (255, 232, 120))
    assert yellow > 100
    assert not any(rgb == (255, 232, 120) for _, rgb in plain.getcolors(1 << 24))


def test_a_figure_is_found_and_shown(shown: Shown) -> None:
    found = shown.client.post("/search/visual", {"query": "garibaldi colour", "top_k": 1})
    (hit,) = found.json()["items"]
    assert (hit["kind"], hit["matched_by"], hit["page"]) == ("figure", "caption", 1)
    response = shown.client.get(f"/images/{hit['image_id']}.png?width=800")
    crop = picture_of(response.content)
    assert crop.width < 700
    assert crop.getpixel((crop.width // 2, crop.height // 2)) == (200, 60, 50)


def test_what_is_not_there_is_a_problem(shown: Shown) -> None:
    client, base = shown.client, f"/documents/{shown.document_id}/pages"
    problem(client.get(f"{base}/9.png"), 422, "invalid_argument")
    problem(client.get(f"{base}/0.png"), 422, "invalid_argument")
    problem(client.get(f"{base}/1.png?width=9"), 422, "invalid_argument")
    problem(client.get(f"{base}/1.png?highlight=5"), 422, "invalid_argument")
    problem(client.get(f"{base}/1.png?highlight=9-900000"), 422, "invalid_argument")
    problem(client.get("/documents/nope/pages/1.png"), 404, "document_not_found")
    problem(client.get("/images/nope.png"), 404, "document_not_found")
    text = client.ingest("otters.md", OTTERS)
    problem(client.get(f"/documents/{text}/pages/1.png"), 422, "mode_unavailable")
    problem(client.post("/search/visual", {"query": "x", "topk": 1}), 422, "unknown_argument")
