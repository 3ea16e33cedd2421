"""Enrichers add to a document; what breaks a rule fails it by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.enrichment import enrich
from eagle_rag_core.types import (
    Chunk,
    DocumentInfo,
    Enrichment,
    EnrichmentInput,
    NewRecord,
    ParsedDocument,
    RecordFieldRule,
)

RULES = {
    ("demo", "fact"): {
        "name": RecordFieldRule("string"),
        "years": RecordFieldRule("integer", many=True),
        "weight": RecordFieldRule("number"),
        "open": RecordFieldRule("boolean"),
    }
}


class Enricher:
    name = "facts"
    version = "1"

    def __init__(self, work: Callable[[EnrichmentInput], Enrichment]) -> None:
        self.enrich = work


def item() -> EnrichmentInput:
    info = DocumentInfo(
        document_id="d",
        kb_name="kb",
        source_uri="file:///x",
        source_type="",
        title="",
        language="",
        media_type="text/plain",
        tags=(),
        metadata={},
        version_id="v",
        chunks=1,
        created_at="",
        updated_at="",
    )
    chunk = Chunk("n1", 0, 0, 0, 4, "text", "", 0)
    return EnrichmentInput(info, ParsedDocument("text", "text/plain"), [chunk])


def run(*works: Callable[[EnrichmentInput], Enrichment]) -> object:
    return enrich([("demo", Enricher(work)) for work in works], RULES, item())


def test_results_of_all_enrichers_are_merged_per_pack() -> None:
    fact = NewRecord("fact", {"name": "x", "years": [1, 2], "weight": 1, "open": True}, "n1")
    result = enrich(
        [
            ("demo", Enricher(lambda _: Enrichment([fact], {"n1": {"a": 1}}, {"n1": ["one"]}))),
            ("demo", Enricher(lambda _: Enrichment((), {"n1": {"b": 2}}, {"n1": ["two"]}))),
            ("other", Enricher(lambda _: Enrichment((), {"n1": {"a": 3}}))),
        ],
        RULES,
        item(),
    )
    assert result.records == [("demo", fact)]
    assert result.fields == {"n1": {"demo": {"a": 1, "b": 2}, "other": {"a": 3}}}
    assert result.terms == {"n1": ["one", "two"]}


def test_a_failing_enricher_is_named_and_its_text_stays_in_the_log() -> None:
    def fail(_: EnrichmentInput) -> Enrichment:
        raise ValueError("secret of the pack")

    with pytest.raises(IngestError, match="'facts' of pack 'demo'") as caught:
        run(fail)
    assert "secret" not in caught.value.message
    assert caught.value.code == ErrorCode.PLUGIN_FAILED


@pytest.mark.parametrize(
    "added",
    [
        Enrichment([NewRecord("fact", {}, "elsewhere")]),
        Enrichment((), {"elsewhere": {"a": 1}}),
        Enrichment((), {}, {"elsewhere": ["a"]}),
    ],
)
def test_passages_of_other_documents_are_refused(added: Enrichment) -> None:
    with pytest.raises(IngestError, match="not of this document"):
        run(lambda _: added)


@pytest.mark.parametrize(
    "record",
    [
        NewRecord("rumour", {}),
        NewRecord("fact", {"colour": "red"}),
        NewRecord("fact", {"name": 1}),
        NewRecord("fact", {"name": ["x", "y"]}),
        NewRecord("fact", {"years": [1, "2"]}),
        NewRecord("fact", {"years": True}),
        NewRecord("fact", {"weight": False}),
        NewRecord("fact", {"open": 1}),
    ],
)
def test_undeclared_kinds_fields_and_types_are_refused(record: NewRecord) -> None:
    with pytest.raises(IngestError, match="manifest does not declare"):
        run(lambda _: Enrichment([record]))
