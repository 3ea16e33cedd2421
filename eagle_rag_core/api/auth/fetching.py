"""One JSON document from a server that the settings name, bounded in size and time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import httpx2

#: Bytes of an answer, and seconds for it.
_MAX_BYTES: Final = 256 * 1024
_TIMEOUT: Final = 5.0


class Unavailable(Exception):
    """There is no usable answer.

    :ivar status: of HTTP, 0 if there was none at all.
    """

    def __init__(self, reason: str, status: int = 0) -> None:
        super().__init__(reason)
        self.status = status


async def get_json(url: str, headers: Mapping[str, str]) -> Any:
    """What ``url`` answers. Redirects are not followed: the settings name the place.

    :raises Unavailable: it does not answer with 200 and JSON, soon and briefly.
    """
    try:
        async with (
            asyncio.timeout(_TIMEOUT),
            httpx2.AsyncClient(follow_redirects=False, timeout=_TIMEOUT) as client,
            client.stream("GET", url, headers=headers) as answer,
        ):
            if answer.status_code != HTTPStatus.OK:
                raise Unavailable(f"HTTP status {answer.status_code}", answer.status_code)
            body = bytearray()
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > _MAX_BYTES:
                    raise Unavailable("the answer is too long")
        return json.loads(body)
    except (TimeoutError, httpx2.HTTPError, ValueError, RecursionError) as error:
        raise Unavailable(type(error).__name__) from error
