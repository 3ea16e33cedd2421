"""Choosing the kind of evidence a query is answered from."""

from __future__ import annotations

from dataclasses import dataclass

from eagle_rag_core.errors import EagleError, ErrorCode, InvalidArgument
from eagle_rag_core.query.answer import Route
from eagle_rag_core.types import Step

MODES = ("auto", "text", "visual", "hybrid")
VISUAL = "visual"

_NO_VISUAL = "This deployment has no visual index"


@dataclass(frozen=True, slots=True)
class Decision:
    """A route, and the steps that were decided against."""

    route: Route
    skipped: tuple[Step, ...] = ()


def choose_route(mode: str) -> Decision:
    """Decide by rules: what was asked for, as far as this deployment has it.

    :raises InvalidArgument: an unknown mode.
    :raises EagleError: ``MODE_UNAVAILABLE``: only visual evidence was asked for and there is none.
    """
    if mode == "text":
        return Decision(Route("text", "Text was asked for."))
    if mode == "auto":
        return Decision(Route("text", f"{_NO_VISUAL}; the text of the documents is searched."))
    if mode == "hybrid":
        skipped = Step(VISUAL, "skipped", f"{_NO_VISUAL}.")
        return Decision(Route("text", f"{_NO_VISUAL}; only text could be searched."), (skipped,))
    if mode == VISUAL:
        raise EagleError(
            f"{_NO_VISUAL}. Use mode 'text' or 'auto', which search the text of the documents.",
            code=ErrorCode.MODE_UNAVAILABLE,
        )
    raise InvalidArgument(f"mode must be one of {', '.join(MODES)}.")
