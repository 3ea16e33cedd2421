"""Opaque cursors: where the page before ended.

They name a position and give no rights, so a forged one shows nothing that reading from the
beginning would not show.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any

from eagle_rag_core.catalog import ids
from eagle_rag_core.errors import InvalidArgument

_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z", re.ASCII)
#: Beyond any text and any list.
_FAR = 2**40


def encode(time: str, row_id: str) -> str:
    """The cursor that continues after the row ``row_id`` of ``time``."""
    return _packed(time, row_id)


def decode(cursor: str) -> tuple[str, str]:
    """The time and id in a cursor of :func:`encode`.

    :raises InvalidArgument: it is not one of ours.
    """
    time, row_id = _unpacked(cursor, 2)
    if not (isinstance(time, str) and _TIME.fullmatch(time)):
        raise _foreign()
    if not (isinstance(row_id, str) and ids.is_id(row_id)):
        raise _foreign()
    return time, row_id


def encode_place(version_id: str, position: int) -> str:
    """The cursor that continues at a position in a version of a document."""
    return _packed(version_id, position)


def decode_place(cursor: str) -> tuple[str, int]:
    """The version and position in a cursor of :func:`encode_place`.

    :raises InvalidArgument: it is not one of ours.
    """
    version_id, position = _unpacked(cursor, 2)
    if not (isinstance(version_id, str) and ids.is_id(version_id)):
        raise _foreign()
    if type(position) is not int or not 0 <= position < _FAR:
        raise _foreign()
    return version_id, position


def encode_name(name: str) -> str:
    """The cursor that continues after the knowledge base ``name``."""
    return _packed(name)


def decode_name(cursor: str) -> str:
    """The name in a cursor of :func:`encode_name`.

    :raises InvalidArgument: it is not one of ours.
    """
    (name,) = _unpacked(cursor, 1)
    if isinstance(name, str) and ids.is_kb_name(name):
        return name
    raise _foreign()


def _packed(*parts: str | int) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def _unpacked(cursor: str, length: int) -> list[Any]:
    try:
        parts = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", True))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise _foreign() from None
    if not isinstance(parts, list) or len(parts) != length:
        raise _foreign()
    return parts


def _foreign() -> InvalidArgument:
    return InvalidArgument(
        "cursor is not one this server gave out; pass next_cursor of the page before unchanged, "
        "or leave it out to begin again."
    )
