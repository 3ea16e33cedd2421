"""Which compound a caller asks for: by name, or by a structure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from eagle_rag_biomed.chemistry.notations import INCHI, INCHIKEY
from eagle_rag_biomed.chemistry.smiles import read_smiles
from eagle_rag_biomed.chemistry.toolkit import Structure, Toolkit
from eagle_rag_biomed.concepts import Concept, ConceptType
from eagle_rag_biomed.linking import Linker
from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.plugins import PackContext

#: "SMILES: CO" is methanol, whatever a name CO may mean.
_SAID: Final = re.compile(r"(?:smiles|structure)\s*[:=]\s*", re.IGNORECASE)
#: Unknown names have spaces, hyphens and all letters; what looks like this was meant as SMILES.
_STRUCTURAL: Final = re.compile(
    r"[^\s=#@\\]*[=#@\\]\S*"
    r"|(?=.*[(\[]|.{4,}\d|.*\d.{4})(?:[BCNOPSFIlrbcnops\d()+/%.:*-]|\[[^\s\[\]]*+\]?)++"
)
#: Matches by which a whole name stands for a concept.
_BY_NAME: Final = ("identifier", "label", "synonym", "other_case")
#: Written structures of one name that are looked at.
_MOST_WRITTEN: Final = 500

Origin = Literal["", "query", "vocabulary", "documents"]


@dataclass(frozen=True, slots=True)
class Reference:
    """The compound asked for.

    :param concept: None for one that is known by its structure only.
    :param structure: None for one that is known by name only.
    :param suggestions: what an unknown or ambiguous name may mean; then there is neither.
    """

    concept: Concept | None = None
    structure: Structure | None = None
    origin: Origin = ""
    suggestions: tuple[Concept, ...] = ()
    ambiguous: bool = False


class References:
    """Reads what callers name compounds by.

    :param named: structures of concepts that vocabularies give, by identifier.
    """

    def __init__(
        self,
        ctx: PackContext,
        linker: Linker,
        toolkit: Toolkit,
        named: dict[str, Structure],
    ) -> None:
        self._ctx = ctx
        self._linker = linker
        self._toolkit = toolkit
        self._named = named
        self._curies = {structure.key: curie for curie, structure in named.items()}

    def of(self, text: str, context: str) -> Reference:
        """The compound that ``text`` stands for.

        :param context: words that tell what an ambiguous name means.
        :raises InvalidArgument: it is a faulty SMILES or InChI.
        """
        written = text.strip()
        if said := _SAID.match(written):
            return self._by_structure(written[said.end() :])
        if written.startswith("InChI=") or INCHIKEY.fullmatch(written):
            return self._by_structure(written)
        named, best = self._named_so(written, ("chemical",), context)
        if named:
            if len(best) > 1:
                return Reference(suggestions=best, ambiguous=True)
            return self._by_name(best[0])
        if _STRUCTURAL.fullmatch(written):
            return self._by_structure(written)
        # CBS could be a small molecule of carbon, boron and sulphur; it is a gene.
        of_others, other = self._named_so(written, (), context)
        if not read_smiles(written).problem and not of_others:
            return self._by_structure(written)
        return Reference(suggestions=best or other)

    def _named_so(
        self, text: str, types: Sequence[ConceptType], context: str
    ) -> tuple[bool, tuple[Concept, ...]]:
        """The concepts that fit ``text`` best, and whether it is a whole name of theirs."""
        found = self._linker.resolve(text, types, context)
        best = tuple(r.concept for r in found if r.score == found[0].score)
        return bool(found and found[0].match in _BY_NAME), best

    def _by_name(self, concept: Concept) -> Reference:
        if structure := self._named.get(concept.curie):
            return Reference(concept, structure, "vocabulary")
        records = self._ctx.records.find("structure", {"curie": concept.curie}, limit=_MOST_WRITTEN)
        structure = self._commonest(str(r.fields["notation"]) for r in records)
        return Reference(concept, structure, "documents" if structure else "")

    def _commonest(self, notations: Iterable[str]) -> Structure | None:
        """The structure that most of ``notations`` write down."""
        structures = [s for n in notations if (s := self._toolkit.structure(n))]
        if not structures:
            return None
        keys = Counter(s.key for s in structures)
        return min(structures, key=lambda s: (-keys[s.key], s.fingerprint is None, s.smiles))

    def _by_structure(self, notation: str) -> Reference:
        structure = self._toolkit.structure(notation)
        if structure is None:
            raise InvalidArgument(_fault(notation))
        curie = self._curies.get(structure.key)
        concept = self._linker.vocabulary.by_id(curie) if curie else None
        return Reference(concept, structure, "query")


def _fault(notation: str) -> str:
    if INCHI.match(notation) or notation.startswith("InChI="):
        return "compound is no valid InChI. A standard one begins with InChI=1S/."
    problem = read_smiles(notation).problem
    if problem:
        return f"compound is no valid SMILES. {problem}"
    return (
        "compound is written as SMILES is, but describes no possible molecule: an atom has too "
        "many bonds, or a ring cannot be aromatic."
    )
