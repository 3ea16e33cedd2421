"""Quantiser parameters that all processes of a deployment share."""

from __future__ import annotations

import logging

from sqlalchemy import select, update

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import vector_collections as collections
from eagle_rag_core.errors import StorageError
from eagle_rag_core.vectors.local.arrays import Floats
from eagle_rag_core.vectors.local.quantised import Quantised, quantise, train
from eagle_rag_core.vectors.store import Collection

logger = logging.getLogger(__name__)


class Quantiser:
    """Quantises matrices of one collection.

    The first process that needs parameters learns them from its rows and stores them with the
    collection; all others use the same.
    """

    def __init__(self, catalog: Catalog, collection: Collection) -> None:
        self._catalog = catalog
        self._name = collection.name
        self._row = (
            collections.c.namespace == collection.namespace,
            collections.c.name == collection.name,
        )
        self._selected = select(collections.c.trained).where(*self._row)
        self._trained = b""

    def __call__(self, dense: Floats) -> Quantised:
        self._trained = self._trained or self._stored() or self._learnt(dense)
        return quantise(dense, self._trained)

    def _stored(self) -> bytes:
        with self._catalog.read() as connection:
            return connection.execute(self._selected).scalar_one_or_none() or b""

    def _learnt(self, dense: Floats) -> bytes:
        own = train(dense)
        vacant = update(collections).where(*self._row, collections.c.trained.is_(None))
        try:
            with self._catalog.write() as tx:
                tx.execute(vacant.values(trained=own))
                return tx.execute(self._selected).scalar_one_or_none() or own
        except StorageError:
            # A search must not fail for this; other parameters cost a little recall at most.
            logger.warning("Quantiser parameters of %s were not stored.", self._name)
            return own
