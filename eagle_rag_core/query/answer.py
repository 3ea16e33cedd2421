"""An answer and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from eagle_rag_core.types import Step


@dataclass(frozen=True, slots=True)
class Source:
    """One citation: the words the answer quotes, and where they stand.

    :param n: number of the citation in the answer, as in ``[1]``.
    :param node_id: the passage the quote was found in.
    :param start: character offset of the quote in the document's text; ``end`` is exclusive.
    :param page: page the quote starts on, 0 where the format has no pages.
    :param quote: exactly the document's text from ``start`` to ``end``.
    :param score: score of the passage, comparable within this answer only.
    :param image_id: of the region of a page, or picture, that was quoted; then ``start`` and
        ``end`` are 0. "" for a passage.
    :param position: of that region, ``x0,y0,x1,y1`` in shares of the page.
    """

    n: int
    node_id: str
    document_id: str
    kb_name: str
    title: str
    source_uri: str
    path: str
    page: int
    start: int
    end: int
    quote: str
    score: float
    image_id: str = ""
    position: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """How a query was answered.

    :param mode: the evidence used: ``text``, ``visual`` or ``hybrid``.
    :param synthesis: ``extractive``: the answer quotes the documents word for word;
        ``generated``: a language model wrote it, and the sources support it.
    """

    mode: str
    reason: str
    synthesis: str = "extractive"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its evidence; ``sources`` is empty when nothing relevant was found."""

    answer: str
    sources: tuple[Source, ...]
    route: Route
    steps: tuple[Step, ...]
