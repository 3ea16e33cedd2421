"""From settings to where a deployment keeps things: catalog, vectors and originals.

Nothing here loads packs or models.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.engine import URL

from eagle_rag_core.blobs.s3 import S3Access
from eagle_rag_core.blobs.store import BlobStore
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.source_names import SourceNames
from eagle_rag_core.errors import InvalidArgument, StorageError
from eagle_rag_core.ingest.fetch.uris import file_uri
from eagle_rag_core.settings import Settings
from eagle_rag_core.vectors.factory import open_vector_store

if TYPE_CHECKING:
    from eagle_rag_core.vectors.store import VectorStore

_LOG = logging.getLogger(__name__)


def open_catalog(settings: Settings, *, namespace: str = "") -> Catalog:
    """The catalog, of the schema of this version.

    :param namespace: by default the deployment's.
    :raises ConfigError: ``database.url`` cannot be used.
    :raises StorageError: the database cannot be used, or a newer version wrote it.
    """
    # Not as text: the folder's name may hold what has a meaning in a URL.
    local = URL.create("sqlite", database=str(settings.home / "catalog.db"))
    catalog = Catalog(
        settings.database.url or local,
        namespace=namespace or settings.namespace,
        names=SourceNames(tuple(_uris(settings.allowed_roots))),
    )
    catalog.migrate()
    return catalog


def _uris(folders: Iterable[Path]) -> Iterator[str]:
    """The canonical URIs of folders, as they are written and where links lead to."""
    for folder in folders:
        for path in (folder, folder.resolve()):
            with suppress(InvalidArgument):  # no source can lie in it either
                yield file_uri(path)


def open_blobs(settings: Settings) -> BlobStore:
    """The originals; that their store does not answer is logged.

    :raises ConfigError: ``blobs.url`` cannot be used.
    """
    blobs = blob_store(settings)
    try:
        blobs.check()
    except StorageError as error:  # searches do without
        _LOG.error("%s Until then nothing can be ingested.", error.message)
    return blobs


def blob_store(settings: Settings) -> BlobStore:
    """Where the originals are kept; nothing is opened yet.

    :raises ConfigError: ``blobs.url`` names no place.
    """
    wanted = settings.blobs
    access = S3Access(
        endpoint_url=wanted.endpoint_url,
        region=wanted.region,
        access_key_id=wanted.access_key_id,
        secret_access_key=wanted.secret_access_key.get_secret_value(),
        timeout=wanted.timeout,
    )
    return BlobStore(wanted.url or settings.home / "blobs", access)


def vector_stores(
    settings: Settings, catalog: Catalog, own: VectorStore
) -> Callable[[str], AbstractContextManager[VectorStore]]:
    """What opens the vectors of a namespace of the catalog for the length of a block.

    :param own: those of the catalog's own namespace.
    """

    @contextmanager
    def opened(namespace: str) -> Iterator[VectorStore]:
        if namespace == catalog.namespace:
            yield own
            return
        other = open_catalog(settings, namespace=namespace)
        its_store = open_vector_store(settings, other)
        try:
            yield its_store
        finally:
            its_store.close()
            other.close()

    return opened
