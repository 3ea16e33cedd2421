"""Concepts, their types and identifiers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, get_args

from eagle_rag_biomed.name_rules import CaseRule

ConceptType = Literal["disease", "phenotype", "chemical", "gene", "variant", "species", "cell_line"]
CONCEPT_TYPES: Final[tuple[ConceptType, ...]] = get_args(ConceptType)

#: Spellings of prefixes that differ in more than case from the ones used here.
_PREFIXES: Final = {
    "msh": "mesh",
    "entrez": "ncbigene",
    "taxonomy": "ncbitaxon",
    "taxid": "ncbitaxon",
    "cvcl": "cellosaurus",
    "hpo": "hp",
}
_SEPARATOR: Final = re.compile(r"[:/#]")
#: An identifier as OBO ontologies write it in addresses. Cellosaurus's own have a "_" inside.
_OBO: Final = re.compile(r"(?!cvcl_)[a-z]+_[a-z]?\d+")
#: Shortest names that are told from words by more than their case.
_LONGEST_ACRONYM: Final = 5
_SHORTEST_SYMBOL_WORD: Final = 4


@dataclass(frozen=True, slots=True)
class Concept:
    """Something that has an identifier and names.

    :param curie: its one canonical identifier, e.g. ``MESH:D009203``.
    :param label: its preferred name; not repeated in ``names``.
    :param xrefs: identifiers of the same thing in other terminologies.
    :param parents: identifiers of the broader concepts it is a kind of.
    :param lineage: ``parents`` are all broader concepts, nearest first: those above them are not
        its own. A concept of MeSH stands at several places, and its parents stand at more.
    :param asked: its names are looked up, as those of other concepts, but not looked for in
        texts: a class such as "nerve tissue proteins", which people ask for.
    """

    curie: str
    type: ConceptType
    label: str
    names: tuple[str, ...] = ()
    xrefs: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    lineage: bool = False
    asked: bool = False

    @property
    def all_names(self) -> tuple[str, ...]:
        return (self.label, *self.names)


def identifier_key(identifier: str) -> str:
    """An identifier in the form that all its common spellings share.

    ``MESH:D009203``, ``mesh:D009203``, ``MSH:D009203`` and ``CHEBI:CHEBI:15365`` beside
    ``chebi:15365``, ``CHEBI_15365`` and ``http://purl.obolibrary.org/obo/CHEBI_15365`` are
    spellings of one identifier each.
    """
    parts = [p for p in _SEPARATOR.split(identifier.strip().casefold()) if p]
    if parts and _OBO.fullmatch(parts[-1]) and (len(parts) == 1 or "obo" in parts[-2:]):
        parts = parts[-1].split("_")
    if len(parts) < 2:
        return parts[0] if parts else ""
    prefix = _PREFIXES.get(parts[-2], parts[-2])
    return f"{prefix}:{parts[-1]}"


def case_rule(name: str, concept_type: ConceptType) -> CaseRule:
    """How ``name`` is told from common words and other names by its case.

    Gene symbols and short acronyms keep theirs: ``MET`` and ``ALL`` are also words.
    """
    if " " in name:
        return CaseRule.WORD
    capitals = sum(c.isupper() for c in name)
    digits = any(c.isdigit() for c in name)
    if concept_type == "gene":
        return _symbol_rule(name, capitals, digits)
    if concept_type == "cell_line":
        return CaseRule.EXACT
    letters = sum(c.isalpha() for c in name)
    if (capitals >= 2 and len(name) <= _LONGEST_ACRONYM) or letters <= 2:
        return CaseRule.EXACT
    return CaseRule.WORD


def _symbol_rule(name: str, capitals: int, digits: bool) -> CaseRule:
    if not capitals and not digits:
        return CaseRule.WORD
    long_enough = len(name) >= _SHORTEST_SYMBOL_WORD
    if digits:
        return CaseRule.FREE if long_enough else CaseRule.SYMBOL
    return CaseRule.SYMBOL if long_enough else CaseRule.EXACT
