"""Scopes as masks over the rows of a snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eagle_rag_core.types import Scope
from eagle_rag_core.vectors.local.arrays import Bools
from eagle_rag_core.vectors.local.names import Numbering
from eagle_rag_core.vectors.local.snapshot import Part, Snapshot


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows of one part that a scope holds.

    :param mask: None when it holds all rows of the segment.
    """

    part: Part
    mask: Bools | None
    count: int


@dataclass(frozen=True, slots=True)
class View:
    """A snapshot as one scope sees it.

    :param kbs: mask over ordinals: the knowledge bases that have a row in the scope.
    """

    selections: Sequence[Selection]
    kbs: Bools


def view(snapshot: Snapshot, scope: Scope) -> View:
    kbs = _mask(snapshot.names.kbs, scope.kbs, len(snapshot.kb_rows))
    documents = _mask(snapshot.names.documents, scope.documents, snapshot.names.documents.size)
    selections = [_select(part, kbs, documents) for part in snapshot.parts]
    touched = kbs.copy()
    if documents.any():
        for selection in selections:
            touched[selection.part.segment.kbs[selection.mask]] = True
    return View(selections, touched)


def in_kbs(part: Part, kbs: Bools) -> Bools | None:
    """Mask of the part's rows in the given knowledge bases; None when those are all rows."""
    segment = part.segment
    if kbs[segment.present].all():
        return part.alive
    inside = kbs[segment.kbs]
    return inside if part.alive is None else inside & part.alive


def _select(part: Part, kbs: Bools, documents: Bools) -> Selection:
    mask = in_kbs(part, kbs)
    if mask is part.alive:
        return Selection(part, mask, part.live)
    assert mask is not None
    if documents.any():
        chosen = documents[part.segment.documents]
        mask = mask | (chosen if part.alive is None else chosen & part.alive)
    return Selection(part, mask, int(np.count_nonzero(mask)))


def _mask(numbering: Numbering, names: frozenset[str], size: int) -> Bools:
    """:param size: of the mask; names numbered later, by a newer snapshot, are left out."""
    mask = np.zeros(size, np.bool_)
    if names:
        numbers = numbering.numbers(list(names))
        mask[numbers[(numbers >= 0) & (numbers < size)]] = True
    return mask
