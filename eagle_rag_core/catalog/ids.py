"""Identifiers, names, times and texts as the catalog holds them."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime

from eagle_rag_core.errors import InvalidArgument

#: Seconds since the epoch; replaced in tests.
Clock = Callable[[], float]

_KB_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_ID_LENGTH = 32
_ID = re.compile(rf"[0-9a-f]{{{_ID_LENGTH}}}")


def document_id(namespace: str, kb_seed: str, source_uri: str) -> str:
    """The id of the document that a source is in a knowledge base; the same for ever.

    :param kb_seed: see :func:`~eagle_rag_core.catalog.kbs.seed`; the name, unless that changed.
    :param source_uri: canonical.
    """
    return _digest(namespace, kb_seed, source_uri)


def version_id(document_id: str, content_hash: str, fingerprint: str) -> str:
    """The id of what one pipeline makes of one content of a document."""
    return _digest(document_id, content_hash, fingerprint)


def node_id(version_id: str, ordinal: int) -> str:
    """The id of a chunk of a version."""
    return hashlib.sha256(f"{version_id}:{ordinal}".encode()).hexdigest()[:_ID_LENGTH]


def image_id(version_id: str, kind: str, page: int, box: str, part: str = "") -> str:
    """The id of a tile of a version; what it shows tells it from all others."""
    return _digest(version_id, kind, str(page), box, part)


def is_id(text: str) -> bool:
    """Whether ``text`` has the form of a document, version, node, tile or job id."""
    return _ID.fullmatch(text) is not None


def is_kb_name(text: str) -> bool:
    """Whether a knowledge base can have this name."""
    return _KB_NAME.fullmatch(text) is not None


def check_kb_name(name: str) -> str:
    """``name``, if a knowledge base can have it.

    :raises InvalidArgument: it cannot.
    """
    if not is_kb_name(name):
        raise InvalidArgument(
            f"{name[:80]!r} cannot name a knowledge base; use 1 to 64 lower-case letters a-z, "
            "digits, '-' and '_', beginning with a letter or digit."
        )
    return name


def now_iso(clock: Clock = time.time) -> str:
    """The time as the catalog stores it."""
    return iso(datetime.fromtimestamp(clock(), UTC))


def iso(moment: datetime) -> str:
    """An aware time as 27 characters of UTC text, which sort as time does.

    >>> iso(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02T03:04:05.000000Z'
    """
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def storable(text: str) -> bool:
    """Whether a database can hold ``text``: NUL and lone surrogates it cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _digest(*parts: str) -> str:
    # NUL cannot occur in names and hashes, so two different lists never join to one text.
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:_ID_LENGTH]
