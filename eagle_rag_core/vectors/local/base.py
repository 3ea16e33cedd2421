"""The saved base: a snapshot of a collection as a file that all processes map.

It holds what one would otherwise read from the catalog and index anew at every start, as of a
position of the feed; each process adds what came later. Never a source of truth: a base that
cannot be used is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eagle_rag_core.vectors.local import segment as segments
from eagle_rag_core.vectors.local import snapshot as snapshots
from eagle_rag_core.vectors.local.arrays import Ordinals
from eagle_rag_core.vectors.local.feed import Position
from eagle_rag_core.vectors.local.names import Names, NameTable, Numbering
from eagle_rag_core.vectors.local.postings import Postings
from eagle_rag_core.vectors.local.quantised import Quantised
from eagle_rag_core.vectors.local.sections import Contents, Writer
from eagle_rag_core.vectors.local.segment import Quantise, Segment
from eagle_rag_core.vectors.local.snapshot import Part, Snapshot
from eagle_rag_core.vectors.store import Collection

_COLUMNS = ("node_ids", "versions", "documents", "kbs", "lengths", "present")
_POSTINGS = ("terms", "starts", "rows", "counts")
_NAMES = ("kbs", "documents", "versions", "terms")


@dataclass(frozen=True, slots=True)
class Base:
    """A base that was opened.

    :param position: of the feed, whose changes up to there are in it.
    :param mark: what the feed says there; another catalog says something else.
    """

    position: Position
    mark: str
    snapshot: Snapshot

    @property
    def segment(self) -> Segment:
        return self.snapshot.parts[0].segment


def write(
    writer: Writer,
    collection: Collection,
    snapshot: Snapshot,
    position: Position,
    mark: str,
    quantise: Quantise,
) -> None:
    """Save a snapshot that has rows: only those that are alive, and only their names.

    :raises OSError: it cannot be written.
    """
    pieces = [(part.segment, part.alive) for part in snapshot.parts]
    dense = None
    if collection.dim:
        shape = (snapshot.live, collection.dim)
        writer.put_blocks("dense", np.dtype(np.float32), shape, segments.vectors(pieces))
        dense = writer.mapped("dense")
    whole = segments.assembled(pieces, dense, quantise)
    long = {}
    for name in _NAMES:
        used, whole = _renumbered(whole, name)
        table: NameTable = getattr(snapshot.names, name).table(used)
        writer.put(f"names.{name}.texts", table.texts)
        writer.put(f"names.{name}.numbers", table.numbers)
        long[name] = dict(table.long)
    for name in _COLUMNS:
        writer.put(name, getattr(whole, name))
    for name in _POSTINGS:
        writer.put(f"postings.{name}", getattr(whole.postings, name))
    if whole.quantised is not None:
        for name, array in whole.quantised.arrays.items():
            writer.put(f"quantised.{name}", array)
    writer.seal(
        {
            "collection": collection.name,
            "namespace": collection.namespace,
            "dim": collection.dim,
            "generation": position.generation,
            "head": position.head,
            "mark": mark,
            "long": long,
        }
    )


def opened(contents: Contents, collection: Collection) -> Base | None:
    """The base in a file, or None when it is not the collection's."""
    about, arrays = contents
    theirs = (about.get("namespace"), about.get("collection"), about.get("dim"))
    if theirs != (collection.namespace, collection.name, collection.dim):
        return None
    names = Names(**{name: _numbering(name, arrays, about["long"][name]) for name in _NAMES})
    segment = Segment(
        **{name: arrays[name] for name in _COLUMNS},
        postings=Postings(*(arrays[f"postings.{name}"] for name in _POSTINGS)),
        dense=arrays.get("dense"),
        quantised=_quantised(arrays),
    )
    return Base(
        Position(about["generation"], about["head"]),
        about["mark"],
        snapshots.of(names, [Part.whole(segment)]),
    )


def _renumbered(segment: Segment, name: str) -> tuple[Ordinals, Segment]:
    """The ordinals of one kind that a segment uses, and the segment with their places instead."""
    if name == "terms":
        used = segment.postings.terms
        places = np.arange(len(used), dtype=np.int32)
        return used, replace(segment, postings=replace(segment.postings, terms=places))
    column = getattr(segment, name)
    used = np.unique(column)
    changes: dict[str, Any] = {name: np.searchsorted(used, column).astype(np.int32)}
    if name == "kbs":
        changes["present"] = np.arange(len(used), dtype=np.int32)
    return used, replace(segment, **changes)


def _numbering(name: str, arrays: Any, long: dict[str, int]) -> Numbering:
    return Numbering(
        NameTable(arrays[f"names.{name}.texts"], arrays[f"names.{name}.numbers"], long)
    )


def _quantised(arrays: Any) -> Quantised | None:
    prefix = "quantised."
    own = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
    return Quantised.of(own) if own else None
