"""Concepts and their names."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Final, Literal, get_args

from eagle_rag_biomed.names import NameIndex
from eagle_rag_core.errors import PluginError

ConceptType = Literal["disease", "phenotype", "chemical", "gene", "species", "cell_line"]
CONCEPT_TYPES: Final[tuple[ConceptType, ...]] = get_args(ConceptType)

_COLUMNS: Final = ("curie", "type", "label", "names", "xrefs")
#: How alike two names must be for one to be suggested for the other, 0..1.
_SIMILAR: Final = 0.8

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Concept:
    """Something that has an identifier and names.

    :param curie: its one canonical identifier, e.g. ``MESH:D009203``.
    :param label: its preferred name; not repeated in ``names``.
    :param xrefs: identifiers of the same thing in other terminologies.
    """

    curie: str
    type: ConceptType
    label: str
    names: tuple[str, ...] = ()
    xrefs: tuple[str, ...] = ()

    @property
    def all_names(self) -> tuple[str, ...]:
        return (self.label, *self.names)


class Vocabulary:
    """A set of concepts that can be looked up by identifier and by name.

    :param name: shown to callers, with ``version``, beside every answer.
    """

    def __init__(self, concepts: Iterable[Concept], *, name: str, version: str) -> None:
        self.name = name
        self.version = version
        self.concepts: tuple[Concept, ...] = tuple(concepts)
        self._by_id: dict[str, Concept] = {}
        for concept in self.concepts:
            for identifier in (concept.curie, *concept.xrefs):
                self._by_id[identifier.casefold()] = concept

    def __len__(self) -> int:
        return len(self.concepts)

    @cached_property
    def index(self) -> NameIndex[Concept]:
        """All names of all concepts."""
        index: NameIndex[Concept] = NameIndex()
        for concept in self.concepts:
            for name in concept.all_names:
                index.add(name, concept, exact_case=case_matters(name, concept.type))
        return index

    def by_id(self, identifier: str) -> Concept | None:
        """The concept of a CURIE, in any case, canonical or a cross-reference."""
        return self._by_id.get(identifier.strip().casefold())

    def by_name(self, name: str) -> tuple[Concept, ...]:
        """The concepts ``name`` as a whole may stand for; several when it is ambiguous."""
        return self.index.lookup(name)

    def similar(self, name: str, limit: int = 3) -> list[Concept]:
        """Concepts with a name spelled like ``name``, the most alike first."""
        spellings = difflib.get_close_matches(
            name.casefold(), self._spellings, n=limit * 2, cutoff=_SIMILAR
        )
        found = dict.fromkeys(c for s in spellings for c in self._spellings[s])
        return list(found)[:limit]

    @cached_property
    def _spellings(self) -> dict[str, list[Concept]]:
        spellings: dict[str, list[Concept]] = {}
        for concept in self.concepts:
            for name in concept.all_names:
                spellings.setdefault(name.casefold(), []).append(concept)
        return spellings


def case_matters(name: str, concept_type: ConceptType) -> bool:
    """Whether ``name`` is told from common words and other names by its case.

    So are gene symbols (``MET``, ``p21``) and short acronyms (``ALL``, ``T2DM``).
    """
    if " " in name:
        return False
    capitals = sum(c.isupper() for c in name)
    if concept_type == "gene":
        return capitals > 0 or any(c.isdigit() for c in name)
    return capitals >= 2 and len(name) <= 5


def parse_vocabulary(lines: Iterable[str]) -> Iterator[Concept]:
    """Concepts of a vocabulary table: tab-separated columns named by its first line.

    Columns this version does not know are passed over, lines that begin with ``#`` as well.

    :raises PluginError: a column is missing, or a line does not describe a concept.
    """
    rows = (line.rstrip("\r\n") for line in lines if line.strip() and not line.startswith("#"))
    header = next(rows, "").split("\t")
    missing = [c for c in _COLUMNS if c not in header]
    if missing:
        raise PluginError(f"The vocabulary has no column {missing[0]!r}.")
    columns = [header.index(c) for c in _COLUMNS]
    for number, row in enumerate(rows, start=1):
        cells = row.split("\t")
        if len(cells) != len(header):
            raise PluginError(f"Entry {number} of the vocabulary has {len(cells)} columns.")
        yield _concept(number, [cells[c] for c in columns])


def _concept(number: int, cells: Sequence[str]) -> Concept:
    curie, concept_type, label, names, xrefs = cells
    if concept_type not in CONCEPT_TYPES:
        raise PluginError(
            f"Entry {number} of the vocabulary has the unknown type {concept_type!r}."
        )
    if ":" not in curie or not label:
        raise PluginError(f"Entry {number} of the vocabulary lacks an identifier or a label.")
    return Concept(
        curie,
        concept_type,
        label,
        tuple(n for n in names.split("|") if n),
        tuple(x for x in xrefs.split("|") if x),
    )


@cache
def builtin_vocabulary() -> Vocabulary:
    """The vocabulary that comes with the package."""
    text = (files("eagle_rag_biomed") / "data" / "vocabulary.tsv").read_text(encoding="utf-8")
    vocabulary = Vocabulary(
        parse_vocabulary(text.splitlines()), name="eagle-rag-biomed built-in", version="1"
    )
    _log.info(
        "Using the small built-in vocabulary of %d common concepts; what it does not name is "
        "found as text only.",
        len(vocabulary),
    )
    return vocabulary
