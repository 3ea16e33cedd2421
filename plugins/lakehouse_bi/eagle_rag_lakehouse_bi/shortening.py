"""How long an answer is for a language model, and making parts of it shorter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final, TypeVar

#: ASCII characters of JSON a token stands for, on the safe side.
_CHARACTERS_PER_TOKEN: Final = 3.5
_ELLIPSIS: Final = "…"
#: What is of use whole or not at all.
_WHOLE: Final = frozenset({"urn", "node_id", "document_id", "kb_name", "hash", "kind", "id"})
#: Lists of what an answer is about, which are cut in pages instead.
_PAGED: Final = frozenset({"columns"})
#: Characters of a text and entries of a list, ever fewer.
_LEVELS: Final = ((2_000, 20), (600, 8), (200, 3), (60, 1), (16, 1))
#: Characters of what is of use whole, where nothing else helps.
_LAST: Final = 64

_Item = TypeVar("_Item")


def size_in_tokens(item: Any) -> int:
    """The estimated size of a dataclass in an answer, on the safe side: 3.5 ASCII characters or
    one CJK character a token."""
    return size_of_text(json.dumps(item, ensure_ascii=False, default=_fields_of))


def _fields_of(item: Any) -> dict[str, Any]:
    """The fields of a dataclass, not copied."""
    return {field.name: getattr(item, field.name) for field in fields(item)}


def size_of_text(text: str) -> int:
    """The estimated tokens of a text."""
    wide = (len(text.encode("utf-8", "surrogatepass")) - len(text) + 1) // 2
    return round((len(text) - wide) / _CHARACTERS_PER_TOKEN) + wide


def ever_shorter(item: _Item) -> Iterator[_Item]:
    """A dataclass with its texts and lists cut, more each time; names that identify stay whole
    until the last."""
    for letters, entries in _LEVELS:
        yield _shortened(item, letters, entries)
    yield _shortened(item, *_LEVELS[-1], _LAST)


def _shortened(item: _Item, letters: int, entries: int, longest: int = 0) -> _Item:
    """:param longest: characters of what identifies; 0 for all."""
    changed = {
        field.name: _cut(field.name, getattr(item, field.name), letters, entries, longest)
        for field in fields(item)  # type: ignore[arg-type]
    }
    return replace(item, **changed)  # type: ignore[type-var]


def _cut(name: str, value: Any, letters: int, entries: int, longest: int) -> Any:
    if isinstance(value, str):
        most = (longest or len(value)) if name in _WHOLE else letters
        return value if len(value) <= most else value[: most - 1].rstrip() + _ELLIPSIS
    if isinstance(value, list):
        kept = value if name in _PAGED else value[:entries]
        return [_cut("", entry, letters, entries, longest) for entry in kept]
    if is_dataclass(value):
        return _shortened(value, letters, entries, longest)
    return value
