"""Reading a source, wherever it lies and whoever named it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eagle_rag_core.ingest.fetch.http import SafeFetcher
from eagle_rag_core.ingest.fetch.paths import open_local
from eagle_rag_core.ingest.fetch.s3 import S3Client
from eagle_rag_core.ingest.fetch.s3_uris import check_allowed, is_s3_uri
from eagle_rag_core.ingest.fetch.source import FetchedSource
from eagle_rag_core.ingest.fetch.uris import is_file_uri, path_of


@dataclass(frozen=True, slots=True)
class SourceReader:
    """What a deployment reads sources with.

    :param allowed_roots: folders for callers without their user's own rights.
    :param allowed_s3: prefixes for them.
    """

    fetcher: SafeFetcher
    s3: S3Client
    allowed_roots: Sequence[Path]
    allowed_s3: Sequence[str]
    max_bytes: int

    def read(
        self, uri: str, *, any_path: bool, etag: str = "", last_modified: str = ""
    ) -> FetchedSource:
        """Read a whole source.

        :param uri: canonical.
        :param any_path: the caller acts with its user's own rights.
        :param etag: validators of an earlier read; with them the answer may be ``not_modified``.
        :raises FetchError: with the reason.
        """
        if is_file_uri(uri):
            roots = None if any_path else self.allowed_roots
            return open_local(path_of(uri), allowed_roots=roots, max_bytes=self.max_bytes)
        if is_s3_uri(uri):
            check_allowed(uri, None if any_path else self.allowed_s3)
            return self.s3.read(uri, etag=etag)
        return self.fetcher.fetch(uri, etag=etag, last_modified=last_modified)
