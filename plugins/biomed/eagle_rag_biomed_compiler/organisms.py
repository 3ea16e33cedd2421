"""Species of the NCBI Taxonomy, and cell lines of Cellosaurus."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from eagle_rag_biomed.concepts import Concept
from eagle_rag_biomed_compiler.merging import ConceptMerger

#: "Escherichia coli": names as texts write them, without strains and provisional names.
_BINOMIAL: Final = re.compile(r"[A-Z][a-z]+ [a-z]{3,}(?:-[a-z]+)?")
_PROVISIONAL: Final = re.compile(
    r"\b(?:sp|cf|aff|bacterium|archaeon|virus|environmental|unclassified)\b"
)
#: Names of several words are products of catalogues: a gene knocked out in a known line.
_LINE_NAME: Final = re.compile(r"(?=.*[A-Za-z])(?=.*[A-Z0-9])\S{3,20}")


def add_species(merger: ConceptMerger, terms: Mapping[str, Mapping[str, Any]]) -> None:
    """Add species by their two-part names."""
    for curie, term in terms.items():
        label = term.get("label", "")
        if term.get("deprecated") or _PROVISIONAL.search(label) or not _BINOMIAL.fullmatch(label):
            continue
        merger.add(Concept(curie, "species", label), by_name=True)


def add_cell_lines(merger: ConceptMerger, terms: Mapping[str, Mapping[str, Any]]) -> None:
    for identifier, term in terms.items():
        label = term.get("label", "")
        if not term.get("deprecated") and _LINE_NAME.fullmatch(label):
            merger.add(Concept(f"Cellosaurus:{identifier}", "cell_line", label), by_name=True)
