"""Documents are made anew by a new pipeline, and embedded anew by another embedder."""

from __future__ import annotations

from pathlib import Path

import pytest
from life_pack import Life

from eagle_rag_core.errors import EagleError, ErrorCode, ModelError
from eagle_rag_core.types import COMMAND_LINE, IngestRequest

OTTERS = "# Otters\n\nOTTERS eat urchins.\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with two documents, whose sources are gone, of an older pipeline."""
    home = tmp_path / "home"
    with Life(home, embedder="alpha") as life:
        for kb in ("a", "b"):
            path = tmp_path / f"{kb}.md"
            path.write_text(OTTERS + f"They live in {kb}.\n")
            request = IngestRequest(str(path), kb, title=f"In {kb}", tags=("sea",))
            job = life.services.ingest.submit(COMMAND_LINE, request)
            life.library.app.work()
            assert life.ends([job.job_id]) == ["succeeded"]
            path.unlink()
    return home


def test_stale_documents_are_made_of_their_originals(home: Path) -> None:
    with Life(home, version="2") as life:
        assert life.upkeep.reindex.stale(COMMAND_LINE) == 2
        assert life.upkeep.reindex.stale(COMMAND_LINE, "a") == 1
        assert life.make_stale_anew("a") == ["succeeded"]
        assert life.upkeep.reindex.stale(COMMAND_LINE) == 1
        assert life.make_stale_anew() == ["succeeded"]
        assert life.make_stale_anew() == []
        assert life.alpha.embedded == []
        items = life.library.call("core_list_documents")["items"]
        assert sorted((item["title"], *item["tags"]) for item in items) == [
            ("In a", "sea"),
            ("In b", "sea"),
        ]
        assert len(life.search("urchins")) == 2
        assert life.findings() == []


def test_one_document_has_one_job(home: Path) -> None:
    with Life(home, version="2") as life:
        assert len(life.upkeep.reindex.submit(COMMAND_LINE).jobs) == 2
        assert life.upkeep.reindex.submit(COMMAND_LINE).jobs == []


def test_steps_go_through_all_of_them(home: Path) -> None:
    with Life(home, version="2") as life:
        first = life.upkeep.reindex.submit(COMMAND_LINE, limit=1)
        second = life.upkeep.reindex.submit(COMMAND_LINE, limit=1, after=first.after)
        third = life.upkeep.reindex.submit(COMMAND_LINE, limit=1, after=second.after)
        assert [len(step.jobs) for step in (first, second, third)] == [1, 1, 0]
        assert third.after == ""


def test_a_newer_content_is_never_replaced_by_a_stored_original(home: Path, tmp_path: Path) -> None:
    with Life(home, version="2") as life:
        jobs = life.upkeep.reindex.submit(COMMAND_LINE, "a").jobs  # waits for a worker
        path = tmp_path / "a.md"
        path.write_text("OTTERS sleep.")
        request = IngestRequest(str(path), "a")
        newer = life.services.ingest.submit(COMMAND_LINE, request)
        # Whichever runs first, the newer content stays.
        life.library.app.work()
        assert life.ends([newer.job_id, *(job.job_id for job in jobs)]) == ["succeeded"] * 2
        assert life.search("otters", "a") == ["OTTERS sleep."]


def test_a_lost_original_is_the_reason_of_the_failure(home: Path) -> None:
    with Life(home, version="2") as life:
        for path in (home / "blobs").rglob("*"):
            if path.is_file():
                path.unlink()
        jobs = life.upkeep.reindex.submit(COMMAND_LINE, "a").jobs
        life.library.app.work()
        assert life.ends([job.job_id for job in jobs]) == ["failed"]
        (job,) = life.services.jobs.ended(COMMAND_LINE, [job.job_id for job in jobs])
        assert (job.error_code, job.attempts) == (ErrorCode.SOURCE_NOT_FOUND, 1)
        assert life.search("urchins", "a")


def test_another_embedder_takes_over(home: Path) -> None:
    with Life(home) as life:
        tokens = sorted(row[-1] for row in life.rows()["vector_rows"])
        result = life.upkeep.embedders.run("life_beta")
        assert result.embedded == 2
        assert sorted(row[-1] for row in life.rows()["vector_rows"]) == tokens
        (collection,) = life.rows()["vector_collections"]
        assert "beta" in collection
        assert life.search("urchins")  # by words: this process has the former embedder
    with Life(home) as life:
        assert life.engine.embedder.embedder.name == "life_beta"
        assert len(life.search("urchins")) == 2
        assert life.upkeep.embedders.run("life_beta").embedded == 0
        assert life.findings() == []


def test_a_configured_embedder_that_is_not_the_homes_names_the_command(home: Path) -> None:
    with pytest.raises(EagleError, match="eagle-rag reindex --embedder life_beta") as caught:
        Life(home, embedder="beta")
    assert caught.value.code is ErrorCode.EMBEDDER_MISMATCH


def test_an_interrupted_change_goes_on_and_catches_up(home: Path, tmp_path: Path) -> None:
    with Life(home) as life:

        def interrupt(done: int, total: int) -> None:
            if done == 1:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            life.upkeep.embedders.run("life_beta", interrupt)
        assert len(life.search("urchins")) == 2
        life.add(tmp_path / "c.md", "OTTERS float.", kb="c")
        life.add(tmp_path / "a.md", "OTTERS sleep.", kb="a")
        ((check, _),) = life.findings()
        assert check == "vectors.collections"
        life.upkeep.embedders.run("life_beta")
        assert sorted(text[-15:] for text in life.beta.embedded) == sorted(
            text[-15:] for text in set(life.beta.embedded)
        )
    with Life(home) as life:
        assert len(life.search("otters")) == 3
        assert life.findings() == []


def test_documents_that_come_while_embedding_are_not_left_out(home: Path, tmp_path: Path) -> None:
    with Life(home) as life:
        came = []

        def come(done: int, total: int) -> None:
            if not came:
                came.append(life.add(tmp_path / "c.md", "OTTERS float.", kb="c"))

        life.upkeep.embedders.run("life_beta", come)
        assert "OTTERS float." in life.beta.embedded
    with Life(home) as life:
        assert life.search("float") == ["OTTERS float."]
        assert life.findings() == []


def test_an_unfinished_change_can_be_given_up(home: Path) -> None:
    with Life(home) as life:
        with pytest.raises(ZeroDivisionError):
            life.upkeep.embedders.run("life_beta", lambda done, total: 1 // (1 - done))
        life.upkeep.embedders.run("life_alpha")
        assert len(life.rows()["vector_collections"]) == 1
        assert life.findings() == []
        assert len(life.search("urchins")) == 2


def test_a_process_with_the_former_embedder_takes_nothing_in(home: Path, tmp_path: Path) -> None:
    idle = {"ingest": {"embedded_worker": False}}
    with Life(home, settings=idle) as stale, Life(home) as life:
        path = tmp_path / "c.md"
        path.write_text("OTTERS float.")
        waiting = stale.services.ingest.submit(COMMAND_LINE, IngestRequest(str(path)))
        life.upkeep.embedders.run("life_beta")
        with pytest.raises(ModelError, match="restart") as caught:
            stale.services.ingest.submit(COMMAND_LINE, IngestRequest(str(path)))
        assert caught.value.code is ErrorCode.EMBEDDER_MISMATCH
        stale.library.app.work()  # finds nothing that it may run
        with Life(home) as new:
            new.library.app.work()
            assert new.ends([waiting.job_id]) == ["succeeded"]
            assert new.beta.embedded == ["OTTERS float."]
            assert new.findings() == []
