"""The token of a request, by RFC 6750: in the header ``Authorization``, nowhere else."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qsl

from starlette.types import Scope

from eagle_rag_core.api.auth.refusals import invalid_token, malformed_request, no_token

#: Bytes. Tokens with many claims have two or three thousand.
MAX_TOKEN: Final = 8192
#: Characters a bearer token may have (RFC 6750, section 2.1).
TOKEN_SYNTAX: Final = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
#: Where clients put tokens that do not know better; addresses end up in logs and histories.
_SECRET_PARAMETERS: Final = frozenset({"access_token", "api_key", "apikey", "token"})


def token_of(scope: Scope) -> str:
    """The bearer token of a request.

    :raises Refusal: there is none, or it is not where and how it should be.
    """
    values = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
    if len(values) > 1:
        raise malformed_request("A request has one header Authorization.")
    scheme, _, token = (values[0] if values else b"").partition(b" ")
    if scheme.lower() != b"bearer":
        raise no_token()
    text = token.strip(b" ").decode("latin-1")
    if len(text) > MAX_TOKEN:
        raise invalid_token("it is too long")
    if not TOKEN_SYNTAX.fullmatch(text):
        raise invalid_token("it has characters that no token has, or none")
    return text


def refuse_token_in_address(scope: Scope) -> None:
    """:raises Refusal: the address of the request carries a secret."""
    query = scope.get("query_string", b"").decode("latin-1")
    names = {name.lower() for name, _ in parse_qsl(query, keep_blank_values=True)}
    if names & _SECRET_PARAMETERS:
        raise malformed_request(
            "Tokens do not belong into addresses, which are logged: send it as Authorization: "
            "Bearer <token>, and have this one replaced."
        )
