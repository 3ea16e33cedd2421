"""Changing one entry of a client's JSON file, and nothing else in it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eagle_rag_core.errors import ConfigError

_BY_HAND = "Put the entry in by hand: --print shows it."


def put_entry(path: Path, servers: str, name: str, entry: Mapping[str, Any] | None) -> Path | None:
    """Set the entry of one server; ``None`` takes it out.

    Whatever else the file holds stays as it is, in its order. The file changes whole or not at
    all, and a copy of what it was is left beside it. Nothing is written where nothing changes.

    :param servers: key of the mapping of servers.
    :return: the copy, if there is one.
    :raises ConfigError: the file is not plain JSON, is not built as expected, or cannot be
        written; it is as it was.
    """
    target = path.resolve()  # a link into a folder of dotfiles stays one
    before = _read(target)
    content = _parse(before, path) if before is not None and before.strip() else {}
    found = content.get(servers, {})
    if not isinstance(found, dict):
        raise ConfigError(f"{servers!r} in {path} is no mapping of servers. {_BY_HAND}")
    if found.get(name) == entry:
        return None
    if entry is None:
        del found[name]
    else:
        content[servers] = {**found, name: dict(entry)}
    backup = _copy(target) if before is not None else None
    if _read(target) != before:
        raise ConfigError(f"{path} has just been changed by another program; run this again.")
    _replace(target, _dump(content))
    return backup


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read; check its rights.") from error


def _parse(data: bytes, path: Path) -> dict[str, Any]:
    try:
        content = json.loads(
            data.decode("utf-8-sig"), object_pairs_hook=_once, parse_constant=_refuse
        )
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{path} is not plain JSON (comments and trailing commas are not): it was left alone. "
            f"{_BY_HAND}"
        ) from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path} is no JSON object: it was left alone. {_BY_HAND}")
    return content


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object, unless a key is there twice: one of the two would be lost."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _dump(content: Mapping[str, Any]) -> bytes:
    try:
        return f"{json.dumps(content, ensure_ascii=False, indent=2)}\n".encode()
    except UnicodeEncodeError:  # half of a pair of surrogates, which only escapes can write
        return f"{json.dumps(content, indent=2)}\n".encode()


def _copy(path: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    backup = path.with_name(f"{path.name}.{stamp}.bak")
    number = 1
    while backup.exists():
        number += 1
        backup = path.with_name(f"{path.name}.{stamp}-{number}.bak")
    try:
        shutil.copy2(path, backup)
    except OSError as error:
        raise ConfigError(f"No copy of {path} can be made beside it; check the rights.") from error
    return backup


def _replace(path: Path, data: bytes) -> None:
    """Write a file; it appears whole or not at all, readable by whom it was."""
    partial = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, partial)
        Path(partial).replace(path)
    except OSError as error:
        if partial:
            Path(partial).unlink(missing_ok=True)
        raise ConfigError(f"{path} cannot be written; check the rights of its folder.") from error
