"""Corpora in the PubTator format: title, abstract, and their annotated mentions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from eagle_rag_biomed.concepts import ConceptType

_TEXT: Final = re.compile(r"(\d+)\|[ta]\|(.*)")
#: Types of mentions by the names corpora give them.
_TYPES: Final[dict[str, ConceptType]] = {
    "chemical": "chemical",
    "disease": "disease",
    "specificdisease": "disease",
    "diseaseclass": "disease",
    "modifier": "disease",
    "compositemention": "disease",
    "gene": "gene",
    "species": "species",
    "cellline": "cell_line",
    "variant": "variant",
    "dnamutation": "variant",
    "proteinmutation": "variant",
    "snp": "variant",
}
_IDENTIFIER_SEPARATOR: Final = re.compile(r"[|,;+]")
_MESH: Final = re.compile(r"[CD]\d+")
#: Of identifiers that are not of MeSH.
_PREFIXES: Final[dict[ConceptType, str]] = {
    "gene": "NCBIGene",
    "species": "NCBITaxon",
    "cell_line": "cellosaurus",
}


@dataclass(frozen=True, slots=True)
class GoldMention:
    """:param identifiers: of what it stands for; empty where the annotators gave none."""

    start: int
    end: int
    surface: str
    type: ConceptType
    identifiers: tuple[str, ...]


@dataclass(slots=True)
class AnnotatedDocument:
    """A document and what people marked in it; offsets count characters of ``text``."""

    pmid: str
    text: str = ""
    mentions: list[GoldMention] = field(default_factory=list)


def read_pubtator(lines: Iterable[str]) -> Iterator[AnnotatedDocument]:
    """The documents of a corpus. Mentions of other types than this pack's are passed over."""
    document: AnnotatedDocument | None = None
    for line in lines:
        row = line.rstrip("\r\n")
        if match := _TEXT.match(row):
            pmid, text = match.groups()
            if document is None or document.pmid != pmid:
                if document:
                    yield document
                document = AnnotatedDocument(pmid)
            document.text += ("\n" if document.text else "") + text
        elif (
            document
            and row.startswith(document.pmid + "\t")
            and (mention := _mention(row.split("\t")))
        ):
            document.mentions.append(mention)
    if document:
        yield document


def _mention(cells: list[str]) -> GoldMention | None:
    # Relations have fewer cells, or no offsets.
    if len(cells) < 5 or not (cells[1].isdigit() and cells[2].isdigit()):
        return None
    kind = _TYPES.get(cells[4].strip().casefold())
    if kind is None:
        return None
    given = cells[5] if len(cells) > 5 else ""
    identifiers = tuple(
        _curie(i, kind) for i in _IDENTIFIER_SEPARATOR.split(given) if i not in ("", "-", "-1")
    )
    return GoldMention(int(cells[1]), int(cells[2]), cells[3], kind, identifiers)


def _curie(identifier: str, kind: ConceptType) -> str:
    """``identifier`` with the prefix that corpora leave out: "D003000", "672", "CVCL_0030"."""
    if ":" in identifier:
        return identifier
    if _MESH.fullmatch(identifier):
        return f"MESH:{identifier}"
    prefix = _PREFIXES.get(kind, "")
    return f"{prefix}:{identifier}" if prefix else identifier
