"""Collections of packs: what they hold, how searches read them, and how they live and die."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from life_pack import Life
from places import Places
from servers import MilvusServer
from sqlalchemy import event

from eagle_rag_core.catalog.collection_use import used_kinds
from eagle_rag_core.catalog.collections import active_collection
from eagle_rag_core.cli.reindex import _catch_up as catch_up
from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.retrieval.orchestrator import SearchOutcome
from eagle_rag_core.types import COMMAND_LINE, Chunk, CollectionView, ScopeRequest, Step
from eagle_rag_core.vectors.collections import as_collection

LOUD = "# Care\n\nOTTERS must be brushed.\n\n# Food\n\nThey eat urchins.\n"
QUIET = "# Sleep\n\nThey hold hands.\n"
NAME = "life_loud"


def is_loud(chunk: Chunk) -> bool:
    return "OTTERS" in chunk.text


def loud(embedder: str = "life_gamma", accepts: Callable[[Chunk], bool] = is_loud) -> Any:
    return [CollectionView(NAME, embedder, accepts)]


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    with Life(tmp_path / "home", embedder="alpha", views=loud()) as life:
        yield life


def search(life: Life, query: str = "brushed otters", **scope: Any) -> SearchOutcome:
    request = ScopeRequest(**scope)
    return life.services.search.search(COMMAND_LINE, query, top_k=10, request=request)


def step(outcome: SearchOutcome, name: str = NAME) -> Step:
    (found,) = (step for step in outcome.steps if step.name == name)
    return found


def stored(life: Life, kind: str = NAME) -> dict[str, list[str]]:
    """The texts in the collections of a kind, by name of the collection."""
    with life.engine.catalog.read() as conn:
        chunks = dict(conn.exec_driver_sql("SELECT node_id, text FROM chunks").all())
        rows = conn.exec_driver_sql("SELECT collection, node_id FROM vector_rows").all()
    found: dict[str, list[str]] = {}
    for collection, node_id in rows:
        if collection.rpartition("_")[0] == kind:
            found.setdefault(collection, []).append(chunks.get(node_id, "gone"))
    return {collection: sorted(texts) for collection, texts in found.items()}


def texts(life: Life) -> list[str]:
    return [text for texts in stored(life).values() for text in texts]


def test_accepted_chunks_are_found_by_the_packs_own_leg(life: Life, tmp_path: Path) -> None:
    life.add(tmp_path / "loud.md", LOUD)
    (accepted,) = texts(life)
    assert "brushed" in accepted
    outcome = search(life, accepted)
    assert step(outcome).status == "ok"
    assert [NAME in hit.why for hit in outcome.hits] == [True, False]
    assert outcome.hits[0].why == {"dense": 1, "lexical": 1, NAME: 1}
    assert life.findings() == []


def test_what_a_version_uses_is_recorded(life: Life, tmp_path: Path) -> None:
    life.add(tmp_path / "loud.md", LOUD)
    life.add(tmp_path / "quiet.md", QUIET)
    with life.engine.catalog.read() as conn:
        used = {
            Path(uri).name: used_kinds(conn, version)
            for uri, version in conn.exec_driver_sql(
                "SELECT source_uri, visible_version FROM documents"
            )
        }
    assert used == {"loud.md": {NAME}, "quiet.md": frozenset()}


def test_the_leg_works_where_the_scope_holds_something_of_it(life: Life, tmp_path: Path) -> None:
    with_it = life.add(tmp_path / "loud.md", LOUD, kb="a")
    without = life.add(tmp_path / "quiet.md", QUIET, kb="b")
    for scope in ({}, {"kb_name": "a"}, {"documents": (with_it, without)}, {"scope_kbs": ("a",)}):
        assert step(search(life, **scope)).status == "ok"
    for scope in ({"kb_name": "b"}, {"documents": (without,)}):
        skipped = step(search(life, **scope))
        assert (skipped.status, skipped.detail) == (
            "skipped",
            "The scope holds nothing of this collection.",
        )
    life.services.kbs.rename(COMMAND_LINE, "a", "c")
    assert step(search(life, kb_name="c")).status == "ok"


def test_a_new_version_takes_the_place_of_the_old(life: Life, tmp_path: Path) -> None:
    path = tmp_path / "loud.md"
    life.add(path, LOUD)
    life.add(path, LOUD.replace("brushed", "combed"))
    (text,) = texts(life)
    assert "combed" in text
    life.add(path, QUIET)
    assert texts(life) == []
    assert step(search(life)).status == "skipped"
    assert life.findings() == []


def test_rows_go_with_their_document_and_knowledge_base(life: Life, tmp_path: Path) -> None:
    gone = life.add(tmp_path / "one.md", LOUD, kb="a")
    life.add(tmp_path / "two.md", LOUD, kb="b")
    assert life.services.documents.delete(COMMAND_LINE, gone)
    assert len(texts(life)) == 1
    life.services.kbs.delete(COMMAND_LINE, "b")
    assert texts(life) == []
    assert life.rows()["version_collections"] == []
    assert life.findings() == []


def test_no_text_is_embedded_twice_for_any_collection(tmp_path: Path) -> None:
    views = [
        CollectionView("life_loud", "life_gamma", is_loud),
        CollectionView("life_all", "life_alpha", lambda chunk: True),
    ]
    with Life(tmp_path / "home", embedder="alpha", views=views) as life:
        life.add(tmp_path / "loud.md", LOUD)
        life.add(tmp_path / "copy.md", LOUD)
        assert (len(life.alpha.embedded), len(life.gamma.embedded)) == (2, 1)
        assert [len(texts) for texts in stored(life, "life_all").values()] == [4]
        life.add(tmp_path / "loud.md", LOUD.replace("urchins", "crabs"))
        assert (len(life.alpha.embedded), len(life.gamma.embedded)) == (3, 1)


def test_a_collection_whose_embedder_is_missing_concerns_its_own_documents(
    tmp_path: Path,
) -> None:
    with Life(tmp_path / "home", embedder="alpha", views=loud("life_omega")) as life:
        life.add(tmp_path / "quiet.md", QUIET)
        with pytest.raises(IngestError, match="'life_loud' needs the embedder 'life_omega'"):
            life.add(tmp_path / "loud.md", LOUD)
        assert life.search("hands")
        assert step(search(life)).status == "skipped"


def test_a_search_without_the_embedder_of_a_collection_says_so(tmp_path: Path) -> None:
    with Life(tmp_path / "home", embedder="alpha", views=loud()) as life:
        life.add(tmp_path / "loud.md", LOUD)
    with Life(tmp_path / "home", views=loud("life_omega")) as life:
        skipped = step(search(life))
        assert skipped.status == "skipped"
        assert "life_omega" in skipped.detail
        assert life.search("urchins")


def test_an_embedder_without_vectors_is_a_fault_of_the_pack(tmp_path: Path) -> None:
    with (
        Life(tmp_path / "home", embedder="alpha", views=loud("none")) as life,
        pytest.raises(IngestError, match="makes no vectors"),
    ):
        life.add(tmp_path / "loud.md", LOUD)


def test_a_predicate_that_fails_fails_the_document(tmp_path: Path) -> None:
    def broken(chunk: Chunk) -> bool:
        raise SystemExit(chunk.text)

    with Life(tmp_path / "home", embedder="alpha", views=loud(accepts=broken)) as life:
        with pytest.raises(IngestError, match="predicate of the collection 'life_loud'") as caught:
            life.add(tmp_path / "loud.md", LOUD)
        assert caught.value.code is ErrorCode.PLUGIN_FAILED
        assert life.search("urchins") == []


def test_another_embedder_of_a_collection_waits_until_it_is_embedded_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    with Life(home, embedder="alpha", views=loud()) as life:
        life.add(tmp_path / "loud.md", LOUD)
        life.add(tmp_path / "quiet.md", QUIET)
    with Life(home, views=loud("life_beta")) as life:
        skipped = step(search(life))
        assert (skipped.status, "another embedder (life_gamma)" in skipped.detail) == (
            "skipped",
            True,
        )
        with pytest.raises(IngestError, match="eagle-rag reindex") as caught:
            life.add(tmp_path / "new.md", LOUD)
        assert caught.value.code is ErrorCode.EMBEDDER_MISMATCH
        life.add(tmp_path / "quiet.md", QUIET + "They float.\n")
        ((check, _),) = life.findings()
        assert check == "vectors.collections"

        catch_up(life.library.app)
        assert capsys.readouterr().out == (
            "The collection life_loud uses the embedder life_beta; 1 documents were embedded.\n"
        )
        assert len(life.beta.embedded) == 1
        assert step(search(life)).status == "ok"
        life.add(tmp_path / "new.md", LOUD)
        assert len(texts(life)) == 2
        assert len(stored(life)) == 1
        assert life.findings() == []
        assert life.upkeep.embedders.catch_up() == []


def test_a_collection_that_came_later_is_filled_by_reindexing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Life(home, embedder="alpha") as life:
        life.add(tmp_path / "loud.md", LOUD)
        life.add(tmp_path / "quiet.md", QUIET)
    with Life(home, version="2", views=loud()) as life:
        assert step(search(life)).status == "skipped"
        assert life.make_stale_anew() == ["succeeded"] * 2
        assert life.alpha.embedded == []
        assert step(search(life)).status == "ok"
        assert life.findings() == []


def test_a_predicate_that_changed_without_a_version_leaves_nothing_behind(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Life(home, embedder="alpha", views=loud()) as life:
        document_id = life.add(tmp_path / "loud.md", LOUD)
    with Life(home, views=loud(accepts=lambda chunk: False)) as life:
        jobs = life.upkeep.reindex.remake(COMMAND_LINE, [document_id])
        life.library.app.work()
        assert life.ends([job.job_id for job in jobs]) == ["succeeded"]
        assert texts(life) == []
        assert step(search(life)).status == "skipped"
        assert life.findings() == []


def test_a_copy_has_its_rows_too(life: Life, tmp_path: Path) -> None:
    life.add(tmp_path / "loud.md", LOUD, kb="a")
    embedded = [*life.alpha.embedded, *life.gamma.embedded]
    life.upkeep.kb_copy.copy(COMMAND_LINE, "a", "b")
    assert [*life.alpha.embedded, *life.gamma.embedded] == embedded
    assert len(texts(life)) == 2
    assert step(search(life, kb_name="b")).status == "ok"
    assert life.findings() == []


def test_a_copy_from_another_namespace_is_embedded_for_the_collections_here(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    with Life(home, embedder="alpha", namespace="other") as life:
        life.add(tmp_path / "loud.md", LOUD, kb="a")
    with Life(home, embedder="alpha", views=loud()) as life:
        life.upkeep.kb_copy.copy(COMMAND_LINE, "a", "b", namespace="other")
        assert (len(life.alpha.embedded), len(life.gamma.embedded)) == (0, 1)
        assert step(search(life)).status == "ok"
        assert life.findings() == [("pipeline.stale", "documents")]  # other packs made it


@pytest.mark.parametrize(
    ("damage", "check"),
    [
        ("DELETE FROM vector_rows WHERE collection LIKE 'life_loud%'", "vectors.missing"),
        ("DELETE FROM version_collections", "vectors.orphans"),
    ],
)
def test_an_audit_finds_and_repairs_what_is_wrong(
    life: Life, tmp_path: Path, damage: str, check: str
) -> None:
    life.add(tmp_path / "loud.md", LOUD)
    with life.engine.catalog.write() as tx:
        tx.exec_driver_sql(damage)
    found = life.upkeep.audit.run()
    assert check in {finding.check for finding in found}
    life.upkeep.audit.repair(found)
    life.library.app.work()
    jobs = life.services.jobs.list(COMMAND_LINE, limit=10)
    assert set(life.ends([job.job_id for job in jobs])) == {"succeeded"}
    assert life.findings() == []


@pytest.mark.parametrize("target", ["folder", pytest.param("servers", marks=pytest.mark.full)])
def test_a_backup_carries_the_collections(
    request: pytest.FixtureRequest, tmp_path: Path, target: str
) -> None:
    places = Places(request, tmp_path)
    here, there, back = places.new(), places.new(target), places.new()
    with here.open(views=loud()) as life:
        life.add(tmp_path / "loud.md", LOUD)
        life.add(tmp_path / "quiet.md", QUIET)
    backup = here.backup(tmp_path / "first.tar")
    assert backup.without_vectors == 0
    there.restore(tmp_path / "first.tar")
    with there.open(views=loud()) as life:
        assert step(search(life)).status == "ok"
        life.add(tmp_path / "more.md", LOUD.replace("brushed", "combed"))
        assert len(life.gamma.embedded) == 1
        assert len([hit for hit in search(life).hits if NAME in hit.why]) == 2
        assert life.findings() == []
    assert there.backup(tmp_path / "second.tar").without_vectors == 0
    back.restore(tmp_path / "second.tar")
    with back.open(views=loud()) as life:
        assert len(texts(life)) == 2
        assert life.findings() == []


def test_vectors_on_a_server_follow_their_document(
    milvus_server: MilvusServer, tmp_path: Path
) -> None:
    settings = {"milvus": {"uri": milvus_server.url, "db_prefix": "pack_collections_"}}
    with Life(tmp_path / "home", embedder="alpha", views=loud(), settings=settings) as life:
        path = tmp_path / "loud.md"
        life.add(path, LOUD)
        assert step(search(life)).status == "ok"
        with life.engine.catalog.read() as conn:
            info = active_collection(conn, "life", NAME)
        assert info is not None
        collection = as_collection(info)
        assert list(life.engine.store.versions(collection).values()) == [1]
        life.add(path, QUIET)
        assert step(search(life)).status == "skipped"
        assert life.findings() == []  # the former rows wait for their grace


def test_an_embedder_that_hangs_costs_its_leg_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"retrieval": {"leg_timeout": 0.2}}
    with Life(tmp_path / "home", embedder="alpha", views=loud(), settings=settings) as life:
        life.add(tmp_path / "loud.md", LOUD)
        views = life.engine.orchestrator._parts.views
        assert views is not None
        monkeypatch.setattr(views._views[0], "embedder", lambda: time.sleep(1))
        outcome = search(life)
        assert (step(outcome).status, "in time" in step(outcome).detail) == ("skipped", True)
        assert outcome.hits


def test_a_deployment_without_collections_asks_nothing_about_them(tmp_path: Path) -> None:
    asked: list[str] = []
    with Life(tmp_path / "home", embedder="alpha") as life:
        engine = life.engine.catalog._engine

        @event.listens_for(engine, "before_cursor_execute")
        def note(conn: Any, cursor: Any, statement: str, *_: Any) -> None:
            asked.append(statement)

        life.add(tmp_path / "loud.md", LOUD)
        asked.clear()  # what was taken in may have tiles
        assert life.search("urchins")
    assert asked
    assert [statement for statement in asked if "version_collections" in statement] == []


def test_long_names_of_collections_fit_everywhere(tmp_path: Path) -> None:
    names = [f"life_{'long_' * 10}{end}" for end in ("a", "b")]
    views: Sequence[CollectionView] = [
        CollectionView(name, "life_gamma", is_loud) for name in names
    ]
    with Life(tmp_path / "home", embedder="alpha", views=views) as life:
        life.add(tmp_path / "loud.md", LOUD)
        outcome = search(life)
        assert [step(outcome, name).status for name in names] == ["ok", "ok"]
        kinds = {row[1] for row in life.rows()["version_collections"]}
        assert len(kinds) == 2 and all(len(kind) <= 32 for kind in kinds)
