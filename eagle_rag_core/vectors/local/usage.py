"""What an index takes of memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from eagle_rag_core.vectors.local.index import Held
from eagle_rag_core.vectors.local.segment import Segment
from eagle_rag_core.vectors.store import Usage

#: A name in a dictionary, roughly.
_NAME = 150


def usage(held: Held) -> Usage:
    """Of one index; names and objects beside the arrays are estimated."""
    mapped = private = 0
    for part in held.snapshot.parts:
        size = sum(array.nbytes for array in _arrays(part.segment))
        if held.base is not None and part.segment is held.base.segment:
            mapped += size
        else:
            private += size
        private += 0 if part.alive is None else part.alive.nbytes
    names = held.snapshot.names
    own = sum(map(len, (names.kbs, names.documents, names.versions, names.terms)))
    return Usage(rows=held.snapshot.live, mapped=mapped, private=private + own * _NAME)


def _arrays(segment: Segment) -> Iterator[np.ndarray[Any, Any]]:
    """All arrays of a segment."""
    pieces: list[Any] = [segment, segment.postings]
    for piece in pieces:
        for field in fields(piece):
            value = getattr(piece, field.name)
            if isinstance(value, np.ndarray):
                yield value
    if segment.quantised is not None:
        yield from segment.quantised.arrays.values()
