"""Pages by the programs themselves, where this machine has them: hostile documents, and real ones.

One start of LibreOffice takes seconds, so most of this runs with all tests only.
"""

from __future__ import annotations

import base64
import io
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import docx
import numpy as np
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from PIL import Image
from pptx import Presentation
from rendition_samples import word_document
from test_rendered_library import Shelf

from eagle_rag_core.ingest.renditions import confined, office, supervisor, web
from eagle_rag_core.ingest.renditions.confined import Bounds
from eagle_rag_core.ingest.renditions.renderer import Rendition, page_renderer
from eagle_rag_core.ingest.tiles.pdf_layout import read_layout
from eagle_rag_core.ingest.tiles.pdf_pages import PdfPages
from eagle_rag_core.ingest.tiles.regions import is_inside
from eagle_rag_core.types import LOCAL, ParsedDocument, TileKind

SOFFICE, CHROMIUM = (str(each.program or "") for each in page_renderer().renderers)
chromium = pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed")
libreoffice = pytest.mark.skipif(not SOFFICE, reason="LibreOffice is not installed")
LINKED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
SECRET = "the secret of this machine"


class Trap:
    """A picture and a text that must not be read, and a server that must not be asked.

    :ivar asked: the paths that it was asked for.
    """

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        self.picture = folder / "secret.png"
        Image.new("RGB", (300, 200), "blue").save(self.picture)
        self.text = folder / "secret.txt"
        self.text.write_text(SECRET)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        asked, picture = self.asked, self.picture.read_bytes()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(picture)

            do_HEAD = do_OPTIONS = do_PROPFIND = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trap]:
    """What is to be kept out, on a system that leaves converters in their network."""
    source = Path(supervisor.__file__).read_text().replace("    cut_network()\n", "")
    (open_supervisor := tmp_path / "supervisor.py").write_text(source)
    outcomes = {"DONE": supervisor.DONE, "OVERDUE": supervisor.OVERDUE}
    monkeypatch.setattr(
        confined, "supervisor", SimpleNamespace(__file__=str(open_supervisor), **outcomes)
    )
    trap = Trap(tmp_path)
    yield trap
    trap.close()


def rendered(data: bytes, document: ParsedDocument) -> Rendition:
    renderer = page_renderer(soffice=SOFFICE, chromium=CHROMIUM, bounds=Bounds(seconds=120))
    rendition = renderer.render(data, document)
    assert rendition is not None
    assert rendition.pdf, rendition.note
    return rendition


def text_of(pdf: bytes, page: int = 1) -> str:
    return "".join(word.text for word in read_layout(pdf, page).words)


def share_of(pdf: bytes, colour: tuple[int, int, int]) -> float:
    with PdfPages(pdf) as pages:
        pixels = np.asarray(pages.draw(1, 300)).astype(int)
    return float((np.abs(pixels - colour).sum(axis=2) < 60).mean())


def inline(path: Path) -> str:
    return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"


@chromium
def test_a_web_page_reaches_no_server_no_file_and_runs_nothing(trap: Trap, tmp_path: Path) -> None:
    Image.new("RGB", (300, 200), "red").save(own := tmp_path / "own.png")
    picture, text = trap.picture.as_uri(), trap.text.as_uri()
    page = f"""<!doctype html><html><head><meta charset=utf-8>
    <meta http-equiv=refresh content="0;url={text}"><base href="{trap.url}/base/">
    <link rel=stylesheet href="{trap.url}/a.css"><link rel=prefetch href="{trap.url}/p">
    <style>@import url("{trap.url}/b.css"); body {{ background: url({trap.url}/bg.png) }}
    @font-face {{ font-family: f; src: url({trap.url}/font) }} p {{ font-family: f }}
    .file {{ background: url({picture}); width: 300px; height: 200px }}</style>
    <script src="{trap.url}/s.js"></script><script>document.write("SCRIPTED")</script></head>
    <body onload="document.body.append('LOADED')"><h1>海獭</h1><p>Visible</p>
    <img src="{inline(own)}"><img src="{trap.url}/i.png"><img src="{picture}"><img src=/r.png>
    <img src=x onerror="document.body.append('FAILED')"><div class=file></div>
    <iframe src="{text}"></iframe><iframe src="{trap.url}/f"></iframe>
    <iframe srcdoc="<script>document.write('INNER')</script><img src='{picture}'>"></iframe>
    <object data="{text}" type=text/plain></object><embed src="{text}">
    <video src="{trap.url}/v" poster="{picture}" autoplay></video>
    <svg><image href="{picture}" width=300 height=200 /></svg>
    <form action="{trap.url}/form"><input autofocus onfocus="form.submit()"></form>
    </body></html>"""
    pdf = rendered(page.encode(), ParsedDocument("x", web.HTML)).pdf
    assert text_of(pdf).startswith("海獭Visible")
    for word in ("SCRIPTED", "LOADED", "FAILED", "INNER", "secret"):
        assert word not in text_of(pdf)
    assert share_of(pdf, (255, 0, 0)) > 0.02
    assert share_of(pdf, (0, 0, 255)) == 0
    assert trap.asked == []


@pytest.mark.full
@libreoffice
@pytest.mark.parametrize("where", ["file", "server"])
def test_a_word_document_loads_no_linked_picture(trap: Trap, tmp_path: Path, where: str) -> None:
    Image.new("RGB", (300, 200), "red").save(own := tmp_path / "own.png")
    url = trap.picture.as_uri() if where == "file" else f"{trap.url}/x.png"
    document = docx.Document()
    document.add_paragraph("Visible")
    document.add_picture(str(own))
    document.add_picture(str(own))
    blip = list(document.element.body.iter(BLIP))[1]
    del blip.attrib[f"{LINKED}embed"]
    target = document.part.relate_to(url, RELATIONSHIP_TYPE.IMAGE, is_external=True)
    blip.set(f"{LINKED}link", target)
    document.save(buffer := io.BytesIO())
    pdf = rendered(buffer.getvalue(), ParsedDocument("x", office.DOCX)).pdf
    assert "Visible" in text_of(pdf)
    assert share_of(pdf, (255, 0, 0)) > 0.01
    assert share_of(pdf, (0, 0, 255)) == 0
    assert trap.asked == []


@pytest.mark.full
@libreoffice
def test_slides_that_are_hidden_keep_their_number() -> None:
    presentation = Presentation()
    for number in range(1, 4):
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = f"Slide {number}"
    presentation.slides[1]._element.set("show", "0")
    presentation.save(buffer := io.BytesIO())
    document = ParsedDocument("x", office.PPTX, metadata={"pages": "3"})
    assert text_of(rendered(buffer.getvalue(), document).pdf, 3) == "Slide3"


@pytest.mark.full
@libreoffice
def test_a_damaged_document_is_noted() -> None:
    renderer = page_renderer(soffice=SOFFICE)
    rendition = renderer.render(b"PK\x03\x04 broken", ParsedDocument("x", office.DOCX))
    assert rendition is not None
    assert (rendition.pdf, rendition.note) == (
        b"",
        "No pages were made of it: LibreOffice cannot read it.",
    )


@pytest.mark.full
@libreoffice
def test_places_of_a_word_document(tmp_path: Path) -> None:
    with Shelf(tmp_path, office="auto", web="off", soffice=SOFFICE) as shelf:
        report = shelf.add(word_document())
        text, pages = shelf.text(report), shelf.pages(report)
        assert text[pages[1].start :].startswith("Boats by month")
        (table,) = (tile for tile in shelf.tiles(report) if tile.kind is TileKind.TABLE)
        start = text.index("1744")
        ((page, box),) = shelf.services.pages.boxes(LOCAL, report, start, start + 4)
        assert page == table.page == 2
        assert is_inside(box, table.box)


@pytest.mark.full
@chromium
def test_places_of_a_chinese_web_page(tmp_path: Path) -> None:
    Image.new("RGB", (500, 300), "red").save(own := tmp_path / "own.png")
    paragraph = "海獭生活在太平洋沿岸的海藻林中，它们以海胆、螃蟹和贝类为食。" * 5
    page = (
        "<!doctype html><html lang=zh><head><meta charset=utf-8><title>海獭</title></head>"
        "<body><nav><a href=/>首页</a></nav>"
        f"<main><article><h1>海獭的生活</h1><p>{paragraph}</p><figure><img src='{inline(own)}'>"
        f"<figcaption>图 1：数量</figcaption></figure>"
        f"<h2>食物</h2><p>{paragraph}</p><p>毛皮极为浓密。</p></article></main></body></html>"
    )
    (source := tmp_path / "otter.html").write_text(page, "utf-8")
    with Shelf(tmp_path, office="off", web="auto", chromium=CHROMIUM) as shelf:
        (otter,) = shelf.library.ingest(source)
        text = shelf.text(otter)
        start = text.index("毛皮极为浓密")
        ((number, box),) = shelf.services.pages.boxes(LOCAL, otter, start, start + 6)
        rendition = shelf.rendition(otter)
        pdf = (tmp_path / "home" / "blobs" / rendition[:2] / rendition).read_bytes()
        words = read_layout(pdf, number).words
        assert "".join(word.text for word in words if is_inside(word.box, box)) == "毛皮极为浓密"
        (figure,) = (tile for tile in shelf.tiles(otter) if tile.kind is TileKind.FIGURE)
        assert figure.caption == "图 1：数量"
