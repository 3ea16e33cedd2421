"""Structures that users' own vocabularies give.

Tables do in a column ``smiles``, ``inchi`` or ``inchikey``, SD files with each molecule.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from eagle_rag_biomed.chemistry.sdfiles import read_sd_file
from eagle_rag_biomed.files import FileUnusable
from eagle_rag_biomed.user_vocabularies import sd_curie

if TYPE_CHECKING:
    from eagle_rag_biomed.options import Options

_DELIMITERS: Final = {".tsv": "\t", ".csv": ","}
#: Columns that give a structure, in the order in which they count.
_COLUMNS: Final = ("smiles", "inchi", "inchikey")


@dataclass(frozen=True, slots=True)
class Compound:
    """A concept of a vocabulary, and its structure as it is written there."""

    curie: str
    notation: str


def compounds_of(options: Options | None) -> tuple[Compound, ...]:
    """The compounds of all vocabularies that ``options`` name.

    :raises FileUnusable: a file cannot be read any more.
    """
    layers = options.user_vocabularies if options else ()
    return tuple(compound for layer in layers for compound in _read(Path(layer.path)))


def _read(path: Path) -> Iterator[Compound]:
    suffix = path.suffix.lower()
    if suffix not in (*_DELIMITERS, ".sdf") or path.name.lower().endswith(".sssom.tsv"):
        return
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        raise FileUnusable(
            f"The vocabulary {path.name!r} cannot be read as UTF-8 text.", path
        ) from None
    if suffix == ".sdf":
        for record in read_sd_file(lines):
            yield Compound(sd_curie(path.stem, record), record.notation)
    else:
        yield from _table(lines, _DELIMITERS[suffix])


def _table(lines: Sequence[str], delimiter: str) -> Iterator[Compound]:
    rows = csv.reader((x for x in lines if x.strip() and x[0] != "#"), delimiter=delimiter)
    header = next(rows, [])
    for cells in rows:
        row = dict(zip(header, cells, strict=False))
        if notation := _first(row, _COLUMNS):
            yield Compound(row.get("curie", ""), notation)


def _first(row: dict[str, str], columns: Sequence[str]) -> str:
    return next((value for column in columns if (value := row.get(column, "").strip())), "")
