"""Reading JSON that may lack anything or hold anything anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

Node = Mapping[str, Any]
_EMPTY: Node = {}
#: The key under which a mapping that was read from YAML has the number of its first line.
LINE: Final = "__line__"


def text(node: Node, *path: str) -> str:
    """The string at ``path``, "" when it is absent or something else; surrounding space, NULs and
    lone surrogates off, lines ended by ``\\n``."""
    value = at(node, *path)
    return _clean(value) if isinstance(value, str) else ""


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


def strangers(node: Node, part: str) -> list[str]:
    """What is no object in the list or mapping under ``part``: its key, or its number (1-based)."""
    value = node.get(part)
    if isinstance(value, dict):
        named = {str(key): item for key, item in value.items() if key != LINE}
    elif isinstance(value, list):
        named = {f"Number {n} of “{part}”": item for n, item in enumerate(value, start=1)}
    else:
        named = {}
    return [_clean(name) for name, item in named.items() if not isinstance(item, dict)]


def texts(node: Node, *path: str) -> tuple[str, ...]:
    """The non-empty strings in the list at ``path``."""
    value = at(node, *path)
    strings = value if isinstance(value, list) else []
    return tuple(c for v in strings if isinstance(v, str) and (c := _clean(v)))


def scalars(node: Node, *path: str) -> tuple[str, ...]:
    """The strings, numbers and truth values in the list at ``path``, as text."""
    value = at(node, *path)
    known = value if isinstance(value, list) else []
    return tuple(_clean(str(v)) for v in known if isinstance(v, str | int | float))


def names(node: Node, *path: str) -> tuple[str, ...]:
    """The strings at ``path``: a list of them, or one alone."""
    return texts(node, *path) or tuple(filter(None, (text(node, *path),)))


def named(node: Node) -> str:
    """The name of an object.

    :raises ValueError: it has none.
    """
    name = text(node, "name")
    if not name:
        raise ValueError("an object needs a name")
    return name


def flag(node: Node, *path: str) -> bool:
    """Whether a truth value, or a word for one, stands at ``path``."""
    value = at(node, *path)
    return value is True or (isinstance(value, str) and value.lower() in ("true", "yes"))


def at(node: Node, *path: str) -> Any:
    """Whatever stands at ``path``, ``None`` when there is nothing."""
    value: Any = node
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _clean(value: str) -> str:
    valid = value.encode("utf-8", errors="ignore").decode("utf-8")
    return valid.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n").strip()
