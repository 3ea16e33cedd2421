"""Reading what a web server answered: headers, body, and the reasons to take neither."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from email.message import Message
from pathlib import PurePosixPath

from eagle_rag_core.errors import ErrorCode, FetchError
from eagle_rag_core.ingest.fetch.source import BoundedBuffer, too_large

_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,127}/[a-z0-9!#$&^_.+-]{1,127}")
_CHARSET = re.compile(r"[a-z0-9._:+-]{1,40}")
_GZIP = 16 + zlib.MAX_WBITS
_PIECE = 1 << 18

#: Statuses whose body is the source itself.
_COMPLETE = frozenset({200, 203})
#: Client errors that pass: request timeout, too early, too many requests.
_PASSING = frozenset({408, 425, 429})
#: The server says that there is nothing.
_NOTHING = frozenset({404, 410})
_LONGEST_WAIT_S = 3600
_LONGEST_NAME = 255


def header_texts(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by lower-case name; repeated ones are joined as RFC 9110 §5.3 has it."""
    texts: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("ascii").lower(), _text(raw_value)
        texts[name] = f"{texts[name]}, {value}" if name in texts else value
    return texts


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def check_status(status: int, headers: Mapping[str, str], label: str) -> None:
    """:raises FetchError: the answer is not the source; retryable when it may be later."""
    if status in _COMPLETE:
        return
    wait = headers.get("retry-after", "")
    raise FetchError(
        f"{label} answered with HTTP status {status} instead of the source.",
        code=ErrorCode.SOURCE_NOT_FOUND if status in _NOTHING else None,
        retryable=status >= 500 or status in _PASSING,
        retry_after_s=min(int(wait), _LONGEST_WAIT_S) if re.fullmatch("[0-9]{1,9}", wait) else 0.0,
    )


def media_type_of(headers: Mapping[str, str]) -> tuple[str, str]:
    """Declared media type and charset, "" where missing or malformed."""
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    charset = _message(headers, "content-type").get_content_charset("")
    return (
        media_type if _MEDIA_TYPE.fullmatch(media_type) else "",
        charset if _CHARSET.fullmatch(charset) else "",
    )


def file_name_of(headers: Mapping[str, str]) -> str:
    """The name of a download (RFC 6266), without folders; "" when the server gives none."""
    name = _message(headers, "content-disposition").get_filename("")
    name = PurePosixPath(name.replace("\\", "/")).name
    usable = name.strip(".") and name.isprintable() and len(name) <= _LONGEST_NAME
    return name if usable else ""


def _message(headers: Mapping[str, str], name: str) -> Message:
    message = Message()
    message[name] = headers.get(name, "")
    return message


def read_body(
    pieces: Iterable[bytes], headers: Mapping[str, str], *, max_bytes: int, label: str
) -> bytes:
    """The decoded body. Reading stops at the limit, so a decompression bomb does not unfold.

    :raises FetchError: ``source_too_large``, ``empty_document``, or the body cannot be decoded.
    """
    declared = headers.get("content-length", "")
    if re.fullmatch("[0-9]{1,18}", declared) and int(declared) > max_bytes:
        raise too_large(label, max_bytes)
    coding = headers.get("content-encoding", "").strip().lower()
    if coding in ("gzip", "x-gzip"):
        pieces = _gunzip(pieces, label)
    elif coding not in ("", "identity"):
        raise FetchError(f"{label} came in a content coding that was not asked for.")
    buffer = BoundedBuffer(max_bytes, label)
    for piece in pieces:
        buffer.add(piece)
    return buffer.whole()


def _gunzip(pieces: Iterable[bytes], label: str) -> Iterator[bytes]:
    """Unpack in bounded steps, member after member (RFC 1952 §2.2)."""
    member = zlib.decompressobj(_GZIP)
    try:
        for packed in pieces:
            while packed:
                if member.eof:
                    member = zlib.decompressobj(_GZIP)
                yield member.decompress(packed, _PIECE)
                packed = member.unconsumed_tail or member.unused_data
    except zlib.error:
        raise FetchError(f"{label} arrived damaged: its gzip coding is broken.") from None
    if not member.eof:
        raise FetchError(f"{label} arrived incomplete.", retryable=True)
