"""MeSH: diseases, chemicals and organisms, from descriptors and supplementary concepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eagle_rag_biomed.concepts import Concept, ConceptType
from eagle_rag_biomed_compiler.merging import ConceptMerger

#: Branches of the tree by the type of what stands in them, in order of preference.
_BRANCHES: Final[tuple[tuple[ConceptType, tuple[str, ...]], ...]] = (
    ("disease", ("C", "F03", "F01.145.126", "F01.470.132")),
    ("chemical", ("D01", "D02", "D03", "D04", "D06", "D09", "D10", "D13", "D20", "D25")),
    ("chemical", ("D12.125", "D12.644.400", "D12.644.456", "D12.644.641", "D26", "D27.505")),
    ("species", ("B",)),
)
#: The rest of the substances: proteins, which texts rather name as genes, and roles. People ask
#: for these classes; names such as "receptor" are not looked for in texts.
_ASKED: Final = "D"


def add_descriptors(merger: ConceptMerger, lines: Iterable[str]) -> None:
    """:param lines: identifier, label, names, tree numbers; tab-separated."""
    rows = [line.rstrip("\r\n").split("\t") for line in lines]
    by_tree = {tree: row[0] for row in rows for tree in _list(row, 3)}
    for row in rows:
        trees = _list(row, 3)
        kind = _type_of(trees)
        asked = not kind and any(number.startswith(_ASKED) for number in trees)
        if asked:
            kind = "chemical"
        if not kind:
            continue
        parents = dict.fromkeys(by_tree.get(above, "") for above in _above(trees))
        merger.add(
            Concept(
                f"MESH:{row[0]}",
                kind,
                natural_order(row[1]),
                tuple(_spoken(row[1], _list(row, 2))),
                parents=tuple(f"MESH:{p}" for p in parents if p),
                lineage=True,
                asked=asked,
            )
        )


def add_supplementary(merger: ConceptMerger, lines: Iterable[str]) -> None:
    """:param lines: identifier, label, names, the descriptors they are mapped to."""
    for line in lines:
        row = line.rstrip("\r\n").split("\t")
        parents = tuple(f"MESH:{p.lstrip('*')}" for p in _list(row, 3, ","))
        kinds = {merger.concept_type(p) for p in parents}
        kind: ConceptType = "disease" if "disease" in kinds else "chemical"
        if kind in kinds:
            names = tuple(_spoken(row[1], _list(row, 2)))
            merger.add(Concept(f"MESH:{row[0]}", kind, row[1], names, parents=parents))


def natural_order(name: str) -> str:
    """``Neoplasms, Lung`` as it is said; names with several commas stay as they are."""
    head, comma, tail = name.partition(", ")
    if not comma or ", " in tail or not tail[:1].isupper() or " with " in tail:
        return name
    return f"{tail} {head}"


def _spoken(label: str, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if ", " not in name:
            yield name
        elif natural_order(name) != name:
            yield natural_order(name)
    if natural_order(label) != label:
        yield label


def _type_of(trees: Iterable[str]) -> ConceptType | None:
    numbers = tuple(trees)
    for kind, branches in _BRANCHES:
        if any(number.startswith(branches) for number in numbers):
            return kind
    return None


def _above(trees: Iterable[str]) -> list[str]:
    """The places above those of a descriptor, nearest first."""
    steps = [tree.split(".") for tree in trees]
    above = [(len(s) - size, ".".join(s[:size])) for s in steps for size in range(1, len(s))]
    return [place for _, place in sorted(above, key=lambda found: found[0])]


def _list(row: list[str], column: int, separator: str = "|") -> list[str]:
    return (
        [v.strip() for v in row[column].split(separator) if v.strip()] if len(row) > column else []
    )
