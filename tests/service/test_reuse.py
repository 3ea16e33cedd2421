"""Nothing is computed twice, and nothing is written that is there already."""

from __future__ import annotations

from pathlib import Path

import pytest
from life_pack import Life, sha

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
