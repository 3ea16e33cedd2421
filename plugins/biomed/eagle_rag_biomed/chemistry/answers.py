"""What ``biomed_retrieve_compounds`` is asked and returns. Absent text is ""."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from eagle_rag_biomed.answers import ConceptRef, Evidence
from eagle_rag_biomed.assertion import AssertionStatus

NoCompounds = Literal[
    "",
    "not_in_vocabulary",
    "ambiguous",
    "no_structure",
    "not_in_library",
    "filtered_out",
    "unknown_documents",
]


@dataclass(frozen=True, slots=True)
class CompoundQuestion:
    """What the caller asks for; as in :class:`~eagle_rag_biomed.finder.EntityQuestion`.

    :param compound: a name, identifier, SMILES, InChI or InChIKey.
    :param min_similarity: least Tanimoto coefficient of what is similar.
    """

    compound: str
    min_similarity: float
    kb_name: str = ""
    document_ids: tuple[str, ...] = ()
    organism: str = ""
    context: str = ""
    assertion: Literal["any"] | AssertionStatus = "any"
    limit: int = 10
    position: int = 0
    evidence_per_compound: int = 2
    max_tokens: int = 2000


@dataclass(frozen=True, slots=True)
class AskedCompound:
    """The compound as it was understood.

    :param structure_from: where its structure is known from; "" where it is not.
    """

    curie: str
    label: str
    smiles: str
    inchikey: str
    structure_from: Literal["", "query", "vocabulary", "documents"]


@dataclass(frozen=True, slots=True)
class FoundCompound:
    """A compound that the library mentions, by name or by a structure written down.

    :param similarity: Tanimoto coefficient of the fingerprints, 0..1.
    :param mentions: by name and by structure together.
    """

    relation: Literal["same", "similar"]
    similarity: float
    curie: str
    label: str
    smiles: str
    inchikey: str
    documents: int
    mentions: int
    evidence: list[Evidence]


@dataclass(frozen=True, slots=True)
class CompoundAnswer:
    """The whole answer.

    :param suggestions: what an ambiguous or unknown name may mean.
    :param compared: how many different structures the asked one was compared with.
    :param nearest: similarity of the most similar other structure among them.
    """

    asked: AskedCompound
    suggestions: list[ConceptRef]
    compounds: list[FoundCompound]
    compared: int
    nearest: float
    zero_result_reason: NoCompounds
    next_cursor: str
    budget_truncated: bool
    vocabulary: str
    vocabulary_version: str
