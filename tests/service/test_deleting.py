"""A deleted document leaves nothing behind, and what others need stays."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from life_pack import Life, NameEnricher, sha

from eagle_rag_core.errors import ErrorCode, NotFound
from eagle_rag_core.types import COMMAND_LINE, Caller, Enrichment, EnrichmentInput, IngestRequest

LIMITED = Caller("limited", kbs=frozenset({"other"}))
#: What a library keeps whatever is deleted from it.
KEPT = {"kbs", "jobs", "vector_collections", "vector_changes"}


def test_nothing_of_a_deleted_document_is_left(life: Life, tmp_path: Path) -> None:
    document_id = life.add(tmp_path / "a.md", "---\nkeywords: sea\n---\n# A\n\nOTTERS eat.\n")
    assert life.search("eat")
    assert life.services.documents.delete(COMMAND_LINE, document_id)
    assert {name for name, rows in life.rows().items() if rows} == KEPT
    assert life.blobs() == set()
    assert life.search("eat") == []
    assert life.findings() == []
    assert not life.services.documents.delete(COMMAND_LINE, document_id)


def test_what_other_documents_need_stays(life: Life, tmp_path: Path) -> None:
    first = life.add(tmp_path / "a.md", "OTTERS eat.")
    second = life.add(tmp_path / "b.md", "OTTERS eat.", kb="other")
    third = life.add(tmp_path / "c.md", "OTTERS sleep.")
    life.services.documents.delete(COMMAND_LINE, first)
    assert life.blobs() == {sha("OTTERS eat."), sha("OTTERS sleep.")}
    assert life.search("eat") == ["OTTERS eat."]
    assert len(life.library.records("name")) == 2
    life.services.documents.delete(COMMAND_LINE, second)
    assert life.blobs() == {sha("OTTERS sleep.")}
    assert life.services.documents.get(COMMAND_LINE, third).size == len("OTTERS sleep.")
    assert life.findings() == []


def test_forbidden_and_missing_answer_alike(life: Life, tmp_path: Path) -> None:
    document_id = life.add(tmp_path / "a.md", "OTTERS eat.")
    service = life.services.documents
    assert not service.delete(LIMITED, document_id)
    assert not service.delete(LIMITED, "0" * 32)
    assert not service.delete(LIMITED, "no id")
    assert life.search("eat")
    for name in (document_id, "0" * 32):
        with pytest.raises(NotFound) as caught:
            service.get(LIMITED, name)
        assert caught.value.code is ErrorCode.DOCUMENT_NOT_FOUND


def test_a_document_deleted_while_it_is_made_anew_stays_deleted(
    life: Life, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md"
    document_id = life.add(path, "OTTERS eat.")
    at_work, go_on = threading.Event(), threading.Event()

    def enrich(self: NameEnricher, item: EnrichmentInput) -> Enrichment:
        at_work.set()
        assert go_on.wait(20)
        return Enrichment()

    monkeypatch.setattr(NameEnricher, "enrich", enrich)
    path.write_text("OTTERS sleep.")
    job = life.services.ingest.submit(COMMAND_LINE, IngestRequest(str(path)))
    assert at_work.wait(20)
    assert life.services.documents.delete(COMMAND_LINE, document_id)
    go_on.set()
    assert life.ends([job.job_id]) == ["cancelled"]
    monkeypatch.undo()
    life.add(tmp_path / "b.md", "Wait for the worker.")
    assert life.search("OTTERS") == []
    assert life.blobs() == {sha("Wait for the worker.")}
    assert life.findings() == []
