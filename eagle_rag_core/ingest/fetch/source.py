"""What fetching a source yields, and the bound on its size."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field

from eagle_rag_core.errors import ErrorCode, FetchError


@dataclass(frozen=True, slots=True)
class FetchedSource:
    """The bytes of one source and what its origin said about them.

    :param data: the whole decoded body; empty only when ``not_modified``.
    :param name: file name for sniffing and titles, "" when a URL names none.
    :param uri: the canonical URI that was asked for; it identifies the document.
    :param final_uri: where the bytes came from in the end, after redirects.
    :param media_type: as the server declared it ("text/html"), unverified; "" for files.
    :param charset: as the server declared it, lower case, unverified; "" when unknown.
    :param etag: validators of a later conditional fetch, "" when the server gave none.
    :param not_modified: the server confirmed that the copy described by the validators is current.
    """

    data: bytes = field(repr=False)
    name: str
    uri: str
    final_uri: str
    media_type: str = ""
    charset: str = ""
    etag: str = ""
    last_modified: str = ""
    not_modified: bool = False

    @property
    def metadata(self) -> Mapping[str, str]:
        """What is worth keeping with the document; only what is known."""
        facts = {
            "charset": self.charset,
            "etag": self.etag,
            "final_uri": self.final_uri if self.final_uri != self.uri else "",
            "last_modified": self.last_modified,
        }
        return {name: value for name, value in facts.items() if value}


def too_large(label: str, max_bytes: int) -> FetchError:
    """The error for a source beyond the limit."""
    return FetchError(
        f"{label} is larger than {max_bytes} bytes, the limit of `ingest.max_bytes`. "
        "Raise the limit or split the source.",
        code=ErrorCode.SOURCE_TOO_LARGE,
    )


class BoundedBuffer:
    """Collects a body piece by piece and stops at the limit.

    The size is not known in advance: a file may grow while it is read, a server may send more
    than it declared, and a compressed body tells nothing before it is unpacked.
    """

    def __init__(self, max_bytes: int, label: str) -> None:
        self._max_bytes = max_bytes
        self._label = label
        self._buffer = io.BytesIO()

    def add(self, piece: bytes) -> None:
        """:raises FetchError: ``source_too_large`` as soon as the limit is passed."""
        if self._buffer.tell() + len(piece) > self._max_bytes:
            raise too_large(self._label, self._max_bytes)
        self._buffer.write(piece)

    def whole(self) -> bytes:
        """:raises FetchError: ``empty_document`` when nothing was collected."""
        data = self._buffer.getvalue()
        if not data:
            raise FetchError(
                f"{self._label} is empty; there is nothing to index.",
                code=ErrorCode.EMPTY_DOCUMENT,
            )
        return data
