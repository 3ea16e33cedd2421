"""Vectors of passages, of which none is computed twice.

A vector depends on the text and the embedder alone. So the passages that a change of a document
left as they were, and those of a file that was renamed, copied or added to another knowledge
base, take the vectors that the same text has; and a document whose embedding was interrupted goes
on after its last finished batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from eagle_rag_core.types import TextEmbedder

if TYPE_CHECKING:
    from eagle_rag_core.ingest.batches import CollectionBatches
    from eagle_rag_core.vectors.store import Collection, Vector, VectorStore

#: Passages embedded at once: long enough to batch well, short enough to report and to cancel.
_BATCH = 64


def embed(
    embedder: TextEmbedder,
    texts: Sequence[str],
    known: Mapping[str, Vector] | None = None,
    report: Callable[[float], None] = lambda done: None,
    finished: CollectionBatches | None = None,
) -> Vector:
    """The vectors of texts, of which there is at least one, in their order.

    :param known: vectors by text, which need not be computed.
    :param report: called before each batch with the part that is done, 0..1; what it raises ends
        the work.
    :param finished: where batches are kept, all but the last one, for whoever has to begin again.
    """
    import numpy as np

    vectors = dict(known or {})
    # A text that repeats is embedded once.
    new = [text for text in dict.fromkeys(texts) if text not in vectors]
    for start in range(0, len(new), _BATCH):
        report(start / len(new))
        batch = new[start : start + _BATCH]
        is_last = start + _BATCH >= len(new)
        made = _batch(embedder, batch, None if is_last else finished)
        vectors.update(zip(batch, made, strict=True))
    return np.stack([vectors[text] for text in texts])


def _batch(
    embedder: TextEmbedder, texts: Sequence[str], finished: CollectionBatches | None
) -> Vector:
    """The vectors of a batch, kept if they had to be computed."""
    if finished is None:
        return embedder.embed_documents(texts)
    found = finished.find(texts)
    if found is None:
        found = embedder.embed_documents(texts)
        finished.keep(texts, found)
    return found


def stored_vectors(
    store: VectorStore,
    collection: Collection,
    version_ids: Sequence[str],
    texts: Mapping[str, str],
) -> dict[str, Vector]:
    """The vectors that versions have in a collection, by text.

    :param texts: of the rows, by id.
    """
    if not collection.dim:
        return {}
    import numpy as np

    known: dict[str, Vector] = {}
    for rows in store.read(collection, version_ids):
        if rows.dense is not None:
            for node_id, vector in zip(rows.node_ids, rows.dense, strict=True):
                if node_id in texts and np.isfinite(vector).all():
                    known[texts[node_id]] = vector
    return known
