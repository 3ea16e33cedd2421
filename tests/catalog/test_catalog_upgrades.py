"""Catalogs of every former schema become current ones with all their rows, on both databases."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from catalog_samples import NAMESPACE, draft, publish
from servers import PostgresServer
from sqlalchemy import LargeBinary, MetaData, Table, func, insert, inspect, select, text
from test_catalog_migration import MIGRATE, table_shapes

from eagle_rag_core.catalog import documents, kbs, migration, passages, records
from eagle_rag_core.catalog.collections import active_collection
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import metadata
from eagle_rag_core.errors import StorageError
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.types import LOCAL, JobStatus, NewRecord, Scope
from eagle_rag_core.vectors.collections import as_collection
from eagle_rag_core.vectors.local.store import LocalVectorStore

#: What a catalog of the first schema held; its rows as that version wrote them.
FIRST = json.loads(Path(__file__).with_name("catalog_0001.json").read_text("utf-8"))
ZOO = Scope(kbs=frozenset({"zoo"}))
REVISIONS = sorted(migration.known_revisions())


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Of a new database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'catalog.db'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    name = server.new_database()
    yield server.url(name)
    server.drop(name)


@pytest.fixture
def new(url: str, tmp_path: Path) -> Iterator[Catalog]:
    """A database without any table."""
    (tmp_path / "catalog.db").touch()
    catalog = Catalog(url, namespace=NAMESPACE)
    yield catalog
    catalog.close()


@pytest.fixture
def first(new: Catalog) -> Catalog:
    """A catalog of the first schema, in use."""
    with new.rebuild() as tx:
        migration.upgrade(tx, to="0001")
        for name, content in FIRST.items():
            table = Table(name, MetaData(), autoload_with=tx)
            rows = [_row(table, content["columns"], values) for values in content["rows"]]
            if rows:
                tx.execute(insert(table), rows)
        if tx.dialect.name == "postgresql":  # which gave the numbers itself
            for name, column in (
                ("pack_records", "record_id"),
                ("record_values", "value_id"),
                ("vector_changes", "seq"),
            ):
                sequence = func.pg_get_serial_sequence(name, column)
                tx.execute(select(func.setval(sequence, len(FIRST[name]["rows"]))))
    return new


def _row(table: Table, columns: list[str], values: list[Any]) -> dict[str, Any]:
    return {
        name: base64.b64decode(value) if isinstance(table.c[name].type, LargeBinary) and value
        else value
        for name, value in zip(columns, values, strict=True)
    }  # fmt: skip


def stored(catalog: Catalog, name: str, columns: list[str]) -> list[str]:
    with catalog.read() as conn:
        table = Table(name, MetaData(), autoload_with=conn)
        return sorted(
            repr(tuple(row)) for row in conn.execute(select(*(table.c[n] for n in columns)))
        )


def test_no_row_and_no_value_is_lost(first: Catalog) -> None:
    before = {name: stored(first, name, content["columns"]) for name, content in FIRST.items()}
    assert {name: len(rows) for name, rows in before.items()} == {
        name: len(content["rows"]) for name, content in FIRST.items()
    }
    first.migrate()
    assert before == {name: stored(first, name, c["columns"]) for name, c in FIRST.items()}


def test_a_catalog_of_the_first_schema_is_used_as_ever(first: Catalog) -> None:
    first.migrate()
    with first.read() as conn:
        page, _ = documents.list_documents(conn, NAMESPACE, ZOO, limit=10, cursor="")
        assert {(info.source_uri, info.tags, info.language) for info in page} == {
            ("file:///a.txt", ("kelp", "sea"), "en"),
            ("https://example.org/水?q=1", (), "zh"),
        }
        assert [info.name for info in kbs.list_kbs(conn, NAMESPACE, LOCAL)] == ["empty", "zoo"]
        assert kbs.seeds(conn, NAMESPACE, ["zoo", "empty"]) == {"zoo": "zoo", "empty": "empty"}
        (found,) = records.find(
            conn, NAMESPACE, "bio", "gene", {"symbol": "TP53"}, scope=ZOO, limit=9
        )
        assert (found.fields, found.data) == (
            {"symbol": "TP53", "length": 3},
            {"note": ["é", None, 1.5]},
        )
        info = active_collection(conn, NAMESPACE, "text")
        assert info is not None and info.replaced_at == 0
        store, collection = LocalVectorStore(first), as_collection(info)
        (hit,) = store.search_lexical(collection, ["海獭"], ZOO, 5)
        passage = passages.passages(conn, NAMESPACE, [hit.node_id])[hit.node_id]
        assert passage.text == "海獭吃海胆。"
        assert len(store.search_dense(collection, np.eye(4, dtype=np.float32)[0], ZOO, 9)) == 5
    queue = JobQueue(first, fingerprint="p1")
    assert sorted(job.status for job in queue.list(LOCAL)) == [
        JobStatus.QUEUED,
        JobStatus.SUCCEEDED,
    ]
    assert queue.claim("worker", "p1", 30) is not None


def test_a_catalog_of_the_first_schema_goes_on(first: Catalog) -> None:
    first.migrate()
    gene = ("bio", NewRecord("gene", {"symbol": "MYC"}))
    publish(first, draft("file:///a.txt", kb="zoo", text="Anew.", records=[gene]))
    with first.read() as conn:
        assert records.count(conn, NAMESPACE, "bio", "gene", scope=ZOO) == 1
        assert len(documents.list_documents(conn, NAMESPACE, ZOO, limit=9, cursor="")[0]) == 2


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_former_schema_becomes_the_present_one(new: Catalog, revision: str) -> None:
    with new.rebuild() as tx:
        migration.upgrade(tx, to=revision)
    new.migrate()
    with new.read() as conn:
        context = MigrationContext.configure(conn, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        assert migration.stored_revision(conn) == migration.HEAD_REVISION


def test_processes_that_migrate_at_once_all_succeed_with_rows(
    first: Catalog, url: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", MIGRATE, url, str(tmp_path)]
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in started:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    with first.read() as conn:
        assert conn.scalars(text("SELECT version_num FROM alembic_version")).all() == [
            migration.HEAD_REVISION
        ]
        assert conn.scalar(text("SELECT count(*) FROM chunks")) == 5


def test_migrations_build_what_the_schema_says_on_a_server(
    postgres_catalog: Catalog, postgres_server: PostgresServer
) -> None:
    by_schema = Catalog(postgres_server.url(postgres_server.new_database()), namespace=NAMESPACE)
    with by_schema.write() as tx:
        metadata.create_all(tx)
    with postgres_catalog.read() as left, by_schema.read() as right:
        assert table_shapes(inspect(left)) == table_shapes(inspect(right))
    by_schema.close()


def test_a_migration_that_fails_leaves_the_first_schema(first: Catalog) -> None:
    with first.write() as tx:
        tx.execute(text("CREATE TABLE sources (x INTEGER)"))  # in the way of a later statement
    before = {name: stored(first, name, content["columns"]) for name, content in FIRST.items()}
    with pytest.raises(Exception, match=r"sources|cannot be used"):
        first.migrate()
    with first.read() as conn:
        assert migration.stored_revision(conn) == "0001"
    assert before == {name: stored(first, name, c["columns"]) for name, c in FIRST.items()}


def test_a_server_catalog_of_a_newer_version_is_left_alone(new: Catalog) -> None:
    new.migrate()
    with new.write() as tx:
        tx.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StorageError, match="upgrade"):
        new.migrate()
