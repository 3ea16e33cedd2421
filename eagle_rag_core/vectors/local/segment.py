"""Segments: immutable blocks of indexed rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from eagle_rag_core.vectors.local import postings as inverted
from eagle_rag_core.vectors.local.arrays import Bools, Bytes, Floats, Ordinals
from eagle_rag_core.vectors.local.names import Names, Numbering
from eagle_rag_core.vectors.local.postings import Postings
from eagle_rag_core.vectors.local.quantised import Quantised
from eagle_rag_core.vectors.local.rows import StoredRow

#: Makes the quantised form of a matrix of unit rows.
Quantise: TypeAlias = Callable[[Floats], Quantised]

#: Rows copied at a time.
_BLOCK = 16_384
#: From this many rows on, reading quantised vectors first is quicker than all exact ones.
QUANTISE_FROM = 20_000


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows with everything a search reads. Ordinals are those of the index's names.

    :param node_ids: UTF-8, fixed width; their byte order is the order of the text.
    :param lengths: number of tokens; float32 for BM25's arithmetic.
    :param present: the distinct ordinals in ``kbs``.
    :param dense: shape ``(rows, dim)``; None in a lexical-only collection.
    :param quantised: of ``dense``, in large segments.
    """

    node_ids: Bytes
    versions: Ordinals
    documents: Ordinals
    kbs: Ordinals
    lengths: Floats
    postings: Postings
    present: Ordinals
    dense: Floats | None = None
    quantised: Quantised | None = None

    def __len__(self) -> int:
        return len(self.node_ids)


#: A segment with the mask of its rows that are alive, None for all.
Piece: TypeAlias = tuple[Segment, Bools | None]


def build(rows: Sequence[StoredRow], names: Names, dim: int) -> Segment:
    """Index rows as the catalog keeps them; new names are numbered.

    :raises ValueError: a vector is not of length ``dim``.
    """
    tokens = [row.tokens.split(" ") if row.tokens else [] for row in rows]
    lengths = np.fromiter(map(len, tokens), np.int32, len(rows))
    names.terms.prepare(chain.from_iterable(tokens))
    terms = _numbered(names.terms, chain.from_iterable(tokens))
    kbs = _numbered(names.kbs, (row.kb_name for row in rows))
    return Segment(
        node_ids=np.array([row.node_id.encode() for row in rows], np.bytes_),
        versions=_numbered(names.versions, (row.version_id for row in rows)),
        documents=_numbered(names.documents, (row.document_id for row in rows)),
        kbs=kbs,
        lengths=lengths.astype(np.float32),
        postings=inverted.build(terms, lengths),
        present=np.unique(kbs),
        dense=_matrix(rows, dim) if dim else None,
    )


def _numbered(numbering: Numbering, names: Iterable[str]) -> Ordinals:
    return np.fromiter(map(numbering.__getitem__, names), np.int32)


def _matrix(rows: Sequence[StoredRow], dim: int) -> Floats:
    data = b"".join(row.dense or b"" for row in rows)
    if len(data) != 4 * dim * len(rows):
        raise ValueError(f"a stored vector is not of length {dim}")
    return np.frombuffer(data, "<f4").astype(np.float32, copy=False).reshape(len(rows), dim)


def merge(parts: Sequence[Piece], quantise: Quantise) -> Segment:
    """One segment of the rows that are alive, in the order of the parts."""
    dense = None if parts[0][0].dense is None else np.concatenate(list(vectors(parts)))
    return assembled(parts, dense, quantise)


def vectors(parts: Sequence[Piece]) -> Iterator[Floats]:
    """The vectors of the rows that are alive, in blocks."""
    for segment, alive in parts:
        assert segment.dense is not None
        for start in range(0, len(segment), _BLOCK):
            block = segment.dense[start : start + _BLOCK]
            yield block if alive is None else block[alive[start : start + _BLOCK]]


def assembled(parts: Sequence[Piece], dense: Floats | None, quantise: Quantise) -> Segment:
    """One segment of the rows that are alive, whose vectors are joined already."""
    numbers: list[Ordinals] = []
    total = 0
    for segment, alive in parts:
        mask = np.ones(len(segment), np.bool_) if alive is None else alive
        numbers.append(np.where(mask, total + np.cumsum(mask) - 1, -1).astype(np.int32))
        total += int(mask.sum())

    def join(column: str) -> Any:
        pieces = [(getattr(segment, column), alive) for segment, alive in parts]
        return np.concatenate([piece if m is None else piece[m] for piece, m in pieces])

    kbs = join("kbs")
    return Segment(
        node_ids=join("node_ids"),
        versions=join("versions"),
        documents=join("documents"),
        kbs=kbs,
        lengths=join("lengths"),
        postings=inverted.merge(
            [(segment.postings, n) for (segment, _), n in zip(parts, numbers, strict=True)]
        ),
        present=np.unique(kbs),
        dense=dense,
        quantised=quantise(dense) if dense is not None and total >= QUANTISE_FROM else None,
    )
