"""Secrets do not reach the audit or the log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, SecretStr

from eagle_rag_core.settings import Settings
from eagle_rag_core.settings.masking import is_secret_name

_MASK: Final = "***"
_SECRET_NAMES = "key token secret password passwd authorization credential signature".split()
#: Secrets that addresses carry: before the host, and as values of parameters.
_USER_INFO = re.compile(r"(?<=://)[^/\\?#@\s]+(?=@)")
_PARAMETER = re.compile(
    rf"([?&#;](?:[^=&#\s]{{0,64}}(?:{'|'.join(_SECRET_NAMES)})[^=&#\s]{{0,64}}|sig)=)[^&#\s]+",
    re.IGNORECASE,
)
#: A header with a token or a password, and tokens that show by their form what they are (JWT).
_HEADER = re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)
_JWT = re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")
_MAX_VALUE = 200
_MAX_ITEMS = 20
#: Characters of all arguments together, as JSON.
_MAX_ARGUMENTS = 8_000
#: Characters of a value that are searched for secrets before it is cut.
_SEARCHED = 2_000
#: Shorter values may be words that stand in any text; their places are masked by form alone.
_SHORTEST: Final = 8


def redact(arguments: Mapping[str, Any]) -> str:
    """Arguments as JSON with secrets removed and long values cut.

    It takes whatever a caller may send, and the result is as long as an audit can bear.
    """
    text = _json({name: _shortened(name, value) for name, value in _items(arguments)})
    if len(text) <= _MAX_ARGUMENTS:
        return text
    return _json({"cut": text[:_MAX_ARGUMENTS] + "…"})


def without_secrets(text: str) -> str:
    """A text without what has the form of a secret: in addresses, headers and tokens."""
    text = _PARAMETER.sub(rf"\1{_MASK}", _USER_INFO.sub(_MASK, text))
    return _JWT.sub(_MASK, _HEADER.sub(rf"\1 {_MASK}", text))


class Redactor:
    """Takes the secrets of a deployment out of texts, wherever they come from.

    :param secrets: values to be found; those under 8 characters are left to their form.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        known = {spelling for secret in secrets for spelling in _spellings(secret)}
        longest_first = sorted(known, key=lambda value: (-len(value), value))
        self._known = re.compile("|".join(map(re.escape, longest_first))) if known else None

    @classmethod
    def of(cls, settings: Settings) -> Redactor:
        """One that knows the secrets in the settings."""
        return cls(secrets_of(settings))

    def __call__(self, text: str) -> str:
        return without_secrets(self._known.sub(_MASK, text) if self._known else text)


def secrets_of(settings: Settings) -> set[str]:
    """The secrets that settings hold: secret values, passwords in addresses, and whatever is
    called like a secret among the options of packs."""
    found = {value for name in type(settings).model_fields for value in _secrets(name, settings)}
    return found - {""}


def _secrets(name: str, holder: BaseModel) -> Iterator[str]:
    yield from _secrets_in(name, getattr(holder, name))


def _secrets_in(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, BaseModel):
        for field in type(value).model_fields:
            yield from _secrets(field, value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _secrets_in(str(key), inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _secrets_in(name, inner)
    elif isinstance(value, str):
        yield value if is_secret_name(name) else _password(value)


def _password(url: str) -> str:
    try:
        return unquote(urlsplit(url).password or "") if "://" in url else ""
    except ValueError:
        return ""


def _spellings(secret: str) -> Iterator[str]:
    """A secret as it stands in texts: as it is, in JSON, and as :func:`repr` has it."""
    if len(secret) >= _SHORTEST:
        yield from (secret, json.dumps(secret)[1:-1], repr(secret)[1:-1])


def _shortened(name: str, value: Any, depth: int = 0) -> Any:
    if any(word in name.lower() for word in _SECRET_NAMES):
        return _MASK
    if depth > _MAX_ITEMS:
        return "…"
    if isinstance(value, Mapping):
        return {key: _shortened(key, item, depth + 1) for key, item in _items(value)}
    if isinstance(value, list | tuple):
        return [_shortened(name, item, depth + 1) for item in value[:_MAX_ITEMS]]
    return _cut(value) if isinstance(value, str) else value


def _items(mapping: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The first items with their keys cut."""
    for key, value in islice(mapping.items(), _MAX_ITEMS):
        yield str(key)[:_MAX_VALUE], value


def _cut(text: str) -> str:
    found = without_secrets(text[:_SEARCHED])
    return found if len(found) <= _MAX_VALUE else found[:_MAX_VALUE] + "…"


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text.encode("utf-8", "replace").decode()  # SQLite stores no lone surrogates
