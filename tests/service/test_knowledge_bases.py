"""Knowledge bases are created, described, renamed, copied and deleted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from life_pack import Life, sha

from eagle_rag_core.errors import ErrorCode, InvalidArgument, NotFound
from eagle_rag_core.service import kbs as kb_service
from eagle_rag_core.service.kb_copy import CopyResult
from eagle_rag_core.types import COMMAND_LINE, Caller

LIMITED = Caller("limited", kbs=frozenset({"a", "free"}))


def test_an_empty_one_is_created_and_described(life: Life) -> None:
    service = life.services.kbs
    service.create(COMMAND_LINE, "papers", title="Papers", description="On otters.")
    service.describe(COMMAND_LINE, "papers", title="All papers")
    stats = service.stats(COMMAND_LINE, "papers")
    assert (stats.info.title, stats.info.description) == ("All papers", "On otters.")
    assert (stats.info.documents, stats.bytes, stats.jobs_pending) == (0, 0, 0)
    with pytest.raises(InvalidArgument, match="already"):
        service.create(COMMAND_LINE, "papers")
    with pytest.raises(InvalidArgument):
        service.describe(COMMAND_LINE, "papers", title="\ud800")


@pytest.mark.parametrize(
    "act",
    [
        lambda life, name: life.services.kbs.stats(LIMITED, name),
        lambda life, name: life.services.kbs.create(LIMITED, name),
        lambda life, name: life.services.kbs.describe(LIMITED, name, title="x"),
        lambda life, name: life.services.kbs.rename(LIMITED, name, "free"),
        lambda life, name: life.services.kbs.rename(LIMITED, "a", name),
        lambda life, name: life.services.kbs.delete(LIMITED, name),
        lambda life, name: life.upkeep.kb_copy.copy(LIMITED, name, "free"),
        lambda life, name: life.upkeep.kb_copy.copy(LIMITED, "a", name),
        lambda life, name: life.upkeep.kb_copy.copy(LIMITED, "a", "free", namespace=name),
    ],
)
def test_forbidden_and_missing_answer_alike(life: Life, act: Callable[[Life, str], object]) -> None:
    for name in ("a", "secret"):
        life.services.kbs.create(COMMAND_LINE, name)
    answers = []
    for name in ("secret", "absent"):
        with pytest.raises(NotFound) as caught:
            act(life, name)
        assert caught.value.code is ErrorCode.KB_NOT_FOUND
        answers.append(caught.value.message.replace(name, "?"))
    assert answers[0] == answers[1]
    assert [kb.name for kb in life.services.kbs.list(COMMAND_LINE)] == ["a", "secret"]


def test_a_renamed_one_is_found_under_its_new_name_only(life: Life, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    document_id = life.add(path, "OTTERS eat.", kb="old")
    life.add(tmp_path / "b.md", "OTTERS sleep.", kb="else")
    life.services.kbs.rename(COMMAND_LINE, "old", "new")
    assert life.search("otters", "new") == ["OTTERS eat."]
    assert sorted(life.search("otters")) == ["OTTERS eat.", "OTTERS sleep."]
    assert life.library.call("core_retrieve_text", query="otters", kb_name="new")
    assert life.library.records("name", kb_name="new")[0].kb_name == "new"
    assert life.add(path, kb="new") == document_id
    assert life.add(path, "OTTERS dive.", kb="new") == document_id
    assert life.search("otters", "new") == ["OTTERS dive."]
    assert life.findings() == []


def test_the_freed_name_can_be_used_again(life: Life, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    first = life.add(path, "OTTERS eat.", kb="old")
    life.services.kbs.rename(COMMAND_LINE, "old", "new")
    second = life.add(path, "OTTERS eat.", kb="old")
    assert first != second
    life.add(path, "OTTERS dive.", kb="old")
    assert life.search("otters", "new") == ["OTTERS eat."]
    assert life.search("otters", "old") == ["OTTERS dive."]
    life.services.kbs.delete(COMMAND_LINE, "new")
    assert life.search("otters") == ["OTTERS dive."]
    assert life.findings() == []


def test_deleting_one_leaves_nothing_of_it(life: Life, tmp_path: Path) -> None:
    for number in range(3):
        life.add(tmp_path / f"{number}.md", f"OTTERS eat {number}.", kb="gone")
    life.add(tmp_path / "0.md", kb="stays")
    stays = len(life.rows()["vector_rows"]) // 4
    assert life.services.kbs.delete(COMMAND_LINE, "gone") == 3
    assert [kb.name for kb in life.services.kbs.list(COMMAND_LINE)] == ["stays"]
    assert len(life.rows()["vector_rows"]) == stays
    assert len(life.rows()["pack_records"]) == 1
    assert life.blobs() == {sha("OTTERS eat 0.")}
    assert life.search("otters") == ["OTTERS eat 0."]
    assert life.findings() == []


def test_an_interrupted_deletion_is_complete_for_readers_and_ends_later(
    life: Life, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / f"{number}.md" for number in range(3)]
    for number, path in enumerate(paths):
        life.add(path, f"OTTERS eat {number}.", kb="a")
    monkeypatch.setattr(kb_service, "_BATCH", 1)
    broken = life.engine.services.documents._originals
    monkeypatch.setattr(broken, "discard", _crash)
    with pytest.raises(KeyboardInterrupt):
        life.services.kbs.delete(COMMAND_LINE, "a")
    monkeypatch.undo()
    assert life.search("otters") == []
    assert life.services.kbs.list(COMMAND_LINE) == []
    life.add(paths[0], kb="a")  # the name is free
    assert life.search("otters") == ["OTTERS eat 0."]
    ((check, _),) = life.findings()
    assert check == "catalog.deletions"
    life.upkeep.audit.repair(life.upkeep.audit.run())
    assert life.findings() == []
    assert len(life.rows()["documents"]) == 1
    assert life.search("otters") == ["OTTERS eat 0."]


def _crash(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_copy_embeds_nothing_and_lives_on_its_own(life: Life, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    life.add(path, "---\nkeywords: sea\n---\n# Otters\n\nOTTERS eat.\n", kb="a")
    life.services.kbs.describe(COMMAND_LINE, "a", title="A", description="About.")
    life.alpha.embedded.clear()
    assert life.upkeep.kb_copy.copy(COMMAND_LINE, "a", "b") == CopyResult(1, 0)
    assert life.alpha.embedded == []
    stats = life.services.kbs.stats(COMMAND_LINE, "b").info
    assert (stats.title, stats.description, stats.documents) == ("A", "About.", 1)
    assert life.search("otters", "b") == life.search("otters", "a")
    assert life.search("enriched", "b") == life.search("enriched", "a")
    (record,) = life.library.records("name", kb_name="b")
    assert life.library.passages(record.node_id)[0].kb_name == "b"
    # It is what ingesting the same file would have made.
    before = life.rows("jobs", "kbs")
    life.add(path, kb="b")
    assert life.rows("jobs", "kbs") == before
    life.services.kbs.delete(COMMAND_LINE, "a")
    assert len(life.search("otters", "b")) == 1
    assert life.findings() == []


def test_a_copy_goes_on_where_it_was_and_takes_what_is_newer(life: Life, tmp_path: Path) -> None:
    for name in "xyz":
        life.add(tmp_path / f"{name}.md", f"OTTERS eat {name}.", kb="a")

    def interrupt(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        life.upkeep.kb_copy.copy(COMMAND_LINE, "a", "b", progress=interrupt)
    life.add(tmp_path / "x.md", "OTTERS sleep.", kb="a")
    result = life.upkeep.kb_copy.copy(COMMAND_LINE, "a", "b")
    assert result.copied + result.unchanged == 3 and result.unchanged > 0
    assert sorted(life.search("otters", "b")) == sorted(life.search("otters", "a"))
    assert life.findings() == []


def test_one_of_another_namespace_is_copied_without_embedding(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Life(home, embedder="alpha", namespace="other") as life:
        life.add(tmp_path / "a.md", "# Otters\n\nOTTERS eat.\n", kb="a")
    with Life(home, embedder="alpha") as life:
        assert life.upkeep.kb_copy.copy(COMMAND_LINE, "a", "a", namespace="other").copied == 1
        assert life.alpha.embedded == []
        assert life.search("eat") == ["# Otters\n\nOTTERS eat."]
        assert life.library.records("name") == []  # of a pack that is not enabled here
        assert life.findings() == [("pipeline.stale", "documents")]
        assert life.make_stale_anew() == ["succeeded"]
        assert life.alpha.embedded == []
        assert len(life.library.records("name")) == 1
        with pytest.raises(NotFound):
            life.upkeep.kb_copy.copy(COMMAND_LINE, "b", "b", namespace="other")


def test_a_copy_into_a_library_of_another_embedder_is_embedded(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Life(home, embedder="alpha", namespace="other") as life:
        life.add(tmp_path / "a.md", "OTTERS eat.", kb="a")
    with Life(home, embedder="beta") as life:
        life.upkeep.kb_copy.copy(COMMAND_LINE, "a", "a", namespace="other")
        assert life.beta.embedded == ["OTTERS eat."]
        assert life.search("eat") == ["OTTERS eat."]
        with pytest.raises(InvalidArgument):
            life.upkeep.kb_copy.copy(COMMAND_LINE, "a", "a")
