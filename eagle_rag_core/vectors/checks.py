"""Checks both backends make before they store or search anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eagle_rag_core.vectors.store import Collection, VersionRows

if TYPE_CHECKING:
    from eagle_rag_core.vectors.store import Vector


def check_rows(collection: Collection, rows: VersionRows) -> None:
    """Refuse rows that would poison a collection.

    :raises ValueError: lengths differ, the vectors have another shape, or one is not finite.
    """
    import numpy as np

    if len(rows.tokens) != len(rows.node_ids):
        raise ValueError(f"{len(rows.node_ids)} nodes but {len(rows.tokens)} token lists")
    if not collection.dim:
        return
    expected = (len(rows.node_ids), collection.dim)
    if rows.dense is None or rows.dense.shape != expected:
        shape = None if rows.dense is None else rows.dense.shape
        raise ValueError(f"vectors of shape {shape} where {expected} is needed")
    if not np.isfinite(rows.dense).all():
        raise ValueError("a vector is not finite")


def checked_query(collection: Collection, vector: Vector) -> Vector:
    """The query vector as float32.

    :raises ValueError: it has another length than the collection's, or is not finite.
    """
    import numpy as np

    query = np.asarray(vector, np.float32)
    if query.shape != (collection.dim,):
        raise ValueError(f"a query of shape {query.shape} where ({collection.dim},) is needed")
    if not np.isfinite(query).all():
        raise ValueError("the query vector is not finite")
    return query
