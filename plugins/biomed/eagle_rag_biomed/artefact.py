"""A compiled vocabulary: a folder of files that are mapped into memory, never read whole.

``meta.json`` says what it is, ``names.trie``, ``slots.bin`` and ``overflow.bin`` are a
:class:`~eagle_rag_biomed.names.NameTable`, ``ids.trie`` leads from identifiers to numbers,
``types.bin`` has a byte a concept, ``concepts.bin`` the concepts, deflated in small blocks that
``blocks.bin`` locates.
"""

from __future__ import annotations

import json
import mmap
import struct
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, overload

from eagle_rag_biomed.concepts import CONCEPT_TYPES, Concept, ConceptType
from eagle_rag_biomed.files import FileUnusable
from eagle_rag_biomed.names import NameTable
from eagle_rag_biomed.tries import NumberTrie, open_key_trie, open_number_trie
from eagle_rag_biomed.vocabulary import Source, Vocabulary

FORMAT: Final = 3
META: Final = "meta.json"
#: Concepts per deflated block: larger blocks are smaller in sum and slower to read one from.
BLOCK: Final = 128
_OFFSET: Final = struct.Struct("<I")


class _StoredConcepts(Sequence[Concept]):
    """Concepts in deflated blocks."""

    def __init__(self, blocks: memoryview, offsets: memoryview, count: int) -> None:
        self._blocks = blocks
        self._offsets = offsets
        self._count = count
        self._block = lru_cache(maxsize=64)(self._read_block)
        self._concept = lru_cache(maxsize=8192)(self._read)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Concept: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Concept]: ...
    def __getitem__(self, index: int | slice) -> Concept | Sequence[Concept]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        if not 0 <= index < self._count:
            raise IndexError(index)
        return self._concept(index)

    def _read(self, index: int) -> Concept:
        row = self._block(index // BLOCK)[index % BLOCK]
        curie, kind, label, names, xrefs, parents, lineage, asked = row
        return Concept(
            curie,
            CONCEPT_TYPES[kind],
            label,
            tuple(names),
            tuple(xrefs),
            tuple(parents),
            bool(lineage),
            bool(asked),
        )

    def _read_block(self, number: int) -> list[Any]:
        (first,) = _OFFSET.unpack_from(self._offsets, number * _OFFSET.size)
        (last,) = _OFFSET.unpack_from(self._offsets, (number + 1) * _OFFSET.size)
        rows: list[Any] = json.loads(zlib.decompress(self._blocks[first:last]))
        return rows


class _StoredIdentifiers:
    """Numbers of concepts by identifier, in a trie."""

    def __init__(self, trie: NumberTrie) -> None:
        self._trie = trie

    def get(self, key: str, /) -> int | None:
        found = self._trie.get(key)
        return found[0][0] if found else None


def read_meta(folder: Path) -> dict[str, Any]:
    """What a compiled vocabulary says of itself.

    :raises PluginError: ``folder`` has none, or one of another version of the pack.
    """
    try:
        meta: dict[str, Any] = json.loads((folder / META).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise FileUnusable(
            f"There is no compiled vocabulary in {folder.name!r}; make one with "
            "'eagle-rag-biomed vocab build'.",
            folder,
        ) from None
    if meta.get("format") != FORMAT:
        raise FileUnusable(
            f"The vocabulary in {folder.name!r} has another format than this version reads; "
            "build it again with 'eagle-rag-biomed vocab build'.",
            folder,
        )
    return meta


def open_artefact(folder: Path) -> Vocabulary:
    """The compiled vocabulary in ``folder``.

    :raises PluginError: it is absent, incomplete or of another format.
    """
    meta = read_meta(folder)
    try:
        table = NameTable(
            open_key_trie(folder / "names.trie"),
            _mapped(folder / "slots.bin"),
            _mapped(folder / "overflow.bin"),
        )
        ids = open_number_trie(folder / "ids.trie")
        types = _mapped(folder / "types.bin")
        concepts = _StoredConcepts(
            _mapped(folder / "concepts.bin"), _mapped(folder / "blocks.bin"), len(types)
        )
    except (OSError, RuntimeError):
        raise FileUnusable(
            f"The vocabulary in {folder.name!r} is incomplete; build it again with "
            "'eagle-rag-biomed vocab build'.",
            folder,
        ) from None

    def type_of(number: int) -> ConceptType:
        return CONCEPT_TYPES[types[number]]

    return Vocabulary(
        concepts,
        table,
        _StoredIdentifiers(ids),
        name=meta["name"],
        version=meta["version"],
        sources=[Source(**s) for s in meta["sources"]],
        type_of=type_of,
    )


def _mapped(path: Path) -> memoryview:
    """The file's bytes, read when they are used; it may be empty."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
