"""Tiles of document versions, and what stands on their pages.

They come and go with their version, like its sections.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, insert, select

from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import documents, pages, sections, tiles
from eagle_rag_core.types import Box, PageSpan, ReadLine, Tile, TileKind


@dataclass(frozen=True, slots=True)
class PlacedTile:
    """A tile of a visible version with the document it belongs to."""

    tile: Tile
    version_id: str
    document_id: str
    kb_name: str
    source_uri: str
    source_type: str
    title: str


_IN_SECTION = and_(
    sections.c.version_id == tiles.c.version_id, sections.c.ordinal == tiles.c.section
)
_TILES: Select[*tuple[Any, ...]] = select(tiles, sections.c.path).join(sections, _IN_SECTION)
_PLACED: Select[*tuple[Any, ...]] = (
    select(
        tiles,
        sections.c.path,
        documents.c.document_id,
        documents.c.kb_name,
        documents.c.source_uri,
        documents.c.source_type,
        documents.c.title,
    )
    .join(sections, _IN_SECTION)
    .join(documents, documents.c.visible_version == tiles.c.version_id)
)


def write_tiles(tx: Connection, version_id: str, found: Sequence[Tile]) -> None:
    """Add the tiles of a version."""
    rows = [_row(version_id, tile) for tile in found]
    if rows:
        tx.execute(insert(tiles), rows)


def write_pages(
    tx: Connection, version_id: str, spans: Sequence[PageSpan], lines: Iterable[ReadLine]
) -> None:
    """Add what stands on the pages of a version.

    :param lines: what OCR read on some of them.
    """
    read: dict[int, list[list[str | int]]] = {}
    for line in lines:
        read.setdefault(line.page, []).append([line.text, str(line.box), line.turns])
    rows = [
        {
            "version_id": version_id,
            "page": span.number,
            "start": span.start,
            "end": span.end,
            "lines": read.get(span.number, []),
        }
        for span in spans
    ]
    if rows:
        tx.execute(insert(pages), rows)


def version_tiles(conn: Connection, version_id: str) -> list[Tile]:
    """The tiles of a version in their order."""
    query = _TILES.where(tiles.c.version_id == version_id).order_by(tiles.c.ordinal)
    return [_tile(row) for row in conn.execute(query)]


def tiles_of_versions(conn: Connection, version_ids: Iterable[str]) -> list[Tile]:
    """The tiles of versions."""
    query = _TILES.where(any_of(tiles.c.version_id, version_ids))
    return [_tile(row) for row in conn.execute(query)]


def placed_tiles(
    conn: Connection, namespace: str, image_ids: Iterable[str]
) -> dict[str, PlacedTile]:
    """Tiles by their ids, without those of versions that are not visible (any more)."""
    query = _PLACED.where(documents.c.namespace == namespace, any_of(tiles.c.image_id, image_ids))
    return {
        row.image_id: PlacedTile(
            _tile(row),
            row.version_id,
            row.document_id,
            row.kb_name,
            row.source_uri,
            row.source_type,
            row.title,
        )
        for row in conn.execute(query)
    }


def version_pages(conn: Connection, version_id: str) -> list[PageSpan]:
    """Which part of a version's text stands on which page."""
    return pages_between(conn, version_id, 0, None)


def pages_between(conn: Connection, version_id: str, start: int, end: int | None) -> list[PageSpan]:
    """The pages that a part of a version's text stands on.

    :param end: exclusive; None for the end of the text.
    """
    query = (
        select(pages.c.page, pages.c.start, pages.c.end)
        .where(pages.c.version_id == version_id, pages.c.end > start)
        .order_by(pages.c.page)
    )
    if end is not None:
        query = query.where(pages.c.start < end)
    return [PageSpan(*row) for row in conn.execute(query)]


def read_lines(conn: Connection, version_id: str, page: int | None = None) -> list[ReadLine]:
    """The lines that OCR read for a version, or on one page of it, page by page."""
    query = (
        select(pages.c.page, pages.c.lines)
        .where(pages.c.version_id == version_id)
        .order_by(pages.c.page)
    )
    if page is not None:
        query = query.where(pages.c.page == page)
    return [
        ReadLine(number, Box.parse(box), text, turns)
        for number, lines in conn.execute(query)
        for text, box, turns in lines
    ]


def _row(version_id: str, tile: Tile) -> Mapping[str, Any]:
    return {
        "image_id": tile.image_id,
        "version_id": version_id,
        "ordinal": tile.ordinal,
        "kind": tile.kind.value,
        "page": tile.page,
        "box": str(tile.box),
        "part": tile.part,
        "section": tile.section,
        "text": tile.text,
        "text_source": tile.text_source,
        "caption": tile.caption,
    }


def _tile(row: Row[Any]) -> Tile:
    return Tile(
        image_id=row.image_id,
        ordinal=row.ordinal,
        kind=TileKind(row.kind),
        page=row.page,
        box=Box.parse(row.box),
        section=row.section,
        path=row.path,
        text=row.text,
        text_source=row.text_source,
        caption=row.caption,
        part=row.part,
    )
