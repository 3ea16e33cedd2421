"""How long a text is for a language model, without its tokenizer."""

from __future__ import annotations

import json
from typing import Any


def estimate_json_tokens(payload: Any) -> int:
    """Tokens of JSON-like data as it is sent: without blanks, letters unescaped."""
    return estimate_tokens(json.dumps(payload, ensure_ascii=False, separators=(",", ":")))


def estimate_tokens(text: str) -> int:
    """Tokens of ``text`` as a cautious estimate: 4 ASCII characters or 1 CJK character each.

    CJK takes 3 bytes a character in UTF-8, so half the surplus of bytes counts those characters.
    """
    if text.isascii():
        return len(text) // 4 + 1
    wide = (len(text.encode("utf-8", "surrogatepass")) - len(text)) // 2
    return max(len(text) - wide, 0) // 4 + wide + 1
