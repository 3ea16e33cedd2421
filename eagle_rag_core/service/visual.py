"""What a deployment with a visual index offers: search for regions of pages and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from eagle_rag_core.types import Caller, ScopeRequest


class VisualHit(Protocol):
    """A region of a page, or a picture, that was found.

    :ivar position: where it lies: ``x0,y0,x1,y1``, shares of the page from its top left corner.
    :ivar score: 0..1 within one answer; rank is the signal.
    :ivar matched_by: what was compared, e.g. the text of the region.
    :ivar text: that stands there.
    """

    @property
    def image_id(self) -> str: ...
    @property
    def document_id(self) -> str: ...
    @property
    def kb_name(self) -> str: ...
    @property
    def page(self) -> int: ...
    @property
    def position(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def matched_by(self) -> str: ...
    @property
    def text(self) -> str: ...


class VisualSearch(Protocol):
    """Finds regions of pages inside what a caller may see."""

    def search(
        self, caller: Caller, query: str, *, top_k: int, request: ScopeRequest
    ) -> Sequence[VisualHit]:
        """The best regions for ``query`` inside the requested scope, best first.

        :raises NotFound: an unknown (or forbidden) knowledge base.
        :raises InvalidArgument: a bad filter.
        """
