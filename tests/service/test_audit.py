"""An audit names what is out of order, and a repair puts it right."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from life_pack import Life, sha
from sqlalchemy import text

from eagle_rag_core.service.audit.findings import AuditService, Check, Finding, Level
from eagle_rag_core.types import COMMAND_LINE, JobStatus

TEXT = "# Otters\n\nOTTERS eat.\n\n# Kelp\n\nKelp grows.\n"


def sql(*statements: str) -> Callable[[Life, str], None]:
    def damage(life: Life, document_id: str) -> None:
        with life.engine.catalog.write() as tx:
            for statement in statements:
                tx.execute(text(statement))

    return damage


def add_file(name: str, seconds_ago: float) -> Callable[[Life, str], None]:
    def damage(life: Life, document_id: str) -> None:
        path = life.home / "blobs" / name[:2] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("left over")
        os.utime(path, (time.time() - seconds_ago,) * 2)

    return damage


_VERSION_COPY = (
    "INSERT INTO versions (version_id, document_id, content_hash, fingerprint, size, text, "
    "created_at) SELECT 'f0', document_id, content_hash, fingerprint, size, text, "
    "created_at FROM versions LIMIT 1"
)
_ROW_COPY = (
    "INSERT INTO vector_rows SELECT namespace, collection, 'node', 'f0', document_id, kb_name, "
    "dense, tokens FROM vector_rows LIMIT 1"
)
_LOSE_VERSIONS = sql("PRAGMA defer_foreign_keys = 1", "DELETE FROM versions")
REPAIRED = {
    "all versions lost": ("catalog.documents", _LOSE_VERSIONS),
    "one version lost": (
        "catalog.documents",
        sql(
            "PRAGMA defer_foreign_keys = 1",
            "DELETE FROM versions WHERE version_id = (SELECT min(version_id) FROM versions)",
        ),
    ),
    "a version nobody sees": ("catalog.versions", sql(_VERSION_COPY)),
    "a lost section": ("catalog.sections", sql("DELETE FROM sections WHERE ordinal = 1")),
    "the last section lost": ("catalog.sections", sql("DELETE FROM sections WHERE ordinal = 2")),
    "all sections lost": ("catalog.sections", sql("DELETE FROM sections")),
    "its vectors": ("vectors.orphans", sql(_ROW_COPY)),
    "a lost passage": ("catalog.documents", sql("DELETE FROM chunks WHERE ordinal = 1")),
    "a lost vector": (
        "vectors.missing",
        sql("DELETE FROM vector_rows WHERE node_id = (SELECT max(node_id) FROM vector_rows)"),
    ),
    "all vectors lost": ("vectors.missing", sql("DELETE FROM vector_rows")),
    "a stray record": ("records.orphans", sql("UPDATE pack_records SET kb_name = 'elsewhere'")),
    "a feed that forgot": ("vectors.feed", sql("UPDATE vector_changes SET op = 'drop'")),
    "a stuck job": (
        "jobs.stuck",
        sql("UPDATE jobs SET status = 'running', lease_until = 1, attempts = 1"),
    ),
    "an original nobody needs": ("blobs.orphans", add_file(sha("x"), 7200)),
    "half an original": ("blobs.orphans", add_file(f"{sha('x')}.1a.part", 7200)),
    "somebody's file": ("blobs.orphans", add_file("notes.txt", 7200)),
}


@pytest.mark.parametrize("case", REPAIRED)
def test_what_is_out_of_order_is_named_and_repaired(life: Life, tmp_path: Path, case: str) -> None:
    check, damage = REPAIRED[case]
    document_id = life.add(tmp_path / "a.md", TEXT)
    life.add(tmp_path / "b.md", "Nothing is wrong with this one.")
    assert life.findings() == []
    damage(life, document_id)
    assert check in {name for name, _ in life.findings()}
    for _ in range(3):
        life.upkeep.audit.repair(life.upkeep.audit.run())
        life.library.app.work()
        _run_jobs(life)
    assert life.findings() == []
    assert len(life.search("kelp")) == 1
    assert len(life.library.records("name")) >= (0 if case == "a stray record" else 1)


def _run_jobs(life: Life) -> None:
    states = (JobStatus.QUEUED, JobStatus.RUNNING)
    while life.services.jobs.list(COMMAND_LINE, statuses=states):
        time.sleep(0.01)


def lose_text_and_original(life: Life, document_id: str) -> None:
    _LOSE_VERSIONS(life, document_id)
    for path in (life.home / "blobs").rglob("*"):
        if path.is_file():
            path.unlink()


REPORTED = {
    "a lost text": ("catalog.documents", lose_text_and_original),
    "no collection": ("vectors.collections", sql("UPDATE vector_collections SET active = 0")),
    "no knowledge base": ("catalog.kbs", sql("DELETE FROM kbs")),
}


@pytest.mark.parametrize("case", REPORTED)
def test_what_cannot_be_repaired_says_what_to_do(life: Life, tmp_path: Path, case: str) -> None:
    check, damage = REPORTED[case]
    life.add(tmp_path / "a.md", TEXT)
    damage(life, "")
    faults = [item for item in life.upkeep.audit.run() if item.level is Level.FAULT]
    remedies = [item.remedy for item in faults if item.check == check]
    assert remedies and all(remedies)


def test_a_lost_original_comes_back_by_the_command_that_is_named(
    life: Life, tmp_path: Path
) -> None:
    path = tmp_path / "two words.md"
    life.add(path, TEXT, kb="sea")
    (life.home / "blobs" / sha(TEXT)[:2] / sha(TEXT)).unlink()
    (fault,) = life.upkeep.audit.run()
    assert (fault.check, fault.remedy) == (
        "blobs.missing",
        f"eagle-rag ingest '{path}' --kb sea",
    )
    life.add(path, kb="sea")
    assert life.findings() == []


def test_young_files_may_belong_to_a_running_ingest(life: Life) -> None:
    add_file(sha("x"), 60)(life, "")
    assert life.findings() == []


def test_what_another_namespace_needs_is_no_orphan(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Life(home, embedder="alpha", namespace="other") as life:
        life.add(tmp_path / "a.md", TEXT)
    for path in (home / "blobs").rglob("*"):
        os.utime(path, (1, 1))
    with Life(home, embedder="alpha") as life:
        assert life.findings() == []


def test_a_damaged_database_is_reported(life: Life, tmp_path: Path) -> None:
    life.add(tmp_path / "a.md", TEXT)
    with life.engine.catalog.write() as tx:
        tx.execute(text("PRAGMA writable_schema = 1"))
        tx.execute(
            text("UPDATE sqlite_master SET rootpage = 2 WHERE name = 'ix_versions_content_hash'")
        )
    life.engine.catalog.close()
    assert ("catalog.integrity", "catalog") in life.findings()


def test_what_a_second_look_does_not_find_is_no_finding() -> None:
    looks = iter([["a", "b"], ["b"]])
    passing = Check("x", lambda: [Finding("x", subject, "!") for subject in next(looks)])
    note = Check("y", lambda: [Finding("y", "n", "?", level=Level.NOTE)])
    found = AuditService([passing, note], pause=0.0).run()
    assert [finding.subject for finding in found] == ["b", "n"]
