"""The tries of marisa-trie, typed: static, compact, mapped from files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from eagle_rag_core.errors import PluginError


class KeyTrie(Protocol):
    """Texts, each with a number from 0."""

    def __len__(self) -> int: ...

    def __getitem__(self, key: str) -> int: ...

    def get(self, key: str) -> int | None: ...

    def iter_prefixes_with_ids(self, text: str) -> Iterator[tuple[str, int]]:
        """Keys that ``text`` begins with, shortest first."""

    def iterkeys(self, prefix: str) -> Iterator[str]: ...

    def save(self, path: str) -> None: ...


class NumberTrie(Protocol):
    """Texts, each with numbers of its own."""

    def get(self, key: str) -> list[tuple[int]] | None: ...

    def save(self, path: str) -> None: ...


def key_trie(keys: Iterable[str]) -> KeyTrie:
    trie: KeyTrie = _marisa().Trie(list(keys))
    return trie


def number_trie(numbers: Iterable[tuple[str, int]]) -> NumberTrie:
    trie: NumberTrie = _marisa().RecordTrie("<I", ((key, (n,)) for key, n in numbers))
    return trie


def open_key_trie(path: Path) -> KeyTrie:
    """:raises OSError, RuntimeError: the file is absent, or no trie."""
    trie: KeyTrie = _marisa().Trie().mmap(str(path))
    return trie


def open_number_trie(path: Path) -> NumberTrie:
    """:raises OSError, RuntimeError: the file is absent, or no trie."""
    trie: NumberTrie = _marisa().RecordTrie("<I").mmap(str(path))
    return trie


def _marisa() -> Any:
    # Its native code is loaded when a vocabulary is opened, not when the pack is imported.
    try:
        import marisa_trie  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise PluginError("eagle-rag-biomed needs marisa-trie; install it again.") from None
    return marisa_trie
