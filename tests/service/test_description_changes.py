"""The same content under a new description is not a duplicate: the description is taken over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eagle_rag_core.testing import PackLibrary


@pytest.fixture
def library(tmp_path: Path) -> Iterator[PackLibrary]:
    settings = {"ingest": {"allowed_roots": [str(tmp_path)]}}
    with PackLibrary(tmp_path / "home", settings=settings) as library:
        yield library


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.md"
    path.write_text("---\nkeywords: own\n---\n# Note\n\nTides turn twice a day.\n")
    return path


def submit(library: PackLibrary, path: Path, **description: Any) -> bool:
    """Ingest and wait; whether it was a duplicate."""
    job = library.call("core_ingest", source_uri=str(path), **description)
    while library.call("core_get_job", job_id=job["job_id"])["status"] in ("queued", "running"):
        pass
    return bool(library.call("core_get_job", job_id=job["job_id"])["dedup_hit"])


def document(library: PackLibrary) -> dict[str, Any]:
    (item,) = library.call("core_list_documents")["items"]
    assert isinstance(item, dict)
    return item


def test_a_new_title_and_new_tags_are_taken_over(library: PackLibrary, note: Path) -> None:
    assert not submit(library, note)
    assert not submit(library, note, title="On tides", tags=["sea"], source_type="note")
    item = document(library)
    assert (item["title"], item["source_type"]) == ("On tides", "note")
    assert sorted(item["tags"]) == ["own", "sea"]
    (hit,) = library.call("core_retrieve_text", query="tides")
    assert "twice a day" in hit["text"]


def test_new_metadata_can_be_filtered_by(library: PackLibrary, note: Path) -> None:
    submit(library, note)
    assert not submit(library, note, metadata={"owner": "ada"})
    owned = [{"field": "metadata.owner", "op": "eq", "value": "ada"}]
    assert len(library.call("core_list_documents", filter=owned)["items"]) == 1


def test_saying_the_same_again_or_nothing_is_a_duplicate(library: PackLibrary, note: Path) -> None:
    said = {"title": "On tides", "tags": ["sea"], "metadata": {"owner": "ada"}}
    submit(library, note, **said)
    before = document(library)
    assert submit(library, note, **said)
    assert submit(library, note)
    assert document(library) == before
