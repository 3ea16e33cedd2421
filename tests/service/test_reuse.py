"""Nothing is computed twice, and nothing is written that is there already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from life_pack import Life, sha
from numpy.typing import NDArray

from eagle_rag_core.errors import ModelError
from eagle_rag_core.ingest.pipeline import IngestPipeline
from eagle_rag_core.types import COMMAND_LINE, IngestRequest, Job

OTTERS = "# Otters\n\nOTTERS eat urchins.\n\n# Kelp\n\nKelp grows fast.\n"


def test_an_unchanged_file_costs_nothing_but_its_job(life: Life, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    first = life.add(path, OTTERS)
    before = life.rows("jobs")
    files = {p: p.stat().st_mtime_ns for p in (life.home / "blobs").rglob("*")}
    life.alpha.embedded.clear()
    assert life.add(path) == first
    assert life.alpha.embedded == []
    assert life.rows("jobs") == before
    assert {p: p.stat().st_mtime_ns for p in (life.home / "blobs").rglob("*")} == files
    assert len(life.rows()["jobs"]) == 2


@pytest.mark.parametrize("kb", ["default", "other"])
def test_a_copy_is_another_document_with_the_same_vectors(
    life: Life, tmp_path: Path, kb: str
) -> None:
    first = life.add(tmp_path / "a.md", OTTERS)
    life.alpha.embedded.clear()
    copy = life.add(tmp_path / "b.md", OTTERS, kb=kb)
    assert copy != first
    assert life.alpha.embedded == []
    assert life.dense(copy) == life.dense(first)
    assert len(life.search("urchins")) == 2
    assert life.library.records("name", {"text": "OTTERS"}, document_ids=[copy])
    assert life.findings() == []


def test_only_the_changed_passages_are_embedded(life: Life, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    life.add(path, OTTERS)
    life.alpha.embedded.clear()
    life.add(path, OTTERS.replace("fast", "slowly"))
    assert life.alpha.embedded == ["# Kelp\n\nKelp grows slowly."]
    assert life.search("slowly") and not life.search("fast")


def test_another_pipeline_makes_it_anew_with_the_vectors_it_has(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    with Life(tmp_path / "home", embedder="alpha") as life:
        life.add(path, OTTERS)
        before = life.rows()["documents"]
    with Life(tmp_path / "home", version="2") as life:
        life.add(path)
        assert life.rows()["documents"] != before
        assert life.alpha.embedded == []
        assert life.findings() == []


def test_a_new_content_drops_the_original_of_the_old(life: Life, tmp_path: Path) -> None:
    life.add(tmp_path / "a.md", "One.")
    life.add(tmp_path / "b.md", "One.")
    life.add(tmp_path / "a.md", "Two.")
    assert life.blobs() == {sha("One."), sha("Two.")}
    life.add(tmp_path / "b.md", "Two.")
    assert life.blobs() == {sha("Two.")}


def test_an_unchanged_file_puts_its_lost_original_back(life: Life, tmp_path: Path) -> None:
    document_id = life.add(tmp_path / "a.md", "One.")
    for path in (life.home / "blobs").rglob(sha("One.")):
        path.unlink()
    assert life.findings() == [("blobs.missing", document_id)]
    life.add(tmp_path / "a.md")
    assert life.blobs() == {sha("One.")}
    assert life.findings() == []


def test_a_source_that_changed_back_is_no_duplicate_of_what_a_job_is_about_to_replace(
    life: Life, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md"
    life.add(path, "One.")
    answers: list[Job] = []

    def submitted() -> Job:
        return life.services.ingest.submit(COMMAND_LINE, IngestRequest(str(path)))

    stage = IngestPipeline.stage

    def change_back(self: IngestPipeline, prepared: Any) -> None:
        if not answers:  # the job has read "Two."
            path.write_text("One.")
            answers.append(submitted())
        stage(self, prepared)

    monkeypatch.setattr(IngestPipeline, "stage", change_back)
    path.write_text("Two.")
    job = submitted()
    life.library.app.work()
    assert life.ends([job.job_id]) == ["succeeded"]
    assert life.ends([answers[0].job_id]) == ["succeeded"]
    assert life.search("One") and not life.search("Two")


#: Passages enough for several batches of the embedder.
LONG = "\n\n".join(f"# Part {n}\n\nThe otter {n} eats urchins." for n in range(200))


def test_a_long_document_goes_on_after_its_last_finished_batch(
    life: Life, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_once(life, monkeypatch, after=130)
    life.add(tmp_path / "long.md", LONG)
    again = [text for text, times in Counter(life.alpha.embedded).items() if times > 1]
    assert len(set(life.alpha.embedded)) == 200
    assert len(again) <= 64
    assert life.blobs() == {sha(LONG)}
    assert len(life.search("urchins")) == 50


def test_damaged_vectors_of_a_batch_are_computed_again(
    life: Life, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damage() -> None:
        for number, name in enumerate(sorted(life.blobs())):
            path = next((life.home / "blobs").rglob(name))
            path.write_bytes(b"" if number % 2 else b"\xff" * len(path.read_bytes()))

    fail_once(life, monkeypatch, after=130, then=damage)
    document_id = life.add(tmp_path / "long.md", LONG)
    assert len(life.alpha.embedded) > 300
    assert all(
        np.isfinite(np.frombuffer(row, "<f4")).all() for row in life.dense(document_id).values()
    )
    assert life.blobs() == {sha(LONG)}


def test_a_cancelled_job_leaves_no_vectors_behind(
    life: Life, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.md"
    path.write_text(LONG)
    job = life.services.ingest.submit(COMMAND_LINE, IngestRequest(str(path)))
    usual = life.alpha.embed_documents

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        if len(life.alpha.embedded) >= 64:
            life.services.jobs.cancel(COMMAND_LINE, job.job_id)
        return usual(texts)

    monkeypatch.setattr(life.alpha, "embed_documents", embed)
    life.library.app.work()
    assert life.ends([job.job_id]) == ["cancelled"]
    life.library.close()
    assert life.blobs() == set()


def fail_once(
    life: Life,
    monkeypatch: pytest.MonkeyPatch,
    *,
    after: int,
    then: Callable[[], None] = lambda: None,
) -> None:
    """Let the embedder fail for once, in a way that passes, when it has embedded that much."""
    usual, failed = life.alpha.embed_documents, list[bool]()

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        if len(life.alpha.embedded) + len(texts) > after and not failed:
            failed.append(True)
            then()
            raise ModelError("The embedder is busy.", retryable=True)
        return usual(texts)

    monkeypatch.setattr(life.alpha, "embed_documents", embed)
