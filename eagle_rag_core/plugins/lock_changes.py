"""What changed between two locks, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile, zip_longest
from typing import Any, Final

from eagle_rag_core.errors import ErrorCode, PluginError
from eagle_rag_core.plugins.lockfile import Block, Lock, lock_distributions
from eagle_rag_core.plugins.sources import PackSource

#: A line repeats at most so many characters of a value.
_SHOWN: Final = 120


def require_same(locked: Lock, now: Lock, *, where: str) -> None:
    """Refuse a surface that is not the locked one.

    :param where: name of the lock, for the message.
    :raises PluginError: ``lock_mismatch``, with :func:`changes`.
    """
    _refuse(changes(locked, now), where)


def require_same_packs(locked: Lock, packs: Sequence[PackSource], *, where: str) -> None:
    """Refuse other distributions than the locked ones, before any of them is imported.

    Raises as :func:`require_same` does.

    :param packs: those about to be loaded.
    """
    _refuse(list(_sections("distribution", locked.distributions, lock_distributions(packs))), where)


def changes(locked: Lock, now: Lock) -> list[str]:
    """One line for everything added (``+``), removed (``-``) or changed (``~``); none if equal."""
    lines = []
    if locked.namespace != now.namespace:
        lines.append(f"~ namespace: {_shown(locked.namespace)} -> {_shown(now.namespace)}")
    if locked.packs != now.packs:
        lines.append(f"~ set of packs: {_shown(locked.packs)} -> {_shown(now.packs)}")
    lines += _sections("distribution", locked.distributions, now.distributions)
    lines += _sections("tool", locked.tools, now.tools)
    return lines


def _refuse(lines: Sequence[str], where: str) -> None:
    if lines:
        raise PluginError(
            f"What this deployment loads or exposes is not what {where} says:\n"
            + "\n".join(f"  {line}" for line in lines)
            + "\nIf that is wanted, review it and run `eagle-rag packs lock`.",
            code=ErrorCode.LOCK_MISMATCH,
        )


def _sections(noun: str, old: Mapping[str, Block], new: Mapping[str, Block]) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield f"- {noun} {name}"
        elif name not in old:
            block = new[name]
            yield f"+ {noun} {name}: {_shown(block.get('description') or block.get('version'))}"
        elif details := list(_differences(old[name], new[name], ())):
            yield f"~ {noun} {name}"
            yield from (f"    {line}" for line in details)


def _differences(old: Any, new: Any, path: tuple[str, ...]) -> Iterator[str]:
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        if old != new:
            yield f"{'.'.join(path)}: {_first_difference(old, new)}"
        return
    for key in sorted(old.keys() | new.keys()):
        if not path and key == "sha256":  # follows from the rest
            continue
        where = (*path, key)
        if key not in new:
            yield f"{'.'.join(where)} removed"
        elif key not in old:
            yield f"{'.'.join(where)} added: {_shown(new[key])}"
        else:
            yield from _differences(old[key], new[key], where)


def _first_difference(old: object, new: object) -> str:
    """Both values; of texts the first lines that differ, from where they do."""
    if not (isinstance(old, str) and isinstance(new, str)):
        return f"{_shown(old)} -> {_shown(new)}"
    for before, after in zip_longest(old.splitlines(), new.splitlines()):
        if before != after:
            return f"{_around(before, after)} -> {_around(after, before)}"
    return f"{_shown(old[-_SHOWN:])} -> {_shown(new[-_SHOWN:])}"


def _around(line: str | None, other: str | None) -> str:
    """A line, cut to where it begins to differ from another one."""
    if line is None:
        return "(nothing)"
    same = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(line, other or "", strict=False))
    )
    start = max(0, same - _SHOWN // 2)
    return ("…" if start else "") + _shown(line[start:])


def _shown(value: object) -> str:
    """A value as Python writes it, which makes invisible characters visible."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
