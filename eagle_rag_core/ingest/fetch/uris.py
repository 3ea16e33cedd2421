"""Canonical source URIs: the identity of a document's source.

Two spellings of one source give one URI. The form is lexical: nothing is looked up, so it is the
same before a file exists and says nothing about what exists. Symbolic links are not resolved: a
link that is pointed at a newer file stays one document.
"""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path
from urllib.parse import quote, unquote, unquote_to_bytes, urlsplit

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.ingest.fetch.s3_uris import is_s3_uri, s3_uri
from eagle_rag_core.ingest.fetch.urls import parse_web_url

#: Characters of a source URI as given; longer ones are no real source.
MAX_SOURCE_URI = 8192

_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*):")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_FILE_PREFIX = "file://"
_UPLOAD_PREFIX = "upload:"
#: Bytes of a file name, as file systems have it.
_MAX_NAME = 255


def canonical_uri(source_uri: str, *, base: Path | None = None) -> str:
    """The canonical form of a URL or a file path.

    :param source_uri: an ``http(s)`` URL, ``s3://bucket/key``, a ``file`` URI of this machine, or
        a path. ``~`` is not expanded: it would mean the home of whoever runs the server.
    :param base: absolute folder that relative paths start from; without it they are refused.
    :returns: an ``http(s)`` URL, ``s3://bucket/key``, or ``file:///…`` with the path's bytes
        percent-encoded.
    :raises InvalidArgument: with what to give instead.
    """
    if not source_uri.strip():
        raise InvalidArgument("source_uri is empty. Give an http(s) URL or the path of a file.")
    if len(source_uri) > MAX_SOURCE_URI:
        raise InvalidArgument(f"source_uri is longer than {MAX_SOURCE_URI} characters.")
    scheme = _SCHEME.match(source_uri)
    if scheme is None:
        return file_uri(_absolute(source_uri, base))
    match scheme[1].lower():
        case "http" | "https":
            return str(parse_web_url(source_uri.strip()))
        case "s3":
            return s3_uri(source_uri.strip())
        case "file":
            return file_uri(_path_of_foreign_uri(source_uri.strip()))
        case drive if len(drive) == 1:
            raise InvalidArgument(
                "Windows drive letters are not supported. Give a path that starts with /."
            )
        case other:
            raise InvalidArgument(
                f"Sources of the kind `{other}:` are not supported. Give an http(s) URL or the "
                "path of a file; write ./ before a file name that contains a colon."
            )


def file_uri(path: Path) -> str:
    """The canonical URI of an absolute path.

    :raises InvalidArgument: the path is relative or cannot be a path of this machine.
    """
    if _CONTROL.search(str(path)):
        raise InvalidArgument("The path contains control characters; rename the file.")
    try:
        raw = os.fsencode(os.path.normpath(path))
    except UnicodeEncodeError:
        raise InvalidArgument("The path contains characters that no file name has.") from None
    if not raw.startswith(b"/"):
        raise InvalidArgument("The path is relative. Give an absolute path, starting with /.")
    # POSIX keeps two leading slashes apart from one; no system we run on does.
    return _FILE_PREFIX + quote(b"/" + raw.lstrip(b"/"), safe="/")


def upload_uri(file_name: str) -> str:
    """The URI that names what a caller sent as a file: ``upload:`` and the name, percent-encoded.

    Folders in the name, of whatever system, do not count, nor does how it spells accents: macOS
    decomposes them. It names nothing that could be opened.

    :raises InvalidArgument: no file is called so.
    """
    name = unicodedata.normalize("NFC", re.split(r"[/\\]", file_name)[-1]).strip()
    if name in ("", ".", "..") or _CONTROL.search(name):
        raise InvalidArgument("The file needs a name, without folders and control characters.")
    try:
        length = len(name.encode())
    except UnicodeEncodeError:
        raise InvalidArgument("The file's name contains characters that no text has.") from None
    if length > _MAX_NAME:
        raise InvalidArgument(f"The file's name is longer than {_MAX_NAME} bytes; shorten it.")
    return _UPLOAD_PREFIX + quote(name, safe="")


def is_upload_uri(uri: str) -> bool:
    """Whether a canonical URI names a file that was sent along."""
    return uri.startswith(_UPLOAD_PREFIX)


def is_file_uri(uri: str) -> bool:
    """Whether a canonical URI stands for a local file."""
    return uri.startswith(_FILE_PREFIX + "/")


def path_of(uri: str) -> Path:
    """The path a canonical ``file`` URI stands for; the inverse of :func:`file_uri`.

    :raises InvalidArgument: not a canonical ``file`` URI.
    """
    if not is_file_uri(uri):
        raise InvalidArgument("This source is not a local file.")
    return Path(os.fsdecode(unquote_to_bytes(uri.removeprefix(_FILE_PREFIX))))


def name_of(uri: str) -> str:
    """The file name in a canonical URI, for sniffing; "" when its path ends in a slash."""
    if is_s3_uri(uri):
        return printable(uri.rpartition("/")[2])
    return printable(unquote(urlsplit(uri).path.rpartition("/")[2]))


def display_name(uri: str) -> str:
    """A source in a message: the file's name, host and path of a URL, bucket and key of an object.

    Folders of this machine and query strings, which may carry keys, are left out.
    """
    if is_file_uri(uri):
        return name_of(uri) or "/"
    if is_s3_uri(uri):
        return printable(uri)
    parts = urlsplit(uri)
    return printable(parts.netloc + unquote(parts.path).rstrip("/"))


def _absolute(text: str, base: Path | None) -> Path:
    if text.startswith((r"\\", "//")):
        raise InvalidArgument(
            "Network shares and URLs without a scheme are not supported. Give an http(s) URL or "
            "a path that starts with a single /."
        )
    if text == "~" or text.startswith("~/"):
        raise InvalidArgument("`~` is not expanded. Give the absolute path.")
    return Path(text) if base is None else base / text


def _path_of_foreign_uri(uri: str) -> Path:
    """The path of a ``file`` URI as others write it (RFC 8089)."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        raise InvalidArgument("The file URI is malformed. Give the file's path.") from None
    if parts.netloc.lower() not in ("", "localhost"):
        raise InvalidArgument("File URIs of other hosts are not supported. Give the file's path.")
    if "?" in uri or "#" in uri:
        raise InvalidArgument("Write ? as %3F and # as %23 in a file URI, or give the path.")
    if not parts.path.startswith("/"):
        raise InvalidArgument("The file URI is relative. Write file:/// and the absolute path.")
    try:
        return Path(os.fsdecode(unquote_to_bytes(parts.path)))
    except UnicodeEncodeError:
        raise InvalidArgument("The path contains characters that no file name has.") from None


def printable(text: str) -> str:
    """A text as any terminal can show it, on one line."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
