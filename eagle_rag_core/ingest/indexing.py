"""The rows of a document version in all its collections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle_rag_core.ingest.embedding import embed, stored_vectors
from eagle_rag_core.ingest.views import IndexedView, MadeVersion

if TYPE_CHECKING:
    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.ingest.batches import FinishedBatches
    from eagle_rag_core.ingest.matrix_format import MatrixDraft
    from eagle_rag_core.vectors.store import Collection, Vector, VectorStore, VersionRows

#: Vectors by text that rows of a view's collection have already.
Known = Callable[[IndexedView, "Collection"], "dict[str, Vector]"]


@dataclass(frozen=True, slots=True)
class IndexedRows:
    """The rows of a version in one collection.

    :param kind: of the collection.
    :param matrices: what its vectors were pooled from; None where they are the model's own.
    """

    kind: str
    collection: Collection
    rows: VersionRows
    matrices: MatrixDraft | None = None


def index_version(
    views: Sequence[IndexedView],
    made: MadeVersion,
    known: Known,
    report: Callable[[float], None] = lambda done: None,
    finished: FinishedBatches | None = None,
) -> list[IndexedRows]:
    """Embed what a version contributes to the collections of views.

    Collections of the same embedder share their vectors, so that no text is embedded twice.

    :param report: called with the part that is done, 0..1; what it raises ends the work.
    :raises EagleError: a view cannot take the version, or its embedder fails.
    """
    contributions = [
        (view, found) for view in views if (found := view.contribution(made)) is not None
    ]
    total = sum(len(found.ids) for _, found in contributions)
    done = 0
    by_embedder: dict[str, dict[str, Vector]] = {}
    indexed: list[IndexedRows] = []
    for view, found in contributions:
        dense = matrices = None
        share = _share(report, done, len(found.ids), total)
        batches = finished.of(found.collection) if finished else None
        if found.matrices is not None:
            dense, matrices = found.matrices.make(share, batches), found.matrices.draft
        elif found.collection.dim:
            vectors = by_embedder.setdefault(found.embedder.fingerprint, {})
            if not vectors.keys() >= set(found.texts):
                vectors.update(known(view, found.collection))
            dense = embed(found.embedder, found.texts, vectors, share, batches)
            vectors.update(zip(found.texts, dense, strict=True))
        done += len(found.ids)
        rows = found.rows(made, dense)
        indexed.append(IndexedRows(view.kind, found.collection, rows, matrices))
    return indexed


def related_vectors(catalog: Catalog, store: VectorStore, related: Sequence[str]) -> Known:
    """Those of other versions."""

    def known(view: IndexedView, collection: Collection) -> dict[str, Vector]:
        with catalog.read() as conn:
            texts = view.texts_of(conn, related)
        return stored_vectors(store, collection, related, texts)

    return known


def _share(
    report: Callable[[float], None], before: int, own: int, total: int
) -> Callable[[float], None]:
    """Reports the progress of one contribution as that of all."""
    return lambda part: report((before + part * own) / max(1, total))
