"""URIs of objects in S3-compatible stores, and which of them a caller may name.

``s3://bucket/key`` with the key as it is, nothing percent-encoded: what every S3 tool prints.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from eagle_rag_core.errors import ErrorCode, FetchError, InvalidArgument

PREFIX = "s3://"
_URI = re.compile(r"s3://(?P<bucket>[^/]*)(?:/(?P<key>.*))?", re.IGNORECASE | re.DOTALL)
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,62}")
_MAX_KEY_BYTES = 1024


def is_s3_uri(uri: str) -> bool:
    """Whether a canonical URI stands for an object in a store."""
    return uri.startswith(PREFIX)


def s3_uri(text: str, *, prefix: bool = False) -> str:
    """The canonical URI of an object.

    :param prefix: it may stand for all objects whose keys begin with it, and have no key at all.
    :raises InvalidArgument: it names no object, or one whose key clients would read differently.
    """
    match = _URI.fullmatch(text)
    bucket, key = (match["bucket"], match["key"] or "") if match else ("", "")
    if not _BUCKET.fullmatch(bucket) or ".." in bucket:
        raise InvalidArgument(
            "Give s3://bucket/key with the name of a bucket: 3 to 63 small letters, digits, dots "
            "and hyphens."
        )
    if not prefix and (not key or key.endswith("/")):
        raise InvalidArgument(
            "The S3 URI names no single object. Give s3://bucket/key; a prefix is ingested from "
            "the command line."
        )
    check_key(key)
    return f"{PREFIX}{bucket}/{key}"


def check_key(key: str) -> None:
    """Refuse keys that some client or server on the way would change.

    :raises InvalidArgument: says what is wrong with it.
    """
    try:
        size = len(key.encode())
    except UnicodeEncodeError:
        raise InvalidArgument(
            "The key of the object contains characters that no key has."
        ) from None
    if size > _MAX_KEY_BYTES:
        raise InvalidArgument(f"The key of the object is longer than {_MAX_KEY_BYTES} bytes.")
    if any(ord(char) < 0x20 or 0x7F <= ord(char) <= 0x9F for char in key):
        raise InvalidArgument("The key of the object contains control characters.")
    # Parts of the way resolve them as in a path, and then it is another object.
    if {"..", "."} & set(key.split("/")) or key.startswith("/"):
        raise InvalidArgument("The key of the object has `.` or `..` as a part, or begins with /.")


def check_allowed(uri: str, allowed: Sequence[str] | None) -> None:
    """Refuse an object outside the allowed prefixes. Nothing is looked up.

    :param allowed: prefixes that end at a ``/`` of the key; ``None`` for a caller with its
        user's own rights.
    :raises FetchError: ``path_not_allowed``, whether the object exists or not.
    """
    if allowed is None or any(uri.startswith(prefix.rstrip("/") + "/") for prefix in allowed):
        return
    raise FetchError(
        "This object is outside what this server may read. Name its prefix in "
        "`ingest.allowed_s3`, or ingest it from the command line.",
        code=ErrorCode.PATH_NOT_ALLOWED,
    )
