"""Quantiser parameters that all processes of a deployment share."""

from __future__ import annotations

import logging

from sqlalchemy import select, update

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import vector_collections as collections
from eagle_rag_core.errors import StorageError
from eagle_rag_core.vectors.local import quantised
from eagle_rag_core.vectors.local.arrays import Floats
from eagle_rag_core.vectors.local.quantised import Quantised, Trained
from eagle_rag_core.vectors.store import Collection

logger = logging.getLogger(__name__)


class Quantiser:
    """Quantises matrices of one collection.

    The first process that needs parameters learns them from its rows and stores them with the
    collection; all others use the same. Once more when the collection has become large enough
    for lists.
    """

    def __init__(self, catalog: Catalog, collection: Collection) -> None:
        self._catalog = catalog
        self._name = collection.name
        self._dim = collection.dim
        self._row = (
            collections.c.namespace == collection.namespace,
            collections.c.name == collection.name,
        )
        self._selected = select(collections.c.trained).where(*self._row)
        self._trained: Trained | None = None

    def __call__(self, dense: Floats) -> Quantised:
        lists = len(dense) >= quantised.CLUSTER_FROM
        if not _serves(self._trained, lists):
            self._trained = self._stored()
        if self._trained is None or not _serves(self._trained, lists):
            self._trained = self._learnt(dense)
        # A smaller part of a large collection stays one list.
        return quantised.quantise(
            dense, self._trained if lists else self._trained.without_centroids()
        )

    def _stored(self) -> Trained | None:
        with self._catalog.read() as connection:
            return self._parsed(connection.execute(self._selected).scalar_one_or_none())

    def _parsed(self, data: bytes | None) -> Trained | None:
        return Trained.from_bytes(data, self._dim) if data else None

    def _learnt(self, dense: Floats) -> Trained:
        former = self._trained
        own = quantised.train(dense, former)
        held = collections.c.trained
        unchanged = held.is_(None) if former is None else held == former.to_bytes()
        replacing = update(collections).where(*self._row, unchanged)
        try:
            with self._catalog.write() as tx:
                tx.execute(replacing.values(trained=own.to_bytes()))
                first = self._parsed(tx.execute(self._selected).scalar_one_or_none())
        except StorageError:
            # A search must not fail for this; other parameters cost a little recall at most.
            logger.warning("Quantiser parameters of %s were not stored.", self._name)
            return own
        return first if first and _serves(first, bool(len(own.centroids))) else own


def _serves(trained: Trained | None, lists: bool) -> bool:
    return trained is not None and (not lists or len(trained.centroids) > 0)
