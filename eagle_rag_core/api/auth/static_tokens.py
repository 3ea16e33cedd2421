"""Tokens of the operator's own: what the settings list, kept as hashes.

They are random and long, so that one round of SHA-256 protects them: there is nothing to guess,
and a slow hash would let everybody who sends a token keep the server busy.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eagle_rag_core.api.auth.bearer import MAX_TOKEN, TOKEN_SYNTAX
from eagle_rag_core.api.auth.grants import granted
from eagle_rag_core.api.auth.refusals import expired_token
from eagle_rag_core.api.auth.verified import ADMIN_SCOPE, TOOLS_SCOPE, Verified
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings.sections import AuthSettings, TokenSettings
from eagle_rag_core.types import COMMAND_LINE, LOCAL, Caller

#: 24 characters of base64 are 144 bits.
_SHORTEST: Final = 24
_FEWEST_CHARACTERS: Final = 8
_API_KEY: Final = "api-key"
#: Names in the audit that stand for somebody else.
_RESERVED: Final = frozenset({_API_KEY, "anonymous", LOCAL.id, COMMAND_LINE.id})
_MAKE_ONE: Final = """python -c "import secrets; print(secrets.token_urlsafe(32))" makes one."""


@dataclass(frozen=True, slots=True, repr=False)
class _Known:
    """:param expires_at: seconds since 1970; 0 for never."""

    digest: bytes
    verified: Verified
    expires_at: float


class StaticTokens:
    """Verifies the tokens of the settings. Nothing of it holds a token as such."""

    def __init__(self, known: Sequence[_Known], *, clock: Callable[[], float] = time.time) -> None:
        self._known = tuple(known)
        self._clock = clock

    @classmethod
    def from_settings(
        cls, auth: AuthSettings, *, clock: Callable[[], float] = time.time
    ) -> StaticTokens:
        """Read and check what the settings list.

        :raises ConfigError: an entry is wrong, or all have expired.
        """
        known = list(_all(auth))
        _refuse_duplicates(known)
        if known and all(0 < each.expires_at <= clock() for each in known):
            raise ConfigError("All of auth.tokens have expired: nobody could call. Replace them.")
        return cls(known, clock=clock)

    def __bool__(self) -> bool:
        return bool(self._known)

    async def verify(self, token: str) -> Verified | None:
        digest = hashlib.sha256(token.encode()).digest()
        # All are compared: how long it takes tells nothing.
        matching = [each for each in self._known if hmac.compare_digest(each.digest, digest)]
        if not matching:
            return None
        if 0 < matching[0].expires_at <= self._clock():
            raise expired_token()
        return matching[0].verified


def _all(auth: AuthSettings) -> Iterator[_Known]:
    if auth.api_key:
        secret = auth.api_key.get_secret_value()
        everything = Verified(Caller(_API_KEY), frozenset({TOOLS_SCOPE, ADMIN_SCOPE}))
        yield _Known(_digest_of("auth.api_key", secret), everything, 0.0)
    for number, entry in enumerate(auth.tokens):
        key = f"auth.tokens[{number}] ({entry.name})"
        if entry.name in _RESERVED:
            raise ConfigError(f"{key}: the name {entry.name!r} stands for another caller.")
        verified = granted(key, entry.name, entry.scopes, entry.kbs)
        expires_at = entry.expires_at.timestamp() if entry.expires_at else 0.0
        yield _Known(_digest(key, entry), verified, expires_at)


def _digest(key: str, entry: TokenSettings) -> bytes:
    given = [name for name in ("token", "token_hash", "token_file") if getattr(entry, name)]
    if len(given) != 1:
        raise ConfigError(
            f"{key} has {' and '.join(given) or 'no token'}; give exactly one of token, "
            "token_hash and token_file."
        )
    if entry.token_file is not None:
        return _digest_of(f"{key}.token_file", _content(key, entry.token_file))
    if entry.token_hash:
        text = entry.token_hash.get_secret_value().lower()
        if not re.fullmatch(r"[0-9a-f]{64}", text):
            raise ConfigError(
                f"{key}.token_hash is no SHA-256 in hexadecimal digits; printf %s TOKEN | "
                "sha256sum makes one."
            )
        return bytes.fromhex(text)
    return _digest_of(f"{key}.token", entry.token.get_secret_value())


def _content(key: str, file: Path) -> str:
    path = file.expanduser()
    if not path.is_absolute():
        raise ConfigError(f"{key}.token_file is not an absolute path.")
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_TOKEN + 2).decode("ascii").strip("\r\n")
    except (OSError, UnicodeDecodeError):
        raise ConfigError(
            f"{key}.token_file cannot be read as text; check that the file is there, holds the "
            "token alone, and belongs to the user of the server."
        ) from None


def _digest_of(key: str, secret: str) -> bytes:
    """:raises ConfigError: it could be guessed, or not be sent."""
    if not TOKEN_SYNTAX.fullmatch(secret) or len(secret) > MAX_TOKEN:
        raise ConfigError(
            f"{key} is empty, or has characters that no token may have; use letters, digits and "
            f"-._~+/. {_MAKE_ONE}"
        )
    if len(secret) < _SHORTEST or len(set(secret)) < _FEWEST_CHARACTERS:
        raise ConfigError(
            f"{key} could be guessed; a token has at least {_SHORTEST} random characters. "
            f"{_MAKE_ONE}"
        )
    return hashlib.sha256(secret.encode()).digest()


def _refuse_duplicates(known: Sequence[_Known]) -> None:
    names: set[str] = set()
    digests: dict[bytes, str] = {}
    for each in known:
        name = each.verified.caller.id
        if name in names:
            raise ConfigError(f"auth.tokens: two entries have the name {name!r}.")
        if each.digest in digests:
            raise ConfigError(
                f"auth.tokens: {digests[each.digest]} and {name} have the same token; whose call "
                "it is could not be told."
            )
        names.add(name)
        digests[each.digest] = name
