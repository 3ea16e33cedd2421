"""Which of several parsers reads a source."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from eagle_rag_core.types.extensions import Parser

logger = logging.getLogger(__name__)

#: First bytes of a source that parsers look at.
HEAD_BYTES = 65_536


def best_parser(parsers: Sequence[Parser], head: bytes, name: str) -> Parser | None:
    """The parser with the highest confidence, the first of equals; ``None`` when none has any."""
    best: Parser | None = None
    highest = 0.0
    for parser in parsers:
        confidence = _confidence(parser, head, name)
        if confidence > highest:
            best, highest = parser, confidence
    return best


def _confidence(parser: Parser, head: bytes, name: str) -> float:
    """A parser that fails to look at a source must not keep the others from it."""
    try:
        return min(1.0, max(0.0, float(parser.sniff(head, name))))
    except Exception:
        logger.warning("the parser %r failed to sniff a source", parser.name, exc_info=True)
        return 0.0
