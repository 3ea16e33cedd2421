"""Reading JSON that may lack anything or hold anything anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Node = Mapping[str, Any]
_EMPTY: Node = {}


def text(node: Node, *path: str) -> str:
    """The string at ``path``, "" when it is absent or something else; surrounding space off."""
    value = at(node, *path)
    return value.strip() if isinstance(value, str) else ""


def mapping(node: Node, *path: str) -> Node:
    """The object at ``path``, an empty one when it is absent or something else."""
    value = at(node, *path)
    return value if isinstance(value, dict) else _EMPTY


def objects(node: Node, *path: str) -> Iterator[Node]:
    """The objects in the list, or among the values of the object, at ``path``."""
    value = at(node, *path)
    values = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list):
        yield from (v for v in values if isinstance(v, dict))


def texts(node: Node, *path: str) -> tuple[str, ...]:
    """The non-empty strings in the list at ``path``."""
    value = at(node, *path)
    return tuple(v for v in value if isinstance(v, str) and v) if isinstance(value, list) else ()


def scalars(node: Node, *path: str) -> tuple[str, ...]:
    """The strings, numbers and truth values in the list at ``path``, as text."""
    value = at(node, *path)
    known = value if isinstance(value, list) else []
    return tuple(str(v) for v in known if isinstance(v, str | int | float))


def at(node: Node, *path: str) -> Any:
    """Whatever stands at ``path``, ``None`` when there is nothing."""
    value: Any = node
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
