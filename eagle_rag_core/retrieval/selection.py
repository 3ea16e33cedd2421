"""From fused ranks to passages: only what the scope holds and readers see, widened and merged.

Legs are not trusted. A node counts when the catalog knows it as a chunk of a visible version
inside the scope; others take no part in the fusion, as if no leg had found them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from eagle_rag_core.catalog.ids import is_id
from eagle_rag_core.catalog.passages import ChunkSpan, Passage, passages, section_chunks, span_texts
from eagle_rag_core.retrieval.expansion import SectionKey, Window, Windows
from eagle_rag_core.retrieval.fusion import FusedNode, RankedLeg, fuse
from eagle_rag_core.settings.sections import RetrievalSettings
from eagle_rag_core.types import Hit, Scope

if TYPE_CHECKING:
    from sqlalchemy import Connection


class Selector:
    """Selects the windows of one answer within one snapshot of the catalog."""

    def __init__(
        self, conn: Connection, namespace: str, scope: Scope, settings: RetrievalSettings
    ) -> None:
        self._conn = conn
        self._namespace = namespace
        self._scope = scope
        self._settings = settings
        self._passages: dict[str, Passage] = {}
        self._sections: dict[SectionKey, list[ChunkSpan]] = {}
        #: Nodes of the legs that did not count.
        self.dropped: set[str] = set()

    def verify(self, node_ids: Iterable[str]) -> bool:
        """Look nodes up; those that do not count join :attr:`dropped`. Whether all count."""
        unknown = [
            node_id
            for node_id in node_ids
            if node_id not in self._passages and node_id not in self.dropped
        ]
        if not unknown:
            return True
        found = passages(self._conn, self._namespace, filter(is_id, unknown))
        self._passages |= {key: item for key, item in found.items() if self._inside(item)}
        gone = [node_id for node_id in unknown if node_id not in self._passages]
        self.dropped.update(gone)
        return not gone

    def select(self, legs: Sequence[RankedLeg], goal: int) -> list[Window]:
        """The best ``goal`` windows, or fewer when the legs found no more.

        Reads only as deep into the ranking as that takes. A node further down that does not
        count can still hold its place in the ranks of its leg; where that must not be, verify
        the leg's nodes before.
        """
        depth = goal
        while True:
            ranking = fuse(legs, k=self._settings.rrf_k, without=self.dropped)
            if not self.verify(node.node_id for node in ranking[:depth]):
                continue  # others moved up
            windows = self._windows(ranking[:depth], goal)
            if len(windows) >= goal or depth >= len(ranking):
                return windows
            depth *= 2

    def _inside(self, passage: Passage) -> bool:
        scope = self._scope
        return passage.kb_name in scope.kbs or passage.document_id in scope.documents

    def _windows(self, ranking: Sequence[FusedNode], goal: int) -> list[Window]:
        hits = [(node, self._passages[node.node_id]) for node in ranking]
        keys = {(passage.version_id, passage.section) for _, passage in hits}
        self._sections |= section_chunks(self._conn, keys - self._sections.keys())
        windows = Windows(self._settings.expand_chars)
        for node, passage in hits:
            if len(windows) == goal:
                break
            windows.add(node, passage, self._sections[passage.version_id, passage.section])
        return windows.in_order()


def to_hits(conn: Connection, windows: Sequence[Window]) -> list[Hit]:
    """The windows as hits, with the document's exact text between their offsets."""
    wide = [window for window in windows if window.first != window.last]
    texts = span_texts(conn, [_span(window) for window in wide]) if wide else {}
    return [_hit(window, texts.get(_span(window), window.passage.text)) for window in windows]


def _span(window: Window) -> tuple[str, int, int]:
    return window.passage.version_id, window.start, window.end


def _hit(window: Window, text: str) -> Hit:
    node = window.node
    return replace(
        passage_hit(window.passage),
        node_id=node.node_id,
        text=text,
        score=node.score,
        start=window.start,
        end=window.end,
        why=node.why,
    )


def passage_hit(passage: Passage) -> Hit:
    """A passage by itself: one that was asked for, not ranked."""
    return Hit(
        node_id=passage.node_id,
        document_id=passage.document_id,
        kb_name=passage.kb_name,
        text=passage.text,
        score=1.0,
        start=passage.start,
        end=passage.end,
        path=passage.path,
        level=passage.level,
        summary=passage.summary,
        title=passage.title,
        source_uri=passage.source_uri,
        source_type=passage.source_type,
        page=passage.page,
    )
