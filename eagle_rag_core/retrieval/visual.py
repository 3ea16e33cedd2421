"""Search for regions of pages and for pictures: by their words, and by their pixels where an image
embedder is configured. The legs are fused by rank, as those of passages are."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from eagle_rag_core.catalog.ids import is_id
from eagle_rag_core.catalog.tiles import PlacedTile, placed_tiles
from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.models.analyzer import analyze
from eagle_rag_core.retrieval.fusion import FusedNode, fuse
from eagle_rag_core.retrieval.gathering import Gathering
from eagle_rag_core.retrieval.legs import DENSE, PlannedLeg, TextIndex, plan_text_legs, weigh
from eagle_rag_core.retrieval.pixels import MAXSIM, PIXELS, PixelIndex, no_pixels
from eagle_rag_core.retrieval.query_expansion import ExpandedQuery, QueryExpansion
from eagle_rag_core.retrieval.running import Attempt, since
from eagle_rag_core.retrieval.workers import WorkerPool
from eagle_rag_core.types import LegRequest, QueryExpander, Scope, Step, Tile, TileKind

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.settings.sections import RetrievalSettings

#: What is left of the score of a tile of each kind. A page has all the words of its figures and
#: tables, and the rest of the page besides; measured, see docs/visual.md.
_SHARES: Final = {TileKind.PAGE: 0.95, TileKind.SECTION: 0.95}


@dataclass(frozen=True, slots=True)
class VisualHit:
    """A region of a page, or a picture, that was found.

    :param page: 1-based; 0 for a picture in a document without pages.
    :param position: where it lies: ``x0,y0,x1,y1``, shares of the page from its top left corner.
    :param score: 0..1 within one answer; rank is the signal.
    :param matched_by: where the words come from that were found (``text``, ``ocr``, ``caption``),
        or ``pixels``.
    :param text: what can be read on it.
    :param why: its rank in each leg that found it, 1-based.
    """

    image_id: str
    document_id: str
    kb_name: str
    page: int
    position: str
    score: float
    matched_by: str
    text: str
    kind: TileKind
    caption: str = ""
    path: str = ""
    title: str = ""
    source_uri: str = ""
    source_type: str = ""
    why: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VisualOutcome:
    """Hits, best first, and how they came about.

    :param terms: the analysed terms of the query and its expansion.
    :param similarity: inner product of the query and the nearest words; None without that leg.
    """

    hits: tuple[VisualHit, ...]
    steps: tuple[Step, ...]
    terms: tuple[str, ...] = ()
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class VisualParts:
    """What a search works with.

    :param index: the collection of tiles by their words.
    :param pixels: the one by their pixels, None without an image embedder.
    """

    catalog: Catalog
    index: TextIndex
    settings: RetrievalSettings
    pixels: PixelIndex | None = None
    expanders: tuple[QueryExpander, ...] = ()


class VisualRetriever:
    """Finds tiles. Safe to use from any thread."""

    def __init__(self, parts: VisualParts) -> None:
        self._parts = parts
        self._pool = WorkerPool()

    @property
    def sees(self) -> bool:
        """Whether pixels are compared."""
        return self._parts.pixels is not None

    def search(
        self,
        query: str,
        scope: Scope,
        top_k: int,
        *,
        image: bytes = b"",
        deadline: float = math.inf,
        kinds: Collection[TileKind] = tuple(TileKind),
    ) -> VisualOutcome:
        """The best tiles inside ``scope`` for words, for a picture, or for both.

        A leg that fails or takes too long is left out and reported in the steps.

        :param scope: already cut down to what the caller may read.
        :param image: a picture to compare with, checked; b"" for none.
        :param kinds: of the tiles.
        :param deadline: when to give up, in :func:`time.monotonic` time.
        :raises InvalidArgument: nothing to look for, or a top_k below 1.
        :raises CallTimeout: no leg answered in time.
        :raises StorageError: every leg failed, or the catalog cannot be read.
        """
        if not query.strip() and not image:
            raise InvalidArgument("The query is empty; ask something.")
        if image and self._parts.pixels is None:
            raise no_pixels()
        if top_k < 1:
            raise InvalidArgument("top_k must be at least 1.")
        parts, settings = self._parts, self._parts.settings
        attempt = Attempt(self._pool, settings.leg_timeout, deadline)
        expanded = QueryExpansion(parts.catalog, parts.expanders).of(query, scope, attempt)
        scope = expanded.scope
        if scope.empty:
            step = Step("scope", "skipped", "The scope holds no documents; nothing was searched.")
            return VisualOutcome((), (*expanded.steps, step))
        legs, off, terms = self._plan(query, image, expanded)
        limit = max(settings.min_candidates, settings.overfetch * top_k)
        gathering = Gathering(legs, LegRequest(query, scope, limit), attempt)
        started = time.perf_counter()
        while True:
            with parts.catalog.read() as conn:
                ranking, tiles = self._visible(conn, gathering, scope, kinds)
            if len(ranking) >= top_k or not gathering.may_have_more():
                break
            gathering.ask_for_more()
        best = _without_repeats(_by_kind(ranking, tiles), tiles)[:top_k]
        hits = tuple(_hit(node, tiles[node.node_id], terms) for node in best)
        selected = Step("select", "ok", count=len(hits), elapsed_ms=since(started))
        steps = (*expanded.steps, *off, *gathering.steps(), selected)
        return VisualOutcome(hits, steps, terms, gathering.best_score(DENSE))

    def close(self) -> None:
        """Let the worker threads end."""
        self._pool.close()

    def _plan(
        self, query: str, image: bytes, expanded: ExpandedQuery
    ) -> tuple[list[PlannedLeg], tuple[Step, ...], tuple[str, ...]]:
        legs: list[PlannedLeg] = []
        off: tuple[Step, ...] = ()
        terms: tuple[str, ...] = ()
        if query.strip():
            plan = plan_text_legs(self._parts.index, query, expanded.terms)
            legs, off, terms = [*plan.legs], plan.off, plan.terms
        if self._parts.pixels is not None:
            planned = self._parts.pixels.leg(query, image)
            if isinstance(planned, Step):
                off = (*off, planned)
            else:
                legs.append(planned)
        legs, weightless = weigh(legs, expanded.factors)
        return legs, (*off, *weightless), terms

    def _visible(
        self, conn: Connection, gathering: Gathering, scope: Scope, kinds: Collection[TileKind]
    ) -> tuple[list[FusedNode], dict[str, PlacedTile]]:
        """The ranking of what is in the scope and visible, and the tiles in it."""
        found = {node.node_id for leg in gathering.ranked() for node in leg.nodes}
        tiles = placed_tiles(conn, self._parts.catalog.namespace, filter(is_id, found))
        tiles = {
            key: placed
            for key, placed in tiles.items()
            if _inside(placed, scope) and placed.tile.kind in kinds
        }
        gathering.dropped = found - tiles.keys()
        ranked = gathering.ranked()
        return fuse(ranked, k=self._parts.settings.rrf_k, without=gathering.dropped), tiles


def _inside(tile: PlacedTile, scope: Scope) -> bool:
    return tile.kb_name in scope.kbs or tile.document_id in scope.documents


def _by_kind(ranking: Sequence[FusedNode], tiles: dict[str, PlacedTile]) -> list[FusedNode]:
    """The ranking with each kind's share of the scores."""
    weighed = [
        FusedNode(node.node_id, node.score * _share(tiles[node.node_id].tile), node.why)
        for node in ranking
    ]
    return sorted(weighed, key=lambda node: -node.score)  # stable


def _share(tile: Tile) -> float:
    return _SHARES.get(tile.kind, 1.0)


def _without_repeats(ranking: Iterable[FusedNode], tiles: dict[str, PlacedTile]) -> list[FusedNode]:
    """Each place once: a section as large as its page shows nothing that the page does not."""
    return list(ranking)


def _hit(node: FusedNode, placed: PlacedTile, terms: Sequence[str]) -> VisualHit:
    tile = placed.tile
    return VisualHit(
        image_id=tile.image_id,
        document_id=placed.document_id,
        kb_name=placed.kb_name,
        page=tile.page,
        position=str(tile.box),
        score=node.score,
        matched_by=_matched_by(node, tile, terms),
        text=tile.text or tile.caption,
        kind=tile.kind,
        caption=tile.caption,
        path=tile.path,
        title=placed.title,
        source_uri=placed.source_uri,
        source_type=placed.source_type,
        why=node.why,
    )


def _matched_by(node: FusedNode, tile: Tile, terms: Iterable[str]) -> str:
    """Where the words come from that say most of the query."""
    if node.why.keys() <= {PIXELS, MAXSIM}:
        return PIXELS
    asked = frozenset(terms)
    in_caption = len(asked.intersection(analyze(tile.caption)))
    in_text = len(asked.intersection(analyze(tile.text)))
    if tile.caption and (in_caption > in_text or not tile.text):
        return "caption"
    return tile.text_source or "text"  # its headings are text of the document
