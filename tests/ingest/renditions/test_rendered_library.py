"""Documents that get pages, from ingest to deletion, with a program in place of LibreOffice."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from rendition_samples import FakeOffice, printed, word_document

from eagle_rag_core.catalog import documents, tiles, versions
from eagle_rag_core.catalog.passages import document_length, stretch
from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.ingest.tiles.pdf_layout import read_layout
from eagle_rag_core.ingest.tiles.regions import is_inside
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import COMMAND_LINE, LOCAL, Job, PageSpan, Tile, TileKind

pytestmark = pytest.mark.skipif(os.name != "posix", reason="converters need POSIX")


class Shelf:
    """A library, and short ways to look behind its back."""

    def __init__(self, folder: Path, **pages: Any) -> None:
        self.library = PackLibrary(folder / "home", settings={"ingest": {"pages": pages}})
        self.services = self.library.app.services()
        self.engine = self.library.app.engine()
        self._folder = folder

    def __enter__(self) -> Shelf:
        return self

    def __exit__(self, *_: object) -> None:
        self.library.close()

    def add(self, data: bytes | None = None) -> str:
        path = self._folder / "report.docx"
        if data is not None:
            path.write_bytes(data)
        return self.library.ingest(path)[0]

    def metadata(self, document_id: str) -> Any:
        with self.engine.catalog.read() as conn:
            namespace = self.engine.catalog.namespace
            return documents.get_document(conn, namespace, LOCAL, document_id).metadata

    def version(self, document_id: str) -> str:
        with self.engine.catalog.read() as conn:
            namespace = self.engine.catalog.namespace
            return documents.get_document(conn, namespace, LOCAL, document_id).version_id

    def tiles(self, document_id: str) -> Sequence[Tile]:
        with self.engine.catalog.read() as conn:
            return tiles.version_tiles(conn, self.version(document_id))

    def pages(self, document_id: str) -> Sequence[PageSpan]:
        with self.engine.catalog.read() as conn:
            return tiles.version_pages(conn, self.version(document_id))

    def text(self, document_id: str) -> str:
        version_id = self.version(document_id)
        with self.engine.catalog.read() as conn:
            return stretch(conn, version_id, 0, document_length(conn, version_id))

    def rendition(self, document_id: str) -> str:
        with self.engine.catalog.read() as conn:
            return versions.rendition_of(conn, self.version(document_id))

    def stored(self) -> set[str]:
        blobs = self._folder / "home" / "blobs"
        return {path.name for path in blobs.rglob("*") if path.is_file()}

    def stale(self) -> int:
        return self.services.upkeep.reindex.stale(COMMAND_LINE)

    def reindex(self) -> None:
        self.work(self.services.upkeep.reindex.submit(COMMAND_LINE).jobs)

    def work(self, jobs: Sequence[Job] = ()) -> None:
        """Run what waits; jobs end before the files of what they replaced are seen to."""
        self.library.app.work()
        wanted = [job.job_id for job in jobs]
        while len(self.services.jobs.ended(COMMAND_LINE, wanted)) < len(wanted):
            time.sleep(0.005)
        while self.engine.worker._running:  # type: ignore[attr-defined]
            time.sleep(0.005)


@pytest.fixture
def office(tmp_path: Path) -> FakeOffice:
    return FakeOffice(tmp_path / "bin")


@pytest.fixture
def shelf(tmp_path: Path, office: FakeOffice) -> Any:
    with Shelf(tmp_path, office="auto", web="off", soffice=str(office.program)) as shelf:
        yield shelf


def test_a_word_document_has_pages_and_places(shelf: Shelf) -> None:
    report = shelf.add(word_document())
    text, (first, second) = shelf.text(report), shelf.pages(report)
    assert "Confidential" not in text
    assert (first.start, first.end, second.end) == (0, second.start, len(text))
    assert text[second.start :].startswith("Boats by month")
    found = {(tile.kind, tile.page) for tile in shelf.tiles(report)}
    assert {(TileKind.PAGE, 1), (TileKind.PAGE, 2), (TileKind.TABLE, 2)} <= found
    (table,) = (tile for tile in shelf.tiles(report) if tile.kind is TileKind.TABLE)
    assert "1744" in table.text
    assert table.path == "Boats by month"

    service = shelf.services.pages
    start = text.index("Counting began in January.")
    ((page, box),) = service.boxes(LOCAL, report, start, start + len("Counting began"))
    inside = [word.text for word in read_layout(printed(), 2).words if is_inside(word.box, box)]
    assert (page, inside) == (2, ["Counting", "began"])
    start = text.index("1744")
    ((page, box),) = service.boxes(LOCAL, report, start, start + 4)
    assert is_inside(box, table.box)
    assert service.image(LOCAL, report, 2, width=200).startswith(b"\x89PNG")
    assert service.tile(LOCAL, table.image_id, width=200).startswith(b"\x89PNG")
    with pytest.raises(EagleError, match="2 pages"):
        service.image(LOCAL, report, 3)
    first_hit, *_ = shelf.library.call("core_retrieve_text", query="crews counted by hand")
    assert first_hit["metadata"]["page"] == 2


def test_its_pages_go_with_it(shelf: Shelf) -> None:
    data = word_document()
    report = shelf.add(data)
    rendition = hashlib.sha256(printed()).hexdigest()
    assert shelf.rendition(report) == rendition
    assert shelf.stored() == {rendition, hashlib.sha256(data).hexdigest()}
    with shelf.engine.catalog.read() as conn:
        assert versions.stored_files(conn) == shelf.stored()
        assert versions.referenced(conn, [rendition, "0" * 64]) == {rendition}
    assert shelf.services.documents.delete(LOCAL, report)
    assert shelf.stored() == set()


def test_lost_pages_are_found_and_made_anew_as_they_were(shelf: Shelf, tmp_path: Path) -> None:
    report = shelf.add(word_document())
    before = shelf.tiles(report), shelf.rendition(report), shelf.version(report)
    rendition = shelf.rendition(report)
    (tmp_path / "home" / "blobs" / rendition[:2] / rendition).unlink()
    audit = shelf.services.upkeep.audit
    findings = audit.run()
    assert [(found.check, found.subject) for found in findings] == [("blobs.renditions", report)]
    audit.repair(findings)
    shelf.work(shelf.services.jobs.list(COMMAND_LINE))
    assert audit.run() == []
    assert rendition in shelf.stored()
    assert (shelf.tiles(report), rendition, shelf.version(report)) == before


def test_a_copy_keeps_its_pages_when_the_first_goes(shelf: Shelf) -> None:
    report = shelf.add(word_document())
    shelf.services.upkeep.kb_copy.copy(COMMAND_LINE, "default", "copy")
    (copy,) = shelf.library.call("core_list_documents", kb_name="copy")["items"]
    assert shelf.services.documents.delete(LOCAL, report)
    picture = shelf.services.pages.image(LOCAL, copy["document_id"], 2, width=100)
    assert picture.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda office: office.fails(), "the converter failed"),
        (lambda office: office.fails("sys.exit(0)"), "LibreOffice cannot read it"),
        (lambda office: office.prints(b"%PDF-1.7 and no more"), "its pages cannot be read"),
    ],
)
def test_a_program_that_fails_takes_nothing_but_the_pages(
    shelf: Shelf, office: FakeOffice, damage: Callable[[FakeOffice], None], reason: str
) -> None:
    damage(office)
    report = shelf.add(word_document())
    assert shelf.metadata(report)["pages_note"] == f"No pages were made of it: {reason}."
    assert [tile.kind for tile in shelf.tiles(report)] == [TileKind.TABLE]
    with pytest.raises(EagleError) as caught:
        shelf.services.pages.image(LOCAL, report, 1)
    assert caught.value.code is ErrorCode.MODE_UNAVAILABLE
    shelf.add()
    assert (shelf.stale(), office.runs) == (0, 1)


def test_a_program_that_hangs_is_tried_again_by_reindex(tmp_path: Path, office: FakeOffice) -> None:
    office.fails("time.sleep(60)")
    with Shelf(tmp_path, office="auto", soffice=str(office.program), timeout=0.5) as shelf:
        report = shelf.add(word_document())
        assert "longer than 0.5 s" in shelf.metadata(report)["pages_note"]
        shelf.add()
        assert (shelf.stale(), office.runs) == (1, 1)
    office.prints(printed())
    with Shelf(tmp_path, office="auto", soffice=str(office.program)) as shelf:
        shelf.reindex()
        assert "pages_note" not in shelf.metadata(report)
        assert len(shelf.pages(report)) == 2
        assert shelf.stale() == 0


def test_a_program_that_comes_later_concerns_its_formats_only(
    tmp_path: Path, office: FakeOffice
) -> None:
    missing = str(tmp_path / "nowhere")
    with Shelf(tmp_path, office="auto", web="auto", soffice=missing, chromium=missing) as shelf:
        report = shelf.add(word_document())
        shelf.library.ingest_text("# Otters\n\nThey eat urchins.\n")
        assert (shelf.stale(), shelf.pages(report)) == (0, [])
        jobs = shelf.engine.fingerprint
    with Shelf(tmp_path, office="auto", soffice=str(office.program)) as shelf:
        assert shelf.engine.fingerprint == jobs
        shelf.add()  # the same again is no reason to make it anew
        assert (shelf.stale(), office.runs) == (1, 0)
        shelf.reindex()
        assert (shelf.stale(), office.runs, len(shelf.pages(report))) == (0, 1, 2)
    with Shelf(tmp_path, office="auto", soffice=missing) as shelf:
        shelf.add()
        assert (shelf.stale(), len(shelf.pages(report))) == (0, 2)
    with Shelf(tmp_path, office="off", soffice=str(office.program)) as shelf:
        rendition = shelf.rendition(report)
        assert shelf.stale() == 1
        shelf.reindex()
        assert (shelf.stale(), shelf.pages(report)) == (0, [])
        assert rendition not in shelf.stored()
