"""MONDO, DOID, HPO and ChEBI, as lists of terms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from eagle_rag_biomed.concepts import Concept, ConceptType
from eagle_rag_biomed_compiler.merging import ConceptMerger

#: Namespaces of cross-references worth keeping, in the spelling used here.
_KEPT: Final = {
    "MESH": "MESH",
    "MSH": "MESH",
    "OMIM": "OMIM",
    "DOID": "DOID",
    "Orphanet": "Orphanet",
}
_LOWER_ACRONYM: Final = re.compile(r"[a-z]{2,5}")
_WITH_ACRONYM: Final = re.compile(r"\([A-Z][A-Za-z0-9-]{1,9}\)$")
#: Systematic names and codes of screening libraries are written in tables, not in texts.
_WORD: Final = re.compile(r"[A-Za-z]{4}")
_LONGEST_CHEMICAL: Final = 60


def add_terms(
    merger: ConceptMerger, terms: Iterable[dict[str, Any]], prefix: str, kind: ConceptType
) -> None:
    """Add an ontology.

    A term that refers to exactly one MeSH concept is taken to be it.

    :param terms: each with ``id``, ``name``, ``synonyms``, ``xrefs``, ``relations``.
    :param prefix: of the ontology's identifiers.
    """
    for term in terms:
        if not term.get("name") or term["name"].startswith("obsolete "):
            continue
        xrefs = list(_xrefs(term))
        mesh = [x for x in xrefs if x.startswith("MESH:")]
        parents = term.get("relations", {}).get("is_a", ())
        # A susceptibility is no disease that texts write about by its acronym.
        susceptible = "susceptib" in term["name"]
        merger.add(
            Concept(
                _curie(prefix, term["id"]),
                kind,
                term["name"],
                tuple(
                    n
                    for n in term.get("synonyms", ())
                    if not _misspelt(n) and not (susceptible and n.isupper())
                ),
                tuple(x for x in xrefs if x not in mesh),
                tuple(_curie(prefix, p) for p in parents),
            ),
            same_as=mesh if len(mesh) == 1 else (),
            by_name=True,
        )


def add_chemicals(
    merger: ConceptMerger, terms: Iterable[dict[str, Any]], mesh_ids: dict[str, str]
) -> None:
    """Add ChEBI.

    :param mesh_ids: MeSH identifiers by ChEBI's.
    """
    for term in terms:
        name = term.get("name", "")
        if len(name) > _LONGEST_CHEMICAL or name.count(",") > 1 or not _WORD.search(name):
            continue
        curie = _curie("CHEBI", term["id"])
        parents = term.get("relations", {}).get("is_a", ())
        # In a body an acid is its anion; MeSH has the acid alone.
        acid = merger.named("chemical", f"{name[:-3]}ic acid") if name.endswith("ate") else ""
        mesh = mesh_ids.get(curie) or acid
        merger.add(
            Concept(curie, "chemical", name, parents=tuple(_curie("CHEBI", p) for p in parents)),
            same_as=[mesh] if mesh else (),
            by_name=True,
        )


def below(terms: list[dict[str, Any]], root: str) -> list[dict[str, Any]]:
    """The terms that are a kind of ``root``."""
    kinds: dict[str, list[str]] = {}
    for term in terms:
        for parent in term.get("relations", {}).get("is_a", ()):
            kinds.setdefault(parent, []).append(term["id"])
    wanted, waiting = set(kinds.get(root, ())), list(kinds.get(root, ()))
    while waiting:
        new = [k for k in kinds.get(waiting.pop(), ()) if k not in wanted]
        wanted.update(new)
        waiting.extend(new)
    return [term for term in terms if term["id"] in wanted]


def mesh_ids(lines: Iterable[str], namespace: str) -> dict[str, str]:
    """MeSH identifiers by those of another terminology.

    :param lines: "MESH", identifier, name, namespace, identifier, name; tab-separated.
    """
    rows = (line.rstrip("\r\n").split("\t") for line in lines)
    return {row[4]: f"MESH:{row[1]}" for row in rows if len(row) > 4 and row[3] == namespace}


def _misspelt(name: str) -> bool:
    """An acronym in lower case, which is a word; or a name with its acronym in brackets."""
    return bool(_LOWER_ACRONYM.fullmatch(name) or _WITH_ACRONYM.search(name))


def _xrefs(term: dict[str, Any]) -> Iterator[str]:
    for xref in term.get("xrefs", ()):
        if namespace := _KEPT.get(xref["namespace"]):
            yield _curie(namespace, xref["id"])


def _curie(prefix: str, identifier: str) -> str:
    return identifier if identifier.startswith(prefix + ":") else f"{prefix}:{identifier}"
