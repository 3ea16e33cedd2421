"""Backups are whole, are taken while others write, and become the same library anywhere."""

from __future__ import annotations

import json
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from life_pack import Life, sha
from places import Places
from sqlalchemy import select, update

from eagle_rag_core.catalog import migration, transfer
from eagle_rag_core.catalog.collections import active_collection, list_collections
from eagle_rag_core.catalog.documents import list_documents
from eagle_rag_core.catalog.schema import documents, jobs, vector_state
from eagle_rag_core.errors import InvalidArgument, StorageError
from eagle_rag_core.service.backup import archive as archives
from eagle_rag_core.service.backup.archive import ArchiveReader, ArchiveWriter
from eagle_rag_core.service.backup.restore import restore_audit
from eagle_rag_core.types import COMMAND_LINE, IngestRequest, Scope
from eagle_rag_core.vectors.collections import as_collection
from eagle_rag_core.vectors.local.store import LocalVectorStore


@pytest.fixture
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Places:
    return Places(request, tmp_path)


def fill(life: Life, folder: Path) -> None:
    life.add(
        folder / "a.md", "---\nkeywords: sea, kelp\n---\n# A\n\nOTTERS eat.\n\n## B\n\nMore.\n"
    )
    life.add(folder / "b.md", "海獭吃海胆。 \u2028 ÄÖÜ \U0001f9a6", kb="zoo")
    life.add(folder / "c.md", "OTTERS eat.", kb="zoo")
    life.services.kbs.describe(COMMAND_LINE, "zoo", title="Zoo", description="Animals")
    life.services.kbs.rename(COMMAND_LINE, "zoo", "park")


def seen(life: Life) -> dict[str, Any]:
    """What callers see of a library, and what is behind it."""
    catalog = life.engine.catalog
    with catalog.read() as conn:
        (info,) = list_collections(conn, catalog.namespace)
        shown = sorted(conn.scalars(select(documents.c.visible_version)))
        known = {
            table.name: sorted(map(repr, transfer.read_table(conn, table)))
            for table in transfer.TABLES
            if table.name not in ("vector_rows", "kbs")  # a new epoch; elsewhere in Milvus
        }
    vectors = {
        (rows.version_id, node_id): (" ".join(tokens), rows.dense[number].tobytes())
        for rows in life.engine.store.read(as_collection(info), shown)
        if rows.dense is not None
        for number, (node_id, tokens) in enumerate(zip(rows.node_ids, rows.tokens, strict=True))
    }
    originals = life.engine.services.documents._originals
    hashes = {sha("OTTERS eat."), sha("海獭吃海胆。 \u2028 ÄÖÜ \U0001f9a6")}
    return {
        "catalog": known,
        "kbs": life.library.call("core_list_kbs"),
        "vectors": vectors,
        "originals": {name: originals.read(name) for name in hashes},
        "records": life.library.records("name"),
        "found": life.library.call("core_retrieve_text", query="otters eat"),
        "chinese": life.library.call("core_retrieve_text", query="海胆"),
    }


@pytest.mark.parametrize(
    ("source", "target"),
    [("folder", "folder"), ("folder", "postgres"), ("folder", "servers"), ("servers", "folder")],
)
def test_a_backup_becomes_the_same_library_anywhere(
    places: Places, tmp_path: Path, source: str, target: str
) -> None:
    origin, other = places.new(source), places.new(target)
    with origin.open() as life:
        fill(life, tmp_path)
        before = seen(life)
        made = origin.backup(tmp_path / "backup.tar")
    assert (made.documents, made.originals, made.missing, made.without_vectors) == (3, 3, 0, 0)
    assert other.restore(made.path).documents == 3
    with other.open() as life:
        assert seen(life) == before
        assert life.findings() == []
        assert life.alpha.embedded == []
        life.add(tmp_path / "a.md", "OTTERS swim.")  # numbers of records go on
        assert sorted(life.search("otters")) == ["OTTERS eat.", "OTTERS swim."]
        assert life.findings() == []


def test_a_backup_is_taken_while_others_write(places: Places, tmp_path: Path) -> None:
    """Documents come, change and go meanwhile; each is in the backup whole or not at all."""
    origin, other = places.new(), places.new()
    done = threading.Event()
    with origin.open() as life:
        fill(life, tmp_path)

        def write() -> None:
            number = 0
            while not done.is_set():
                number += 1
                path = tmp_path / f"busy{number % 3}.md"
                document_id = life.add(path, f"BUSY otters, number {number}.")
                if number % 2:
                    life.services.documents.delete(COMMAND_LINE, document_id)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            made = [origin.backup(tmp_path / f"backup{n}.tar") for n in range(4)]
        finally:
            done.set()
            writer.join()
    for backup in made:
        assert backup.missing == 0
        other.restore(backup.path, force=True)
        with other.open() as life:
            assert life.findings() == []
            assert life.search("eat")


def test_an_original_that_goes_while_it_is_copied_takes_its_document_along(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, other = places.new(), places.new()
    with origin.open() as life:
        fill(life, tmp_path)
        gone = life.add(tmp_path / "gone.md", "GONE soon.")
        originals = archives.ArchiveWriter.add_blob

        def add(archive: ArchiveWriter, key: str, data: bytes) -> None:
            if key == sha("GONE soon."):
                life.services.documents.delete(COMMAND_LINE, gone)
                life.add(tmp_path / "late.md", "LATE comer.")
            originals(archive, key, data)

        monkeypatch.setattr(archives.ArchiveWriter, "add_blob", add)
        made = origin.backup(tmp_path / "backup.tar")
    assert made.missing == 0
    other.restore(made.path)
    with other.open() as life:
        assert life.search("gone late") == ["LATE comer."]
        assert life.findings() == []


def test_a_running_process_sees_what_was_restored(places: Places, tmp_path: Path) -> None:
    place = places.new()
    with place.open() as life:
        fill(life, tmp_path)
        made = place.backup(tmp_path / "backup.tar")
        epochs = life.rows()["kbs"]
        life.add(tmp_path / "a.md", "OTTERS swim.")
        life.add(tmp_path / "d.md", "WALRUS sleeps.")
        assert life.search("walrus swim") != []
        place.restore(made.path, force=True)
        assert life.search("walrus swim") == []
        assert life.search("eat") == ["# A\n\nOTTERS eat.", "OTTERS eat."]
        assert len(life.blobs()) == 3
        assert epochs != life.rows()["kbs"]
        assert life.findings() == []
        with life.engine.catalog.read() as conn:
            assert conn.scalar(select(vector_state.c.generation)) == 1


def test_nobody_holds_a_restored_job(places: Places, tmp_path: Path) -> None:
    origin, other = places.new(), places.new()
    (tmp_path / "a.md").write_text("OTTERS eat.")
    with origin.open() as life:
        job = life.services.ingest.submit(COMMAND_LINE, IngestRequest(str(tmp_path / "a.md")))
        with life.engine.catalog.write() as tx:
            tx.execute(
                update(jobs).values(
                    status="running", lease_owner="w", lease_until=2e9, dispatched_at=1.0
                )
            )
        made = origin.backup(tmp_path / "backup.tar")
    other.restore(made.path)
    with other.open() as life:
        life.library.app.work()
        assert life.ends([job.job_id]) == ["succeeded"]


def test_a_library_that_holds_something_is_kept(places: Places, tmp_path: Path) -> None:
    origin, other = places.new(), places.new()
    with origin.open() as life:
        fill(life, tmp_path)
        made = origin.backup(tmp_path / "backup.tar")
    with other.open() as life:
        life.add(tmp_path / "d.md", "WALRUS sleeps.")
        with pytest.raises(InvalidArgument, match="--force"):
            other.restore(made.path)
        assert life.search("walrus") == ["WALRUS sleeps."]
        other.restore(made.path, force=True)
        assert life.search("walrus") == []
        assert sha("WALRUS sleeps.") not in life.blobs()
        assert life.findings() == []


def test_a_replaced_library_leaves_no_vectors_in_milvus(places: Places, tmp_path: Path) -> None:
    origin, other = places.new(), places.new("servers")
    with origin.open() as life:
        fill(life, tmp_path)
        made = origin.backup(tmp_path / "backup.tar")
    with other.open() as life:
        life.add(tmp_path / "d.md", "WALRUS sleeps.")
        other.restore(made.path, force=True)
        assert life.search("walrus") == []
        store: Any = life.engine.store
        store._retirements._clock = lambda: 2e10
        assert store.sweep() == 1
        assert life.findings() == []


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz"])
def test_an_archive_is_private_and_holds_no_configuration(
    places: Places, tmp_path: Path, suffix: str
) -> None:
    place = places.new()
    with place.open() as life:
        fill(life, tmp_path)
    (tmp_path / "out").mkdir()
    made = place.backup(tmp_path / "out" / f"backup{suffix}")
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "out").iterdir()] == [f"backup{suffix}"]
    assert b"eagle-rag.yaml" not in made.path.read_bytes()
    with pytest.raises(InvalidArgument, match="exists already"):
        place.backup(made.path)
    assert place.backup(tmp_path / "out").path.name.startswith("eagle-rag-20")
    with pytest.raises(InvalidArgument, match=r"\.tar"):
        place.backup(tmp_path / "out" / "backup.zip")
    with pytest.raises(StorageError, match="cannot be written"):
        place.backup(tmp_path / "nowhere" / "backup.tar")


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, StorageError("The disk is full.")])
def test_an_interrupted_backup_leaves_nothing(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interruption: Any
) -> None:
    place = places.new()
    with place.open() as life:
        fill(life, tmp_path)
    (tmp_path / "out").mkdir()

    def interrupted(*_: object) -> None:
        raise interruption

    monkeypatch.setattr(ArchiveWriter, "finish", interrupted)
    with pytest.raises(type(interruption) if isinstance(interruption, Exception) else interruption):
        place.backup(tmp_path / "out" / "backup.tar")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("kind", ["folder", "postgres"])
def test_an_interrupted_restore_changes_nothing_and_can_be_repeated(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    origin, other = places.new(), places.new(kind)
    with origin.open() as life:
        fill(life, tmp_path)
        made = origin.backup(tmp_path / "backup.tar")
    with other.open() as life:
        life.add(tmp_path / "d.md", "WALRUS sleeps.")
        before = life.rows()

        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(transfer, "settle", interrupted)
            with pytest.raises(KeyboardInterrupt):
                other.restore(made.path, force=True)
        assert life.rows() == before
        other.restore(made.path, force=True)
        assert life.search("eat") and not life.search("walrus")


def test_a_lost_original_is_told_and_does_not_stand_in_the_way(
    places: Places, tmp_path: Path
) -> None:
    origin, other = places.new(), places.new()
    with origin.open() as life:
        fill(life, tmp_path)
        lost, damaged = sha("OTTERS eat."), sha((tmp_path / "a.md").read_text())
        for path in (life.home / "blobs").rglob("*"):
            if path.name == lost:
                path.unlink()
            elif path.name == damaged:
                path.write_text("other")
        made = origin.backup(tmp_path / "backup.tar")
    assert (made.originals, made.missing) == (1, 2)
    other.restore(made.path)
    with other.open() as life:
        assert [check for check, _ in life.findings()] == ["blobs.missing"] * 2
        assert life.search("eat")


def test_the_call_log_comes_along_if_it_is_wanted(places: Places, tmp_path: Path) -> None:
    place = places.new()
    with place.open() as life:
        fill(life, tmp_path)
        life.search("eat")
    audit = place.home / "audit.db"
    without = place.backup(tmp_path / "without.tar")
    within = place.backup(tmp_path / "with.tar", audit=audit)
    assert not restore_audit(ArchiveReader(without.path), tmp_path / "restored.db")
    assert not (tmp_path / "restored.db").exists()
    assert restore_audit(ArchiveReader(within.path), tmp_path / "restored.db")
    with closing(sqlite3.connect(tmp_path / "restored.db")) as db:
        assert db.execute("SELECT count(*) FROM calls").fetchone() == (1,)
    assert not restore_audit(ArchiveReader(within.path), audit)


@pytest.mark.parametrize("kind", ["folder", "postgres"])
def test_a_backup_of_the_first_version_is_migrated(
    places: Places, tmp_path: Path, kind: str
) -> None:
    first = Path(__file__).parents[1] / "catalog" / "catalog_0001.json"
    with ArchiveWriter(tmp_path / "first.tar") as archive:
        for name, content in json.loads(first.read_text("utf-8")).items():
            if not name.startswith("vector_") or name in ("vector_rows", "vector_collections"):
                archive.add_rows(name, content["columns"], iter(content["rows"]))
        made_by = {"made_by": "eagle-rag-core 0.0.1", "schema": "0001"}
        archive.finish({**made_by, "documents": {"core": 2}})
    place = places.new(kind)
    assert place.restore(tmp_path / "first.tar").documents == 2
    with place.open() as life, life.engine.catalog.read() as conn:
        assert migration.stored_revision(conn) == migration.HEAD_REVISION
        scope = Scope(kbs=frozenset({"zoo"}))
        page, _ = list_documents(conn, "core", scope, limit=9, cursor="")
        info = active_collection(conn, "core", "text")
        assert info is not None
        hits = LocalVectorStore(life.engine.catalog).search_lexical(
            as_collection(info), ["海獭"], scope, 9
        )
        assert len(page) == 2 and len(hits) == 1
