"""The vocabulary that comes with the package, and the table format it is written in."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from eagle_rag_biomed.concepts import CONCEPT_TYPES, Concept, ConceptType
from eagle_rag_biomed.vocabulary import Source, Vocabulary
from eagle_rag_core.errors import PluginError

_NEEDED: Final = ("curie", "label")
_VERSION: Final = "1"

_log = logging.getLogger(__name__)


def parse_vocabulary(lines: Iterable[str]) -> Iterator[Concept]:
    """Concepts of a vocabulary table: tab-separated columns named by its first line.

    Columns this version does not know are passed over, lines that begin with ``#`` as well.

    :raises PluginError: a column is missing, or a line does not describe a concept.
    """
    rows = (line.rstrip("\r\n") for line in lines if line.strip() and not line.startswith("#"))
    return parse_rows(row.split("\t") for row in rows)


def parse_rows(rows: Iterable[Sequence[str]], kind: ConceptType | None = None) -> Iterator[Concept]:
    """Concepts of a table's rows, the first of which names its columns.

    Columns are ``curie``, ``type``, ``label``, and where there are any ``names``, ``xrefs`` and
    ``parents``, each several separated by "|".

    :param kind: type of concepts for which the table gives none.
    :raises PluginError: a column is missing, or a row does not describe a concept.
    """
    remaining = iter(rows)
    header = list(next(remaining, ()))
    needed = _NEEDED if kind else (*_NEEDED, "type")
    missing = [c for c in needed if c not in header]
    if missing:
        raise PluginError(f"The vocabulary has no column {missing[0]!r}.")
    for number, cells in enumerate(remaining, start=1):
        if len(cells) != len(header):
            raise PluginError(f"Entry {number} of the vocabulary has {len(cells)} columns.")
        yield _concept(number, dict(zip(header, cells, strict=True)), kind)


def _concept(number: int, row: Mapping[str, str], kind: ConceptType | None) -> Concept:
    given = row.get("type") or kind or ""
    concept_type = next((t for t in CONCEPT_TYPES if t == given), None)
    if concept_type is None:
        raise PluginError(f"Entry {number} of the vocabulary has the unknown type {given!r}.")
    if ":" not in row["curie"] or not row["label"]:
        raise PluginError(f"Entry {number} of the vocabulary lacks an identifier or a label.")
    return Concept(
        row["curie"],
        concept_type,
        row["label"],
        _several(row, "names"),
        _several(row, "xrefs"),
        _several(row, "parents"),
    )


def _several(row: Mapping[str, str], column: str) -> tuple[str, ...]:
    return tuple(value for value in row.get(column, "").split("|") if value)


def builtin_concepts() -> Iterator[Concept]:
    """The hand-written concepts of the package."""
    text = (files("eagle_rag_biomed") / "data" / "vocabulary.tsv").read_text(encoding="utf-8")
    return parse_vocabulary(text.splitlines())


@cache
def builtin_vocabulary() -> Vocabulary:
    """The vocabulary that comes with the package."""
    concepts = tuple(builtin_concepts())
    source = Source(
        "hand-written list", _VERSION, "2026", "Apache-2.0", "eagle-rag-biomed", len(concepts)
    )
    vocabulary = Vocabulary.of(
        concepts, name="eagle-rag-biomed built-in", version=_VERSION, sources=[source]
    )
    _log.info(
        "Using the small built-in vocabulary of %d common concepts; what it does not name is "
        "found as text only. 'eagle-rag-biomed vocab build' compiles a large one.",
        len(vocabulary),
    )
    return vocabulary
