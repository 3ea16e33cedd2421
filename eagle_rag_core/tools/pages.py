"""Pages that fit into an answer: what does not comes on the next page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from eagle_rag_core.models.token_counts import estimate_json_tokens

_Page = TypeVar("_Page", bound=Mapping[str, Any])


def fitting(page: Callable[[int], _Page], limit: int, max_tokens: int) -> _Page:
    """The page of ``limit`` items, or a smaller one if that is too long.

    :param page: makes the page of so many ``items``, with the cursor of the one after it.
    """
    while True:
        found = page(limit)
        tokens, items = estimate_json_tokens(found), len(found["items"])
        if tokens <= max_tokens or items <= 1:
            return found
        limit = max(1, min(items - 1, items * max_tokens // tokens))
