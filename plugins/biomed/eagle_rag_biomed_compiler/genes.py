"""HGNC: human genes, with their orthologs in mouse and rat as cross-references."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from eagle_rag_biomed.concepts import Concept
from eagle_rag_biomed_compiler.merging import ConceptMerger

_XREFS = {
    "NCBI Gene ID(supplied by NCBI)": "NCBIGene:",
    "UniProt ID(supplied by UniProt)": "UniProt:",
    "Mouse genome database ID(supplied by MGI)": "",
    "Rat genome database ID(supplied by RGD)": "",
    "Ensembl gene ID": "ENSEMBL:",
}
#: Single letters and digits are no symbol anybody would recognise.
_SHORTEST = 2


def add_genes(merger: ConceptMerger, lines: Iterable[str]) -> None:
    """:param lines: HGNC's table with its header."""
    for row in csv.DictReader(lines, delimiter="\t"):
        if row["Status"] != "Approved":
            continue
        names = (
            *_list(row["Alias symbols"]),
            *_list(row["Previous symbols"]),
            row["Approved name"],
        )
        merger.add(
            Concept(
                row["HGNC ID"],
                "gene",
                row["Approved symbol"],
                tuple(n for n in names if len(n) >= _SHORTEST),
                tuple(_xrefs(row)),
            )
        )


def _xrefs(row: dict[str, str]) -> Iterator[str]:
    for column, prefix in _XREFS.items():
        yield from (prefix + value for value in _list(row[column]))


def _list(cell: str | None) -> list[str]:
    return [v.strip() for v in (cell or "").split(",") if v.strip()]
