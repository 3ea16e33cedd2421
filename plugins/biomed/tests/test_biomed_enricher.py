"""Records, fields and terms of a document, and the expansion of queries."""

from __future__ import annotations

from pathlib import Path

import pytest

import eagle_rag_biomed
from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.builtin import builtin_vocabulary
from eagle_rag_biomed.enricher import EntityEnricher
from eagle_rag_biomed.stopterms import parse_stop_terms
from eagle_rag_core.testing import PackLibrary, enrichment_input
from eagle_rag_core.types import LOCAL, Chunk, Enricher, EnrichmentInput, acting_for


@pytest.fixture
def enricher(annotator: Annotator) -> EntityEnricher:
    return EntityEnricher(annotator)


def test_it_is_an_enricher_whose_version_follows_the_vocabulary(enricher: EntityEnricher) -> None:
    assert isinstance(enricher, Enricher)
    again = EntityEnricher(Annotator(builtin_vocabulary(), parse_stop_terms(["*\tgout"])))
    assert enricher.version.startswith("3-1-")
    assert again.version != enricher.version


def test_mentions_point_into_document_and_chunk(enricher: EntityEnricher, examples: Path) -> None:
    item = enrichment_input((examples / "case-chest-pain.md").read_bytes())
    text = item.parsed.text
    chunks = {c.node_id: c for c in item.chunks}
    mentions = [r for r in enricher.enrich(item).records if r.kind == "mention"]
    assert len(mentions) > 20
    for record in mentions:
        data, surface = record.data, record.data["surface"]
        assert text[data["start"] : data["end"]] == surface
        assert record.fields["passage"] == record.node_id
        if not record.node_id:
            continue
        chunk = chunks[record.node_id]
        assert chunk.text[data["chunk_start"] : data["chunk_end"]] == surface
    # The document's title introduces its sections and stands in no passage.
    assert [r.data["surface"] for r in mentions if not r.node_id] == ["chest pain"]


def test_entities_count_the_mentions_of_a_document(enricher: EntityEnricher) -> None:
    item = enrichment_input("A heart attack. Another heart attack. No heart attack. MI.")
    (entity,) = (r for r in enricher.enrich(item).records if r.kind == "entity")
    assert entity.fields == {
        "curie": "MESH:D009203",
        "type": "disease",
        "assertions": ("affirmed", "negated"),
        "ancestors": (),
    }
    assert entity.data == {
        "label": "myocardial infarction",
        "count": 4,
        "by_assertion": {"affirmed": 3, "negated": 1},
        "surfaces": ["heart attack", "MI"],
    }
    assert entity.node_id == ""


def test_a_tally_keeps_a_passage_of_each_assertion(enricher: EntityEnricher) -> None:
    item = enrichment_input("A heart attack. Another heart attack. No heart attack. MI.")
    (tally,) = (r for r in enricher.enrich(item).records if r.kind == "tally")
    assert tally.data["counts"] == {"affirmed": 3, "negated": 1}
    assert tally.data["spots"] == [
        [item.chunks[0].node_id, 2, "heart attack", "affirmed"],
        [item.chunks[0].node_id, 41, "heart attack", "negated"],
    ]


def test_chunks_carry_label_and_curie_of_their_own_entities(enricher: EntityEnricher) -> None:
    item = enrichment_input("# One\n\nA heart attack came.\n\n# Two\n\nThen aspirin helped.")
    first, second = (chunk.node_id for chunk in item.chunks)
    enrichment = enricher.enrich(item)
    assert enrichment.chunk_terms == {
        first: ["MESH:D009203", "myocardial infarction"],
        second: ["MESH:D001241", "aspirin"],
    }
    assert enrichment.chunk_fields[first] == {"entity_curies": ["MESH:D009203"]}


def test_an_ambiguous_mention_has_candidates_and_no_entity(enricher: EntityEnricher) -> None:
    enrichment = enricher.enrich(enrichment_input("Known AD."))
    (mention,) = (r for r in enrichment.records if r.kind == "mention")
    assert mention.fields["curie"] == ""
    assert mention.data["candidates"] == ["MESH:D000544", "MESH:D003876"]
    assert not enrichment.chunk_terms and not enrichment.chunk_fields


def test_overlapping_chunks_share_a_mention_recorded_once(enricher: EntityEnricher) -> None:
    text = "x aspirin y"
    item = enrichment_input(text)
    chunks = [Chunk(f"n{i}", i, 0, i, len(text), text[i:], "", 0) for i in range(2)]
    enrichment = enricher.enrich(EnrichmentInput(item.document, item.parsed, chunks))
    assert set(enrichment.chunk_terms) == {"n0", "n1"}
    assert [r.node_id for r in enrichment.records if r.kind == "mention"] == ["n0"]


def test_a_mention_outside_of_all_chunks_belongs_to_the_document(enricher: EntityEnricher) -> None:
    item = enrichment_input("aspirin")
    enrichment = enricher.enrich(EnrichmentInput(item.document, item.parsed, []))
    assert [(r.kind, r.node_id) for r in enrichment.records] == [
        ("mention", ""),
        ("entity", ""),
        ("tally", ""),
        ("annotation", ""),
    ]


def test_a_document_without_entities_adds_nothing(enricher: EntityEnricher) -> None:
    enrichment = enricher.enrich(enrichment_input("Nothing of interest here."))
    (annotation,) = enrichment.records
    assert annotation.fields == {"vocabulary": "1", "mentions": 0}
    assert not enrichment.chunk_terms


def test_a_query_gains_what_documents_call_the_concepts_it_names(tmp_path: Path) -> None:
    with PackLibrary(tmp_path, eagle_rag_biomed) as library, acting_for(LOCAL):
        library.ingest_text("AMI was treated. AMI and heart attack are one.")
        (added,) = library.plugins.extensions.expanders
        terms = {
            query: list(added.expand(query).terms)
            for query in ("treatment of heart attacks", "mesh:d001241", "AD", "the weather")
        }
        decisions = [d.detail for d in library.plugins.decisions()["biomed"]]
    assert terms == {
        "treatment of heart attacks": [
            "MESH:D009203",
            "myocardial infarction",
            "AMI",
            "heart attack",
        ],
        "mesh:d001241": ["MESH:D001241", "aspirin"],
        "AD": [],
        "the weather": [],
    }
    assert decisions == ["MESH:D009203", "MESH:D001241"]
