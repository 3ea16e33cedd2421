"""Writes the folder that :mod:`eagle_rag_biomed.artefact` maps into memory."""

from __future__ import annotations

import json
import shutil
import struct
import zlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from eagle_rag_biomed.artefact import BLOCK, FORMAT, META
from eagle_rag_biomed.concepts import CONCEPT_TYPES, Concept
from eagle_rag_biomed.names import compile_names
from eagle_rag_biomed.tries import number_trie
from eagle_rag_biomed.vocabulary import Source, identifiers_of, names_of
from eagle_rag_core.errors import PluginError

#: Names kept with a concept to be shown; all of them are found.
_SHOWN_NAMES: Final = 2


def check_replaceable(folder: Path) -> None:
    """:raises PluginError: ``folder`` exists and is no vocabulary: it is not ours to replace."""
    if folder.exists() and not (folder / META).is_file() and _any_content(folder):
        raise PluginError(
            f"{folder.name!r} exists and is no compiled vocabulary; name a new folder."
        )


def _any_content(folder: Path) -> bool:
    """Whether ``folder`` is a file, or a folder with anything in it."""
    return not folder.is_dir() or next(folder.iterdir(), None) is not None


def write_artefact(
    folder: Path,
    concepts: Sequence[Concept],
    *,
    name: str,
    version: str,
    built: str,
    sources: Sequence[Source],
) -> None:
    """Write the vocabulary of ``concepts`` to ``folder``; one that is there is replaced.

    :param built: the date of today, kept in ``meta.json``.
    :raises PluginError: ``folder`` holds something else, see :func:`check_replaceable`.
    """
    check_replaceable(folder)
    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    table = compile_names(names_of(concepts))
    table.trie.save(str(new / "names.trie"))
    (new / "slots.bin").write_bytes(table.slots)
    (new / "overflow.bin").write_bytes(table.overflow)
    identifiers = dict(identifiers_of(concepts))
    number_trie(identifiers.items()).save(str(new / "ids.trie"))
    (new / "types.bin").write_bytes(bytes(CONCEPT_TYPES.index(c.type) for c in concepts))
    offsets = array("I", [0])
    with (new / "concepts.bin").open("wb") as file:
        for block in _deflated(concepts):
            file.write(block)
            offsets.append(offsets[-1] + len(block))
    (new / "blocks.bin").write_bytes(struct.pack(f"<{len(offsets)}I", *offsets))
    meta = {
        "format": FORMAT,
        "name": name,
        "version": version,
        "built": built,
        "concepts": len(concepts),
        "names": len(table.trie),
        "sources": [asdict(s) for s in sources],
    }
    (new / META).write_text(json.dumps(meta, indent=1, ensure_ascii=False), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)


def _deflated(concepts: Sequence[Concept]) -> Iterator[bytes]:
    for first in range(0, len(concepts), BLOCK):
        rows = [_row(c) for c in concepts[first : first + BLOCK]]
        text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
        yield zlib.compress(text.encode(), 9)


def _row(concept: Concept) -> list[Any]:
    names = sorted(concept.names, key=len)[:_SHOWN_NAMES]
    kind = CONCEPT_TYPES.index(concept.type)
    return [
        concept.curie,
        kind,
        concept.label,
        names,
        concept.xrefs,
        concept.parents,
        int(concept.lineage),
        int(concept.asked),
    ]
