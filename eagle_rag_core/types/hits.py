"""What retrieval returns."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ScoredNode:
    """A chunk found by one leg. ``score`` is comparable within that leg only."""

    node_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage of evidence.

    ``text`` is the chunk widened to its neighbours inside the section;
    ``start``..``end`` are its character offsets in the document.

    :param score: fused rank score scaled to 0..1 within one answer; rank is the signal.
    :param why: rank of the passage in each leg that found it, 1-based.
    """

    node_id: str
    document_id: str
    kb_name: str
    text: str
    score: float
    start: int
    end: int
    path: str = ""
    level: int = 0
    summary: str = ""
    title: str = ""
    source_uri: str = ""
    source_type: str = ""
    page: int = 0
    why: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a query, for the caller to see what happened.

    :param status: ``ok``, ``skipped`` or ``failed``.
    :param detail: one sentence; never a foreign exception's text.
    """

    name: str
    status: str
    detail: str = ""
    count: int = 0
    elapsed_ms: float = 0.0
