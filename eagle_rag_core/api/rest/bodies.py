"""Bodies of requests: strict JSON, bounded, and checked with messages of our own."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import ClientDisconnect, Request

from eagle_rag_core.api.rest.problems import HttpCode, ProblemError, invalid

#: Bytes of a JSON body; no request of ours needs more.
MAX_BODY: Final = 1 << 20
_MAX_DEPTH: Final = 16
_JSON: Final = re.compile(r"application/([a-z0-9.+-]+\+)?json")

Model = TypeVar("Model", bound="Body")


class Parameters(BaseModel):
    """Base of what routes are given in the query of a URL: unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Body(Parameters):
    """Base of all bodies: besides, nothing is converted."""

    model_config = ConfigDict(strict=True)


def json_body(model: type[Model]) -> Callable[[Request], Awaitable[Model]]:
    """A dependency: the request's JSON body as ``model``.

    :raises ProblemError: it is no JSON, too large, or not what the model says.
    """

    async def read(request: Request) -> Model:
        if not is_json(request):
            raise wrong_type("application/json")
        raw = await _whole(request)
        check_json(raw)
        return checked(model, raw)

    return read


def checked(model: type[Model], raw: bytes | str) -> Model:
    """JSON text as ``model``.

    :raises ProblemError: names each field that is wrong.
    """
    try:
        return model.model_validate_json(raw)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise invalid(found, model, "body") from None


def is_json(request: Request) -> bool:
    """Whether the body is declared as JSON."""
    return _JSON.fullmatch(media_type(request)) is not None


def media_type(request: Request) -> str:
    """The declared type of the body, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def wrong_type(*expected: str) -> ProblemError:
    """The problem of a body of another type."""
    return ProblemError(
        HttpCode.UNSUPPORTED_MEDIA_TYPE, f"Send the body as {' or '.join(expected)}."
    )


def too_large(limit: int) -> ProblemError:
    """The problem of a body beyond its bound, which is read no further."""
    return ProblemError(
        HttpCode.REQUEST_TOO_LARGE,
        f"The body is larger than {limit} bytes.",
        headers={"Connection": "close"},
    )


def check_length(request: Request, limit: int) -> None:
    """Refuse a body that is declared beyond its bound, before any of it is read.

    :raises ProblemError: 413.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > limit:
        raise too_large(limit)


async def _whole(request: Request) -> bytes:
    check_length(request, MAX_BODY)
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_BODY:
                raise too_large(MAX_BODY)
    except ClientDisconnect:
        raise malformed("The connection ended before the body did.") from None
    return bytes(body)


def malformed(detail: str) -> ProblemError:
    """The problem of a request that cannot be read."""
    return ProblemError(HttpCode.MALFORMED_REQUEST, detail)


def check_json(raw: bytes | str) -> None:
    """Make sure that a text is JSON that everybody reads alike.

    :raises ProblemError: it is none, names a key twice, holds what no JSON has (NaN, Infinity),
        is nested too deeply, or has characters that no text has.
    """
    try:
        text = raw if isinstance(raw, str) else raw.decode()
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
        if _depth(value) > _MAX_DEPTH:
            raise malformed("The body is nested too deeply.")
        if "\\u" in text:  # the only way to a lone surrogate
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise malformed("The body is nested too deeply.") from None
    except ValueError:  # also of its encoding, and of numbers with thousands of digits
        raise malformed("The body is no valid JSON in UTF-8.") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise malformed("The body names a key twice in one object.")
    return found


def _no_constant(_name: str) -> NoReturn:
    raise malformed("The body holds NaN or Infinity, which JSON does not have.")


def _depth(value: Any) -> int:
    """How deeply objects and lists are nested, level by level: no recursion that could run out."""
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [
            inner for item in level for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return depth
