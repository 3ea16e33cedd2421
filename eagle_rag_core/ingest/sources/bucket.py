"""The objects below a prefix of a bucket."""

from __future__ import annotations

from collections.abc import Iterator

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.ingest.fetch.s3 import S3Client
from eagle_rag_core.ingest.fetch.s3_uris import s3_uri
from eagle_rag_core.ingest.fetch.uris import printable
from eagle_rag_core.ingest.sources.items import SkippedItem, SourceItem, SourceSpec
from eagle_rag_core.ingest.sources.patterns import JUNK, Selection


class BucketLister:
    """Lists a prefix, in the order of the keys.

    :param spec: with ``s3://bucket/prefix``: the object of that key and all whose keys begin with
        it and a slash. Patterns see the keys without the prefix.
    """

    delay = 0.0

    def __init__(self, spec: SourceSpec, client: S3Client) -> None:
        self.complete = False
        self._spec = spec
        self._client = client
        self._top = spec.uri.rstrip("/") + "/"
        self._bucket = "/".join(spec.uri.split("/")[:3])
        self._selection = Selection(spec.include, spec.exclude, JUNK)

    def items(self) -> Iterator[SourceItem | SkippedItem]:
        """:raises FetchError: the prefix cannot be listed (on)."""
        for found in self._client.list(self._spec.uri):
            name = f"{self._bucket}/{found.key}"
            # A key that ends in a slash stands for a folder.
            if found.key.endswith("/") or not self.covers(name):
                continue
            try:
                uri = s3_uri(name)
            except InvalidArgument as error:
                yield SkippedItem(printable(name), error.message, refused=True)
                continue
            yield SourceItem(uri, found.etag)
        self.complete = True

    def covers(self, uri: str) -> bool:
        if uri == self._spec.uri:
            return self._selection.takes(uri.rpartition("/")[2])
        return uri.startswith(self._top) and self._selection.takes(uri.removeprefix(self._top))

    def gone(self, uri: str) -> bool:
        return True
