"""Opaque cursors for keyset paging: where the page before ended."""

from __future__ import annotations

import base64
import binascii
import json
import re

from eagle_rag_core.catalog import ids
from eagle_rag_core.errors import InvalidArgument

_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z", re.ASCII)


def encode(time: str, row_id: str) -> str:
    """The cursor that continues after the row ``row_id`` of ``time``."""
    return base64.urlsafe_b64encode(json.dumps([time, row_id]).encode()).decode().rstrip("=")


def decode(cursor: str) -> tuple[str, str]:
    """The time and id in a cursor.

    It names a position and gives no rights, so a forged one shows nothing that paging from the
    beginning would not show.

    :raises InvalidArgument: it is not one of ours.
    """
    try:
        time, row_id = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", True))
        if _TIME.fullmatch(time) and ids.is_id(row_id):
            return time, row_id
    except (ValueError, TypeError, binascii.Error, RecursionError):
        pass
    raise InvalidArgument(
        "cursor is not one this server gave out; pass next_cursor of the page before unchanged, "
        "or leave it out to begin again."
    )
