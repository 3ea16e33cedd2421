"""Settings on their way to another process of this deployment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from eagle_rag_core.settings.loading import Settings


def dumps(settings: Settings) -> str:
    """The settings as JSON, secrets included: for a pipe, not for a log."""
    return json.dumps(_plain(settings.model_dump()))


def loads(text: str) -> Settings:
    """The settings again, in a process with the same environment."""
    return Settings(**json.loads(text))


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    return value
