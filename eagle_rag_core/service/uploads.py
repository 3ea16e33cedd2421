"""Taking in files that callers send along, instead of naming where they lie."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import IO

from eagle_rag_core.errors import ErrorCode, FetchError
from eagle_rag_core.ingest.fetch.source import too_large
from eagle_rag_core.ingest.fetch.uris import printable, upload_uri
from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.service.ingest import Forecast, IngestService
from eagle_rag_core.types import Caller, IngestRequest, Job

_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was sent along.

    :param name: as the caller calls it; with the knowledge base it identifies the document.
    :param file: can be read from the beginning again.
    """

    name: str
    file: IO[bytes]


class UploadService:
    """Keeps uploaded files as originals and submits them as jobs.

    A file of the same name in the same knowledge base replaces the document of the one before.

    :param max_bytes: the largest file.
    """

    def __init__(self, ingest: IngestService, originals: Originals, max_bytes: int) -> None:
        self._ingest = ingest
        self._originals = originals
        self.max_bytes = max_bytes

    def submit(self, caller: Caller, request: IngestRequest, upload: Upload) -> Job:
        """Accept a file. It and its job are on disk when this returns.

        :param request: what is said of it; its ``source_uri`` does not count.
        :raises EagleError: as :meth:`~eagle_rag_core.service.ingest.IngestService.submit` does;
            besides, ``unsupported_format``, ``source_too_large`` or ``empty_document``.
        """
        request = self._named(request, upload)
        self._foresee(caller, request, upload)
        self._originals.keep_file(request.upload, upload.file)
        job = self._ingest.submit(caller, request)
        # The last document of the same content may have been deleted, and its original with it,
        # before anybody could know of this job.
        if not self._originals.has(request.upload):
            self._originals.keep_file(request.upload, upload.file)
        return job

    def foresee(self, caller: Caller, request: IngestRequest, upload: Upload) -> Forecast:
        """What submitting a file would do; nothing is kept of it.

        :raises EagleError: as :meth:`submit` does.
        """
        return self._foresee(caller, self._named(request, upload), upload)

    def _named(self, request: IngestRequest, upload: Upload) -> IngestRequest:
        uri = upload_uri(upload.name)
        return replace(request, source_uri=uri, upload=self._hash(upload))

    def _foresee(self, caller: Caller, request: IngestRequest, upload: Upload) -> Forecast:
        upload.file.seek(0)
        return self._ingest.foresee(caller, request, upload.file.read(_PIECE))

    def _hash(self, upload: Upload) -> str:
        digest, size = hashlib.sha256(), 0
        upload.file.seek(0)
        while piece := upload.file.read(_PIECE):
            digest.update(piece)
            size += len(piece)
        if not size:
            raise FetchError(
                "The uploaded file is empty; there is nothing to index.",
                code=ErrorCode.EMPTY_DOCUMENT,
            )
        if size > self.max_bytes:
            raise too_large(printable(upload.name)[:80], self.max_bytes)
        return digest.hexdigest()
