"""What an answer is made from: passages, regions of pages, or both in one ranking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from eagle_rag_core.query.answer import Source
from eagle_rag_core.query.router import VISUAL
from eagle_rag_core.retrieval.fusion import RankedLeg, fuse
from eagle_rag_core.retrieval.orchestrator import Orchestrator, SearchOutcome
from eagle_rag_core.types import Hit, Scope, ScoredNode, Step, TileKind

if TYPE_CHECKING:
    from eagle_rag_core.retrieval.visual import VisualHit, VisualOutcome, VisualRetriever

#: Beside passages, a page and its sections say nothing more.
_BESIDE_TEXT: Final = (TileKind.FIGURE, TileKind.TABLE, TileKind.IMAGE)
#: Of two that are equally good, the one that shows comes first where pictures were asked for.
_VISUAL_WEIGHT: Final = 1.05
#: The picture of a region by its ``image_id``, as JPEG; b"" where it has none.
Show = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was found, best first.

    :param found: regions are among its hits; their offsets are within their own text.
    :param regions: those, by the id of their hit.
    """

    found: SearchOutcome
    regions: Mapping[str, VisualHit] = field(default_factory=dict)

    def page_at(self, node_id: str, offset: int) -> int:
        """The page a quote of a hit stands on, 0 where there is none."""
        region = self.regions.get(node_id)
        return region.page if region else self.found.page_at(node_id, offset)

    def located(self, source: Source) -> Source:
        """A citation of a region with its place on the page instead of offsets in the text."""
        region = self.regions.get(source.node_id)
        if region is None:
            return source
        return replace(source, start=0, end=0, image_id=region.image_id, position=region.position)


class EvidenceFinder:
    """Searches what a mode asks for.

    :param visual: finds regions; None without a visual index.
    """

    def __init__(self, text: Orchestrator, visual: VisualRetriever | None = None) -> None:
        self._text = text
        self._visual = visual

    @property
    def seeing(self) -> bool:
        """Whether there is a visual index."""
        return self._visual is not None

    def find(
        self, mode: str, query: str, scope: Scope, limit: int, deadline: float, image: bytes = b""
    ) -> Evidence:
        """The best passages and regions inside ``scope``.

        :param image: a picture the question is about, where pixels are compared.
        :raises EagleError: the search failed altogether.
        """
        if self._visual is None or mode == "text":
            return Evidence(self._text.search(query, scope, limit, deadline=deadline))
        compared = image if self._visual.sees else b""
        if mode == VISUAL:
            seen = self._visual.search(query, scope, limit, image=compared, deadline=deadline)
            return _evidence(seen)
        passages = self._text.search(query, scope, limit, deadline=deadline)
        seen = self._visual.search(
            query, scope, limit, image=compared, deadline=deadline, kinds=_BESIDE_TEXT
        )
        return _both(passages, seen, limit)


def _evidence(seen: VisualOutcome) -> Evidence:
    regions = {hit.image_id: hit for hit in seen.hits}
    hits = tuple(map(_as_passage, seen.hits))
    return Evidence(SearchOutcome(hits, seen.steps, seen.terms, seen.similarity), regions)


def _both(passages: SearchOutcome, seen: VisualOutcome, limit: int) -> Evidence:
    of_regions = _evidence(seen)
    hits = {hit.node_id: hit for hit in (*passages.hits, *of_regions.found.hits)}
    ranking = fuse(
        [
            RankedLeg("text", [ScoredNode(hit.node_id, hit.score) for hit in passages.hits]),
            RankedLeg(
                VISUAL,
                [ScoredNode(hit.image_id, hit.score) for hit in seen.hits],
                _VISUAL_WEIGHT,
            ),
        ]
    )[:limit]
    fused = tuple(replace(hits[node.node_id], score=node.score) for node in ranking)
    similar = [value for value in (passages.similarity, seen.similarity) if value is not None]
    found = replace(
        passages,
        hits=fused,
        steps=(*passages.steps, *(_named(step) for step in seen.steps)),
        similarity=max(similar, default=None),
    )
    return Evidence(found, of_regions.regions)


def _named(step: Step) -> Step:
    """A step of the visual search beside those of the search for passages."""
    return replace(step, name=f"{VISUAL}_{step.name}")


def _as_passage(region: VisualHit) -> Hit:
    """A region as what can be quoted: its caption, and what can be read on it."""
    parts = [region.caption] if region.caption not in region.text else []
    text = "\n".join((*parts, region.text)).strip()
    return Hit(
        node_id=region.image_id,
        document_id=region.document_id,
        kb_name=region.kb_name,
        text=text,
        score=region.score,
        start=0,
        end=len(text),
        path=region.path,
        title=region.title,
        source_uri=region.source_uri,
        source_type=region.source_type,
        page=region.page,
    )
