"""Front matter: the YAML (``---``) or TOML (``+++``) block at the top of a Markdown file."""

from __future__ import annotations

import datetime
import logging
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eagle_rag_core.ingest.parsers.normalise import one_line

logger = logging.getLogger(__name__)

_BLOCK = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)^(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.S | re.M)
_MAX_CHARS = 1 << 16
_MAX_FIELDS = 64
_MAX_VALUE = 1_000


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the block declares, and where the document proper begins."""

    end: int = 0
    title: str = ""
    language: str = ""
    keywords: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


def read_front_matter(text: str) -> FrontMatter:
    """Read the block; an empty result when there is none or it is not a mapping.

    A block that does not parse belongs to the text: a Markdown file may well begin with a rule.
    """
    match = _BLOCK.match(text, 0, _MAX_CHARS)
    if not match:
        return FrontMatter()
    fields = _load(match[1], match[2])
    if fields is None:
        return FrontMatter()
    scalars = {key: _scalar(value) for key, value in fields.items()}
    keywords = [word for key in ("keywords", "tags") for word in _words(fields.get(key))]
    named = {"title", "language", "lang", "keywords", "tags"}
    metadata = {key: value for key, value in scalars.items() if value and key not in named}
    return FrontMatter(
        end=match.end(),
        title=scalars.get("title", ""),
        language=scalars.get("language", "") or scalars.get("lang", ""),
        keywords=tuple(dict.fromkeys(keywords)),
        metadata=dict(list(metadata.items())[:_MAX_FIELDS]),
    )


def _load(fence: str, block: str) -> dict[str, Any] | None:
    import yaml

    try:
        value = tomllib.loads(block) if fence == "+++" else yaml.safe_load(block)
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        logger.info("front matter is not readable and stays in the text: %s", type(error).__name__)
        return None
    if not isinstance(value, dict):
        return None
    return {one_line(str(key)).lower(): item for key, item in value.items()}


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, str | int | float):
        return one_line(str(value))[:_MAX_VALUE]
    return ""


def _words(value: Any) -> list[str]:
    """Keywords come as a list or as one comma-separated text."""
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list):
        return []
    return [word for item in items[:_MAX_FIELDS] if (word := _scalar(item))]
