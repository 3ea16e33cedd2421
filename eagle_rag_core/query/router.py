"""Choosing the kind of evidence a query is answered from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from eagle_rag_core.errors import EagleError, ErrorCode, InvalidArgument
from eagle_rag_core.query.answer import Route
from eagle_rag_core.types import Step

MODES = ("auto", "text", "visual", "hybrid")
VISUAL = "visual"
_NO_VISUAL = "This deployment has no visual index"
#: Words that ask for what is drawn, but not "figure out" and "table of contents".
_DRAWN: Final = re.compile(
    r"\b(?:figures?(?!\s+out\b)|figs?\.|charts?|diagrams?|tables?(?!\s+of\s+contents\b)|screenshots?"
    r"|graphs?|plots?|pictures?|photos?|photographs?|images?|illustrations?|drawings?|flowcharts?"
    r"|infographics?|schematics?|abbildung(?:en)?|tabellen?|diagramme?|bilde?r?)\b",
    re.IGNORECASE,
)
#: Of Chinese: signs that also stand in words for something else are left out in those.
_DRAWN_CHINESE: Final = re.compile(
    r"(?<![企意试地力贪版])图(?!书|案馆|谋)|(?<![代发外手仪钟课])表(?![示达明面现扬态决彰皮哥弟姐妹])|截屏|照片|屏幕快照"
)


@dataclass(frozen=True, slots=True)
class Decision:
    """A route, and the steps that were decided against."""

    route: Route
    skipped: tuple[Step, ...] = ()


def choose_route(mode: str, query: str = "", *, seeing: bool = False) -> Decision:
    """Decide by rules: what was asked for, as far as this deployment has it.

    :param seeing: there is a visual index.
    :raises InvalidArgument: an unknown mode.
    :raises EagleError: ``MODE_UNAVAILABLE``: only visual evidence was asked for and there is none.
    """
    if mode not in MODES:
        raise InvalidArgument(f"mode must be one of {', '.join(MODES)}.")
    if not seeing:
        return _without_visual(mode)
    if mode != "auto":
        asked = {"text": "Text", VISUAL: "Visual evidence", "hybrid": "Text and visual evidence"}
        verb = "were" if mode == "hybrid" else "was"
        return Decision(Route(mode, f"{asked[mode]} {verb} asked for."))
    found = _DRAWN.search(query) or _DRAWN_CHINESE.search(query)
    if found is None:
        return Decision(Route("text", "Nothing in the question asks for figures or tables."))
    return Decision(Route("hybrid", f"The question says {found[0]!r}: figures and tables count."))


def _without_visual(mode: str) -> Decision:
    if mode == "text":
        return Decision(Route("text", "Text was asked for."))
    if mode == "auto":
        return Decision(Route("text", f"{_NO_VISUAL}; the text of the documents is searched."))
    if mode == "hybrid":
        skipped = Step(VISUAL, "skipped", f"{_NO_VISUAL}.")
        return Decision(Route("text", f"{_NO_VISUAL}; only text could be searched."), (skipped,))
    raise EagleError(
        f"{_NO_VISUAL}. Use mode 'text' or 'auto', which search the text of the documents.",
        code=ErrorCode.MODE_UNAVAILABLE,
    )
