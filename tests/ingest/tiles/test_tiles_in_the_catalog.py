"""Tiles and pages in the catalog: written with their version, copied, and gone with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fpdf import FPDF
from sqlalchemy import func, select
from tile_samples import HEIGHT, WIDTH, pdf_pages, photograph

from eagle_rag_core.catalog import ids, tiles
from eagle_rag_core.catalog.documents import get_document
from eagle_rag_core.catalog.schema import pages
from eagle_rag_core.catalog.schema import tiles as tiles_table
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import COMMAND_LINE, Box, PageSpan, ReadLine, Tile, TileKind


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackLibrary]:
    home = tmp_path_factory.mktemp("tiles") / "home"
    with PackLibrary(home, settings={"models": {"ocr": "none"}}) as library:
        yield library


def otters(folder: Path, name: str = "otters.pdf", word: str = "urchins") -> Path:
    def write(document: FPDF) -> None:
        document.set_xy(40, 40)
        document.multi_cell(320, 14, f"Sea otters eat {word} and live in kelp. " * 4)
        document.image(photograph(), 100, 200, 200, 120)

    path = folder / name
    path.write_bytes(pdf_pages(write, lambda document: document.text(40, 40, "Second page")))
    return path


def of_document(library: PackLibrary, document_id: str) -> tuple[str, list[Tile], list[PageSpan]]:
    catalog = library.app.engine().catalog
    with catalog.read() as conn:
        version = get_document(conn, catalog.namespace, COMMAND_LINE, document_id).version_id
        return version, tiles.version_tiles(conn, version), tiles.version_pages(conn, version)


def test_an_ingested_document_has_its_tiles_and_pages(library: PackLibrary, tmp_path: Path) -> None:
    (document_id,) = library.ingest(otters(tmp_path))
    version, found, spans = of_document(library, document_id)
    assert [(tile.kind, tile.page) for tile in found] == [
        (TileKind.PAGE, 1),
        (TileKind.FIGURE, 1),
        (TileKind.PAGE, 2),
    ]
    figure = found[1]
    assert figure.image_id == ids.image_id(version, "figure", 1, str(figure.box))
    assert figure.box.x0 == pytest.approx(100 / WIDTH, abs=0.01)
    assert figure.box.y1 == pytest.approx(320 / HEIGHT, abs=0.01)
    assert [span.number for span in spans] == [1, 2]
    assert spans[0].start == 0


def test_tiles_are_found_by_their_ids_with_their_document(
    library: PackLibrary, tmp_path: Path
) -> None:
    (document_id,) = library.ingest(otters(tmp_path), kb_name="placed")
    _, found, _ = of_document(library, document_id)
    catalog = library.app.engine().catalog
    with catalog.read() as conn:
        placed = tiles.placed_tiles(
            conn, catalog.namespace, [found[1].image_id, "0" * 32, found[0].image_id]
        )
        assert tiles.placed_tiles(conn, "elsewhere", [found[1].image_id]) == {}
    assert set(placed) == {found[0].image_id, found[1].image_id}
    figure = placed[found[1].image_id]
    assert figure.tile == found[1]
    assert (figure.document_id, figure.kb_name) == (document_id, "placed")
    assert figure.source_uri.endswith("otters.pdf")


def test_a_new_version_replaces_the_tiles_and_a_deletion_takes_them(
    library: PackLibrary, tmp_path: Path
) -> None:
    (document_id,) = library.ingest(otters(tmp_path), kb_name="changing")
    first, _, _ = of_document(library, document_id)
    library.ingest(otters(tmp_path, word="mussels"), kb_name="changing")
    second, found, _ = of_document(library, document_id)
    assert first != second
    assert "mussels" in found[0].text
    assert counted(library, first) == (0, 0)
    assert counted(library, second) == (3, 2)
    assert library.app.services().documents.delete(COMMAND_LINE, document_id)
    assert counted(library, second) == (0, 0)


def test_a_copied_document_has_tiles_of_its_own(library: PackLibrary, tmp_path: Path) -> None:
    (document_id,) = library.ingest(otters(tmp_path), kb_name="source")
    library.app.services().upkeep.kb_copy.copy(COMMAND_LINE, "source", "target")
    _, found, spans = of_document(library, document_id)
    catalog = library.app.engine().catalog
    with catalog.read() as conn:
        copies = tiles.placed_tiles(
            conn, catalog.namespace, conn.scalars(select(tiles_table.c.image_id)).all()
        ).values()
    copied = sorted(
        (copy for copy in copies if copy.kb_name == "target"), key=lambda copy: copy.tile.ordinal
    )
    assert [copy.tile.text for copy in copied] == [tile.text for tile in found]
    assert not {copy.tile.image_id for copy in copied} & {tile.image_id for tile in found}
    assert of_document(library, copied[0].document_id)[2] == spans


def test_lines_of_ocr_are_kept_as_they_were_read(library: PackLibrary, tmp_path: Path) -> None:
    (document_id,) = library.ingest(otters(tmp_path, "lines.pdf"), kb_name="lines")
    version, _, _ = of_document(library, document_id)
    lines = [
        ReadLine(7, Box(0.1, 0.1, 0.5, 0.2), "Sea otters", 3),
        ReadLine(7, Box(0.1, 0.2, 0.5, 0.3), "海獺"),
        ReadLine(8, Box(0.1, 0.1, 0.5, 0.2), "eat urchins"),
    ]
    catalog = library.app.engine().catalog
    with catalog.write() as tx:
        tiles.write_pages(tx, version, [PageSpan(7, 0, 10), PageSpan(8, 12, 20)], lines)
    with catalog.read() as conn:
        assert tiles.read_lines(conn, version) == lines
        assert tiles.read_lines(conn, version, 8) == lines[2:]
        assert tiles.read_lines(conn, version, 9) == []
        between = tiles.pages_between(conn, version, 10, 13)
        assert PageSpan(8, 12, 20) in between
        assert PageSpan(7, 0, 10) not in between


def counted(library: PackLibrary, version_id: str) -> tuple[int, int]:
    """Rows of tiles and of pages of a version."""
    with library.app.engine().catalog.read() as conn:
        counts = (
            conn.scalar(
                select(func.count()).select_from(table).where(table.c.version_id == version_id)
            )
            for table in (tiles_table, pages)
        )
        first, second = counts
        return first or 0, second or 0
