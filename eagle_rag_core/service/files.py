"""The original files of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from eagle_rag_core.catalog import documents, versions
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.ingest.fetch.uris import name_of
from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.types import Caller


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """The original of a document.

    :param name: of the file, "" when its source names none.
    :param media_type: as its parser found it, "" when unknown.
    :param size: in bytes.
    :param content_hash: SHA-256.
    """

    name: str
    media_type: str
    size: int
    content_hash: str


class FileService:
    """Hands out originals to those who may read their documents."""

    def __init__(self, catalog: Catalog, originals: Originals) -> None:
        self._catalog = catalog
        self._originals = originals

    def describe(self, caller: Caller, document_id: str) -> DocumentFile:
        """What the original of a document is.

        :raises NotFound: it does not exist, or the caller may not know that it does.
        """
        with self._catalog.read() as conn:
            info = documents.get_document(conn, self._catalog.namespace, caller, document_id)
            size, content_hash = versions.made_from(conn, info.version_id)
        name = name_of(str(info.metadata.get("final_uri", info.source_uri)))
        return DocumentFile(name, info.media_type, size, content_hash)

    def open(self, file: DocumentFile) -> IO[bytes]:
        """The bytes of a file that :meth:`describe` found.

        :raises FetchError: it is gone.
        :raises StorageError: it cannot be read.
        """
        return self._originals.open(file.content_hash)
