from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from catalog_samples import NAMESPACE
from sqlalchemy import Inspector, inspect, text

from eagle_rag_core.catalog import migration
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import metadata
from eagle_rag_core.errors import StorageError

MIGRATE = """
import pathlib, sys, time
from eagle_rag_core.catalog.engine import Catalog
url, folder = sys.argv[1:]
start = pathlib.Path(folder)
(start / f"ready-{time.time_ns()}").touch()
while len(list(start.glob("ready-*"))) < 2:
    time.sleep(0.01)
catalog = Catalog(url, namespace="core")
catalog.migrate()
print(*sorted(name for name in sys.modules if name in {"alembic", "mako"}))
"""


def open_catalog(path: Path) -> Catalog:
    return Catalog(f"sqlite:///{path}", namespace=NAMESPACE)


def table_shapes(inspector: Inspector) -> dict[str, Any]:
    def by_name(rows: list[Any]) -> list[str]:
        return sorted(str(sorted(row.items(), key=lambda item: item[0])) for row in rows)

    return {
        name: (
            by_name(
                [{**column, "type": str(column["type"])} for column in inspector.get_columns(name)]
            ),
            inspector.get_pk_constraint(name),
            by_name(inspector.get_foreign_keys(name)),
            by_name(inspector.get_indexes(name)),
        )
        for name in inspector.get_table_names()
        if name != "alembic_version"
    }


def test_migrations_build_what_the_schema_says(migrated: Path, tmp_path: Path) -> None:
    by_migration, by_schema = open_catalog(migrated), open_catalog(tmp_path / "schema.db")
    with by_schema.write() as tx:
        metadata.create_all(tx)
    with by_migration.read() as left, by_schema.read() as right:
        context = MigrationContext.configure(left, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        assert table_shapes(inspect(left)) == table_shapes(inspect(right))


def test_the_head_revision_is_the_newest_migration(migrated: Path) -> None:
    config = Config()
    scripts = Path(migration.__file__).parent / "migrations"
    config.set_main_option("script_location", str(scripts))
    assert ScriptDirectory.from_config(config).get_heads() == [migration.HEAD_REVISION]
    with open_catalog(migrated).read() as conn:
        assert migration.stored_revision(conn) == migration.HEAD_REVISION


def test_processes_that_migrate_at_once_all_succeed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MIGRATE, f"sqlite:///{tmp_path}/home/c.db", str(tmp_path)]
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in started:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    with open_catalog(tmp_path / "home" / "c.db").read() as conn:
        assert conn.scalars(text("SELECT version_num FROM alembic_version")).all() == [
            migration.HEAD_REVISION
        ]


def test_a_current_catalog_is_opened_without_alembic(migrated: Path, tmp_path: Path) -> None:
    (tmp_path / "ready-1").touch()
    command = [sys.executable, "-c", MIGRATE, f"sqlite:///{migrated}", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.split() == []


def test_file_and_folder_are_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "home" / "catalog.db"
    catalog = open_catalog(path)
    catalog.migrate()
    catalog.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_catalog_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path / "c.db")
    catalog.migrate()
    with catalog.write() as tx:
        tx.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StorageError, match="upgrade") as caught:
        catalog.migrate()
    assert not caught.value.retryable


def test_a_migration_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path / "c.db")
    with catalog.write() as tx:
        tx.execute(text("CREATE TABLE jobs (x)"))  # in the way of a later statement
    with pytest.raises(StorageError):
        catalog.migrate()
    with catalog.read() as conn:
        assert inspect(conn).get_table_names() == ["jobs"]


def test_a_file_that_is_no_database_is_named_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    path.write_bytes(b"My notes, certainly not a database.\n" * 100)
    content = path.read_bytes()
    with pytest.raises(StorageError, match=r"c\.db.*database\.url.*not a database") as caught:
        open_catalog(path).migrate()
    assert not caught.value.retryable
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"database\.url"):
        open_catalog(tmp_path / "file" / "c.db").migrate()


def test_a_catalog_that_was_never_made_is_a_storage_failure(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageError, match="cannot be opened") as caught,
        open_catalog(tmp_path / "absent" / "c.db").read() as conn,
    ):
        conn.execute(text("SELECT 1"))
    assert str(tmp_path) not in caught.value.message
