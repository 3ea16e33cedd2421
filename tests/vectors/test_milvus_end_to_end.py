"""The whole product with its vectors in Milvus."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from eagle_rag_core.app import EagleApp
from eagle_rag_core.jobs.workers import _sharing_vectors
from eagle_rag_core.settings import load_settings
from eagle_rag_core.types import COMMAND_LINE, IngestRequest, Job, JobStatus, Scope, ScopeRequest
from eagle_rag_core.vectors.milvus.connection import shared_uri
from eagle_rag_core.vectors.milvus.store import MilvusVectorStore
from eagle_rag_core.vectors.store import Collection

PATIENCE = 20.0


@pytest.fixture
def app(tmp_path: Path) -> Iterator[EagleApp]:
    pytest.importorskip("pymilvus", reason="pymilvus is not installed")
    pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")
    settings = load_settings(
        overrides={
            "home": str(tmp_path / "home"),
            "milvus": {"uri": str(tmp_path / "vectors" / "lite.db"), "db_prefix": "team_"},
            "models": {"text_embedder": "none"},
        }
    )
    app = EagleApp.open(settings, no_packs=True)
    app.work()
    yield app
    app.close()


def ingest(app: EagleApp, *paths: Path) -> list[Job]:
    """Submit files and wait for their jobs, all of which must succeed."""
    services = app.services()
    submitted = [
        services.ingest.submit(COMMAND_LINE, IngestRequest(source_uri=str(path))) for path in paths
    ]
    until = time.monotonic() + PATIENCE
    while True:
        jobs = [services.jobs.get(COMMAND_LINE, job.job_id) for job in submitted]
        if all(job.status.final for job in jobs):
            break
        assert time.monotonic() < until, jobs
        time.sleep(0.05)
    assert {job.status for job in jobs} == {JobStatus.SUCCEEDED}, jobs
    return jobs


def titles(app: EagleApp, query: str) -> list[str]:
    """File names of the hits; every leg of the search must have worked."""
    outcome = app.services().search.search(COMMAND_LINE, query, top_k=5, request=ScopeRequest())
    assert not [step for step in outcome.steps if step.status == "failed"], outcome.steps
    return [Path(hit.source_uri).name for hit in outcome.hits]


def active_collection(app: EagleApp) -> Collection:
    info = app.engine().active_collection()
    assert info is not None
    return Collection(info.namespace, info.name, info.kind, info.dim)


def test_files_are_found_and_a_changed_one_replaces_its_former_self(
    app: EagleApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bridge, harbour = tmp_path / "bridge.md", tmp_path / "harbour.md"
    bridge.write_text("# Bridge\n\nThe suspension bridge was closed after the storm.\n")
    harbour.write_text("# Harbour\n\nThe ferry leaves the harbour at noon, storm or not.\n")
    ingest(app, bridge, harbour)
    assert titles(app, "suspension") == ["bridge.md"]
    assert titles(app, "ferry") == ["harbour.md"]
    assert sorted(titles(app, "storm")) == ["bridge.md", "harbour.md"]

    bridge.write_text("# Bridge\n\nA tunnel took the place of the crossing.\n")
    (changed,) = ingest(app, bridge)
    assert not changed.dedup_hit
    assert titles(app, "suspension") == []
    assert titles(app, "tunnel") == ["bridge.md"]
    assert titles(app, "storm") == ["harbour.md"]

    store, scope = app.engine().store, Scope(kbs=frozenset({"default"}))
    assert isinstance(store, MilvusVectorStore)
    collection = active_collection(app)
    assert store.count(collection, scope) == 3
    assert store.sweep() == 0
    monkeypatch.setattr(store._retirements, "_clock", lambda: time.time() + 1_000)
    assert store.sweep() == 1
    assert store.count(collection, scope) == 2
    assert titles(app, "tunnel") == ["bridge.md"]

    (unchanged,) = ingest(app, harbour)
    assert unchanged.dedup_hit
    assert app.health()["vectors"] == "milvus"


def test_worker_processes_reach_the_file_through_the_process_that_has_it_open(
    app: EagleApp, tmp_path: Path
) -> None:
    lake = tmp_path / "lake.md"
    lake.write_text("# Lake\n\nThe lake froze over.\n")
    ingest(app, lake)
    uri = app.settings.milvus.uri
    shared = shared_uri(uri)
    assert shared.startswith("http://127.0.0.1:") and shared == shared_uri(uri)
    assert shared_uri(shared) == shared
    assert _sharing_vectors(app.settings).milvus.uri == shared
    assert _sharing_vectors(app.settings).milvus.db_prefix == "team_"
    catalog = app.engine().catalog
    other = MilvusVectorStore(catalog, uri=shared, database="team_core", grace=60.0)
    try:
        assert other.count(active_collection(app), Scope(kbs=frozenset({"default"}))) == 1
    finally:
        other.close()
    assert titles(app, "lake") == ["lake.md"]  # its own connection is still there


def test_workers_without_milvus_get_the_settings_as_they_are(tmp_path: Path) -> None:
    settings = load_settings(overrides={"home": str(tmp_path)})
    assert _sharing_vectors(settings) is settings
