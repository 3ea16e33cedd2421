"""One concept per thing."""

from __future__ import annotations

from typing import Any

from eagle_rag_biomed.concepts import Concept
from eagle_rag_biomed_compiler.merging import ConceptMerger
from eagle_rag_biomed_compiler.mesh import add_descriptors, add_supplementary
from eagle_rag_biomed_compiler.ontologies import add_chemicals, add_terms

DESCRIPTORS = (
    "D000468\tAlkalies\t\tD01.045",
    "D006878\tHydroxides\t\tD01.045.375",
    "D001224\tAspartic Acid\t\tD12.125.067.500",
    "D004997\tEthinyl Estradiol\t\tD04.210.500",
    "D016207\tCytokines\tCytokine\tD12.644.276.374",
    "D000818\tAnimals\t\tB01.050",
    "D009369\tNeoplasms\t\tC04",
)


def merged() -> ConceptMerger:
    merger = ConceptMerger()
    add_descriptors(merger, DESCRIPTORS)
    return merger


def term(identifier: str, name: str, *parents: str, **more: Any) -> dict[str, Any]:
    return {"id": identifier, "name": name, "relations": {"is_a": list(parents)}, **more}


def by_curie(merger: ConceptMerger) -> dict[str, Concept]:
    return {c.curie: c for c in merger.concepts()}


def test_proteins_and_roles_are_only_asked_for() -> None:
    concepts = by_curie(merged())
    assert concepts["MESH:D016207"].asked
    assert not concepts["MESH:D001224"].asked


def test_what_is_only_asked_for_takes_nothing_in() -> None:
    merger = merged()
    merger.add(Concept("DRUGBANK:DB1", "chemical", "Cytokines"), by_name=True)
    add_supplementary(merger, ["C1\tsome cytokine\t\tD016207", "C2\tsome acid\t\tD001224"])
    concepts = by_curie(merger)
    assert "DRUGBANK:DB1" in concepts
    assert ("MESH:C1" in concepts, "MESH:C2" in concepts) == (False, True)


def test_a_space_more_or_less_makes_no_other_substance() -> None:
    merger = merged()
    merger.add(Concept("DRUGBANK:DB00977", "chemical", "Ethinylestradiol"), by_name=True)
    assert by_curie(merger)["MESH:D004997"].xrefs == ("DRUGBANK:DB00977",)


def test_an_anion_is_its_acid() -> None:
    merger = merged()
    add_chemicals(merger, [term("CHEBI:132943", "aspartate")], {})
    assert by_curie(merger)["MESH:D001224"].xrefs == ("CHEBI:132943",)
    assert "aspartate" in by_curie(merger)["MESH:D001224"].names


def test_substances_do_not_climb_into_the_classes_of_another_terminology() -> None:
    merger = merged()
    terms = [
        term("CHEBI:24651", "hydroxides"),
        term("CHEBI:33822", "organic hydroxy compound", "CHEBI:24651"),
        term("CHEBI:30879", "some alcohol", "CHEBI:33822"),
    ]
    add_chemicals(merger, terms, {})
    concepts = by_curie(merger)
    assert concepts["MESH:D006878"].xrefs == ("CHEBI:24651",)
    assert concepts["CHEBI:33822"].parents == ()
    assert concepts["CHEBI:30879"].parents == ("CHEBI:33822",)


def test_a_susceptibility_has_no_acronym() -> None:
    merger = merged()
    terms = [
        term("1", "malaria, susceptibility to", synonyms=["MALES", "malaria risk"]),
        term("2", "Alpha syndrome", synonyms=["ALPS"]),
    ]
    add_terms(merger, terms, "MONDO", "disease")
    concepts = by_curie(merger)
    assert concepts["MONDO:1"].names == ("malaria risk",)
    assert concepts["MONDO:2"].names == ("ALPS",)
