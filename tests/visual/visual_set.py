"""The visual test set: questions with the region that answers them, and how well it is found."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from visual_samples import HERE, Place, draw_chinese_slides, draw_report

from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import COMMAND_LINE, Box, ScopeRequest

SHARED = (
    Path(os.environ.get("EAGLE_RAG_TEST_DATA", HERE.parents[1].parent / "shared" / "data"))
    / "documents"
)
#: Documents without questions, among which the others are to be found.
_BESIDE = ("code_and_formula.pdf", "multi_page.pdf", "normal_4pages.pdf", "llncsdoc.pdf")
#: Kinds whose box counts: a page's is always the same.
_REGIONS = ("figure", "table", "image")
TOP_K = 5


@dataclass(frozen=True)
class Question:
    text: str
    document_id: str
    place: Place


@dataclass(frozen=True)
class Found:
    """One hit.

    :param box: None for a passage.
    """

    document_id: str
    page: int
    box: Box | None = None
    kind: str = ""


@dataclass(frozen=True)
class Measures:
    """Shares of the questions.

    :param at_1: the first hit is on the right page; ``at_5``: one of the first five is.
    :param region_at_5: one of the first five is the region itself.
    :param overlap: of the first figure or table found on the right page, at least half with it.
    """

    questions: int
    at_1: float
    at_5: float
    region_at_1: float
    region_at_5: float
    overlap: float


def fill(library: PackLibrary, folder: Path, *, shared: bool) -> list[Question]:
    """Ingest the documents; the questions that can be asked of them."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {
        "report": (folder / "report.pdf", draw_report),
        "slides": (folder / "slides.pptx", draw_chinese_slides),
    }
    places = {name: draw(path) for name, (path, draw) in drawn.items()}
    asked: list[dict[str, Any]] = json.loads((HERE / "questions.json").read_text("utf-8"))
    names = {question["document"] for question in asked} - drawn.keys()
    files = {name: path for name, (path, _) in drawn.items()}
    if shared:
        files |= {name: SHARED / name for name in (*names, *_BESIDE)}
    ids = dict(zip(files, library.ingest(*files.values()), strict=True))
    return [
        Question(question["question"], ids[question["document"]], _place(question, places))
        for question in asked
        if question["document"] in ids
    ]


def visually(library: PackLibrary) -> Callable[[str], list[Found]]:
    """Search for regions."""

    def search(text: str) -> list[Found]:
        service = library.app.services().visual
        outcome = service.search(COMMAND_LINE, text, top_k=TOP_K, request=ScopeRequest())
        return [
            Found(hit.document_id, hit.page, Box.parse(hit.position), hit.kind.value)
            for hit in outcome.hits
        ]

    return search


def by_text(library: PackLibrary) -> Callable[[str], list[Found]]:
    """Search for passages."""

    def search(text: str) -> list[Found]:
        service = library.app.services().search
        outcome = service.search(COMMAND_LINE, text, top_k=TOP_K, request=ScopeRequest())
        return [Found(hit.document_id, hit.page) for hit in outcome.hits]

    return search


def measure(questions: Sequence[Question], search: Callable[[str], list[Found]]) -> Measures:
    """Ask every question."""
    answers = [(question, search(question.text)) for question in questions]
    on_page = [_rank(found, lambda hit, q=q: _same_page(hit, q)) for q, found in answers]
    regions = [_rank(found, lambda hit, q=q: _same_region(hit, q)) for q, found in answers]
    overlaps = [
        share
        for question, found in answers
        if (share := _first_overlap(question, found)) is not None
    ]
    return Measures(
        questions=len(answers),
        at_1=_share(rank == 1 for rank in on_page),
        at_5=_share(rank > 0 for rank in on_page),
        region_at_1=_share(rank == 1 for rank in regions),
        region_at_5=_share(rank > 0 for rank in regions),
        overlap=_share(share >= 0.5 for share in overlaps),
    )


def iou(one: Box, other: Box) -> float:
    """Intersection over union."""
    shared = one.shared(other)
    return shared / (one.area + other.area - shared)


def _place(question: dict[str, Any], places: dict[str, dict[str, Place]]) -> Place:
    if "target" in question:
        return places[question["document"]][question["target"]]
    return Place(question["page"], Box.parse(question["box"]))


def _same_page(hit: Found, question: Question) -> bool:
    return (hit.document_id, hit.page) == (question.document_id, question.place.page)


def _same_region(hit: Found, question: Question) -> bool:
    return (
        hit.box is not None
        and hit.kind in _REGIONS
        and _same_page(hit, question)
        and iou(hit.box, question.place.box) >= 0.5
    )


def _first_overlap(question: Question, found: Sequence[Found]) -> float | None:
    for hit in found:
        if hit.box is not None and hit.kind in _REGIONS and _same_page(hit, question):
            return iou(hit.box, question.place.box)
    return None


def _rank(found: Sequence[Found], right: Callable[[Found], bool]) -> int:
    """1-based; 0 when it is not there."""
    return next((rank for rank, hit in enumerate(found, 1) if right(hit)), 0)


def _share(values: Any) -> float:
    found = list(values)
    return round(sum(found) / len(found), 3) if found else 0.0
