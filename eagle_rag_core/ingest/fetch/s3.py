"""Reading objects of S3-compatible stores."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from eagle_rag_core.blobs.s3 import S3Access, failures, is_refusal, open_s3
from eagle_rag_core.errors import EagleError, ErrorCode, FetchError
from eagle_rag_core.ingest.fetch.s3_uris import PREFIX
from eagle_rag_core.ingest.fetch.source import BoundedBuffer, FetchedSource, too_large

_LOG = logging.getLogger(__name__)
_PIECE = 1 << 20
#: Objects named in one answer; the most that stores give.
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class S3Object:
    """An object as a listing names it."""

    key: str
    etag: str
    size: int


class S3Client:
    """Lists and reads objects. Safe to share between threads; connects on first use."""

    def __init__(self, access: S3Access, *, max_bytes: int) -> None:
        self._access = access
        self._max_bytes = max_bytes

    def read(self, uri: str, *, etag: str = "") -> FetchedSource:
        """Read one object.

        :param uri: canonical.
        :param etag: of an earlier read; the same one now is answered by ``not_modified``.
        :raises FetchError: ``source_not_found``, ``source_unreadable``, ``source_too_large``,
            ``empty_document``, or ``fetch_failed``, which is retryable.
        :raises ConfigError: the extra is not installed.
        """
        path = uri.removeprefix(PREFIX)
        name = path.rpartition("/")[2]
        with _explained(uri):
            info = self._fs.info(path)
            if info["type"] == "directory":
                raise FetchError(f"There is no object {uri}.", code=ErrorCode.SOURCE_NOT_FOUND)
            current = _etag(info)
            if etag and etag == current:
                return FetchedSource(b"", name, uri, uri, etag=current, not_modified=True)
            if info["size"] > self._max_bytes:
                raise too_large(uri, self._max_bytes)
            buffer = BoundedBuffer(self._max_bytes, uri)
            with self._fs.open(path, "rb", block_size=8 * _PIECE, cache_type="readahead") as file:
                while piece := file.read(_PIECE):
                    buffer.add(piece)
        media_type = str(info.get("ContentType") or "").partition(";")[0].strip().lower()
        return FetchedSource(buffer.whole(), name, uri, uri, media_type=media_type, etag=current)

    def list(self, prefix_uri: str) -> Iterator[S3Object]:
        """The objects whose keys begin with a prefix, in the order of their keys.

        :raises FetchError: as :meth:`read`; ``source_not_found`` when there is no such bucket.
        """
        bucket, _, prefix = prefix_uri.removeprefix(PREFIX).partition("/")
        token: dict[str, str] = {}
        while True:
            with _explained(prefix_uri):
                page = self._fs.call_s3(
                    "list_objects_v2", Bucket=bucket, Prefix=prefix, MaxKeys=_PAGE, **token
                )
            for entry in page.get("Contents", ()):
                yield S3Object(entry["Key"], _etag(entry), entry["Size"])
            if not page.get("IsTruncated"):
                return
            token = {"ContinuationToken": page["NextContinuationToken"]}

    @cached_property
    def _fs(self) -> Any:
        return open_s3(self._access, purpose="Sources in S3")


def _etag(info: Any) -> str:
    return str(info.get("ETag") or "").strip('"')


@contextmanager
def _explained(uri: str) -> Iterator[None]:
    """Failures of the store as errors a caller can act on."""
    try:
        yield
    except EagleError:
        raise
    except FileNotFoundError as error:
        raise FetchError(
            f"There is no {uri}; check the names of bucket and key.",
            code=ErrorCode.SOURCE_NOT_FOUND,
        ) from error
    except Exception as error:
        raise _failure(uri, error) from error


def _failure(uri: str, error: Exception) -> FetchError:
    if is_refusal(error):
        return FetchError(
            f"The store does not let this program read {uri}. Check its credentials: settings "
            "ingest.s3.*, or the environment (AWS_ACCESS_KEY_ID, AWS_PROFILE, …).",
            code=ErrorCode.SOURCE_UNREADABLE,
        )
    if isinstance(error, failures()):
        return FetchError(
            f"The store did not answer for {uri}. Check ingest.s3.endpoint_url and the network.",
            retryable=True,
        )
    _LOG.warning("Reading %s failed unexpectedly (%s)", uri, type(error).__name__)
    return FetchError(f"{uri} could not be read.", retryable=True)
