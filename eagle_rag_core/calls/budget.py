"""Fitting an answer into the caller's context: long texts are cut and say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.models.token_counts import estimate_json_tokens

#: Keys whose string values may be cut; everything else is an identifier or a number.
_CUTTABLE = ("text", "answer", "snippet", "definition", "summary")
_SHORTEST = 200
_ELLIPSIS = "…"


@dataclass(slots=True)
class _Text:
    """A cuttable string and where it sits in the payload."""

    holder: dict[str, Any]
    key: str

    @property
    def value(self) -> str:
        return str(self.holder[self.key])

    def cut(self, length: int) -> None:
        if len(self.value) <= length:
            return
        self.holder[self.key] = self.value[: length - 1].rstrip() + _ELLIPSIS
        metadata = self.holder.get("metadata")
        flagged = metadata if isinstance(metadata, dict) else self.holder
        flagged["truncated"] = True


def fit(payload: Any, max_tokens: int) -> Any:
    """Cut the longest texts of a JSON-like payload until it fits ``max_tokens``.

    Every text keeps at least 200 characters; nothing is dropped. Cut texts end in "…" and their
    object (or its ``metadata``) says ``truncated: true``.

    :param payload: JSON-like data owned by the caller of this function; changed in place.
    :raises EagleError: it cannot fit even so; says to ask for fewer results.
    """
    if estimate_json_tokens(payload) <= max_tokens:
        return payload
    texts = list(_texts(payload))
    fixed = estimate_json_tokens(payload) - sum(estimate_json_tokens(text.value) for text in texts)
    lengths = sorted(len(text.value) for text in texts)
    low, high = _SHORTEST, lengths[-1] if lengths else _SHORTEST
    while low < high:  # the largest common length at which all texts fit
        middle = (low + high + 1) // 2
        # The slack pays for ellipses, flags and rounding.
        cost = fixed + sum(estimate_json_tokens(text.value[:middle]) + 8 for text in texts)
        low, high = (middle, high) if cost <= max_tokens else (low, middle - 1)
    for text in texts:
        text.cut(low)
    if estimate_json_tokens(payload) > max_tokens:
        raise EagleError(
            "The answer does not fit mcp.max_result_tokens even with shortened texts; "
            "ask for fewer results (top_k, limit) or a narrower scope.",
            code=ErrorCode.INVALID_ARGUMENT,
        )
    return payload


def _texts(node: Any) -> Iterator[_Text]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key in _CUTTABLE and isinstance(value, str):
                yield _Text(node, key)
            else:
                yield from _texts(value)
    elif isinstance(node, list):
        for item in node:
            yield from _texts(item)
