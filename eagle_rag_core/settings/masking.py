"""Settings as they may be shown: without what opens doors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, SecretStr

MASK: Final = "********"
#: Options of packs say nothing about which of them are secret but by their names.
_SECRET_WORDS: Final = "secret|password|passwd|token|(api|private|access)_?key|credentials?"
_SECRET_NAME: Final = re.compile(rf"({_SECRET_WORDS})(_hash)?$")
_SECRET_IN_JSON: Final = re.compile(rf'({_SECRET_WORDS})(_hash)?"\s*:')
_PASSWORD: Final = re.compile(r"(?<=://)([^/@:\s]*):[^/\s]*(?=@)|(?<=[?&]password)(=)[^&\s]*")


def shown(name: str, value: Any) -> Any:
    """A value as JSON, with secrets and passwords in URLs masked.

    :param name: of the setting, which may tell that it is secret.
    """
    if isinstance(value, SecretStr):
        return MASK if value.get_secret_value() else ""
    if isinstance(value, BaseModel):
        return {key: shown(key, getattr(value, key)) for key in type(value).model_fields}
    if isinstance(value, Mapping):
        return {str(key): shown(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [shown(name, inner) for inner in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str | Path):
        text = str(value)
        return MASK if text and is_secret_name(name) else without_password(text)
    return value


def is_secret(key: Sequence[str], value: str) -> bool:
    """Whether a setting that is given as text is, or holds, a secret.

    :param key: e.g. ``("auth", "api_key")``, or only a section.
    """
    if is_secret_name(key[-1]) or tuple(key[:2]) == ("auth", "tokens"):
        return True
    return has_password(value) or _SECRET_IN_JSON.search(value.lower()) is not None


def is_secret_name(name: str) -> bool:
    """Whether what is called so is better not shown."""
    return _SECRET_NAME.search(name.lower()) is not None


def without_password(text: str) -> str:
    """A URL with the password in it masked; any other text as it is."""
    return _PASSWORD.sub(_masked, text)


def has_password(text: str) -> bool:
    """Whether a text is a URL with a password in it."""
    return _PASSWORD.search(text) is not None


def _masked(match: re.Match[str]) -> str:
    return f"={MASK}" if match[2] else f"{match[1]}:{MASK}"
