from __future__ import annotations

import os
import socket
import sqlite3
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from catalog_samples import NAMESPACE
from servers import PostgresServer
from sqlalchemy import insert, select, text, update
from sqlalchemy.exc import IntegrityError

from eagle_rag_core.catalog import engine, kbs
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import kbs as kb_table
from eagle_rag_core.errors import ConfigError, StorageError


def test_a_write_is_kept_and_a_failed_one_undone(catalog: Catalog) -> None:
    with catalog.write() as tx:
        kbs.ensure_kb(tx, NAMESPACE, "kept")
    with pytest.raises(KeyError), catalog.write() as tx:
        kbs.ensure_kb(tx, NAMESPACE, "undone")
        raise KeyError
    with catalog.read() as conn:
        assert kbs.kb_exists(conn, NAMESPACE, "kept")
        assert not kbs.kb_exists(conn, NAMESPACE, "undone")


def test_a_reader_sees_one_snapshot_while_others_write(catalog: Catalog) -> None:
    count = text("SELECT count(*) FROM kbs")
    with catalog.read() as conn:
        before = conn.scalar(count)
        with catalog.write() as tx:
            kbs.ensure_kb(tx, NAMESPACE, "new")
        assert conn.scalar(count) == before == 0
    with catalog.read() as conn:
        assert conn.scalar(count) == 1


@pytest.mark.parametrize(
    ("pragma", "value"),
    [("journal_mode", "wal"), ("foreign_keys", 1), ("synchronous", 2), ("busy_timeout", 10_000)],
)
def test_every_connection_is_durable_and_strict(
    sqlite_catalog: Catalog, pragma: str, value: object
) -> None:
    with sqlite_catalog.read() as first, sqlite_catalog.read() as second:
        assert first.scalar(text(f"PRAGMA {pragma}")) == value
        assert second.scalar(text(f"PRAGMA {pragma}")) == value


def test_many_threads_read_at_once(catalog: Catalog) -> None:
    together = threading.Barrier(32)

    def read() -> int:
        with catalog.read() as conn:
            together.wait(30)
            return conn.scalar(text("SELECT 1")) or 0

    with ThreadPoolExecutor(32) as pool:
        assert sum(pool.map(lambda _: read(), range(32))) == 32


def test_writers_that_read_first_lose_no_update(catalog: Catalog) -> None:
    with catalog.write() as tx:
        tx.execute(
            insert(kb_table).values(
                namespace=NAMESPACE, name="kb", epoch=0, created_at="", updated_at=""
            )
        )

    def add_one() -> None:
        with catalog.write() as tx:
            epoch = tx.scalar(select(kb_table.c.epoch).with_for_update()) or 0
            tx.execute(update(kb_table).values(epoch=epoch + 1))

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(add_one) for _ in range(80)]:
            done.result()
    with catalog.read() as conn:
        assert conn.scalar(select(kb_table.c.epoch)) == 80


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_connections_of_its_own(catalog: Catalog) -> None:
    with catalog.write() as tx:
        kbs.ensure_kb(tx, NAMESPACE, "parent")
    with catalog.read() as busy:  # stays in use across the fork
        busy.scalar(text("SELECT 1"))
        mine = busy.connection.dbapi_connection
        child = os.fork()
        if child == 0:
            status = 1
            try:
                with catalog.write() as tx:
                    kbs.ensure_kb(tx, NAMESPACE, "child")
                    status = 2 if tx.connection.dbapi_connection is mine else 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with catalog.write() as tx:
        assert kbs.kb_exists(tx, NAMESPACE, "child")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_idle_connections_are_closed_before_a_fork(sqlite_catalog: Catalog) -> None:
    with sqlite_catalog.read() as conn:
        idle = conn.connection.dbapi_connection
    assert isinstance(idle, sqlite3.Connection)
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        idle.execute("SELECT 1")


def test_a_connection_that_slips_through_a_fork_is_neither_used_nor_closed(
    sqlite_catalog: Catalog,
) -> None:
    """Another thread may open one between the closing and the fork."""
    with sqlite_catalog.read() as conn:
        inherited = conn.connection.dbapi_connection
    assert isinstance(inherited, sqlite3.Connection)
    engine._after_fork_in_child()
    with sqlite_catalog.read() as conn:
        assert conn.connection.dbapi_connection is not inherited
    assert inherited.execute("SELECT 1").fetchone() == (1,)


def test_a_writer_that_waits_too_long_is_told_to_come_again(
    migrated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_WAIT_SECONDS", 0.05)
    catalog = Catalog(f"sqlite:///{migrated}", namespace=NAMESPACE)
    with catalog.write() as tx:
        tx.execute(text("SELECT 1"))
        with pytest.raises(StorageError, match="busy") as caught, catalog.write() as other:
            other.execute(text("SELECT 1"))
    assert caught.value.retryable
    assert caught.value.retry_after_s > 0
    catalog.close()


def test_a_mistake_in_sql_is_not_called_a_storage_failure(catalog: Catalog) -> None:
    with pytest.raises(Exception, match=r"(?i)unique") as caught, catalog.write() as tx:
        row = {"namespace": "n", "name": "a", "created_at": "", "updated_at": ""}
        tx.execute(insert(kb_table), row)
        tx.execute(insert(kb_table), row)
    assert not isinstance(caught.value, StorageError)


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "mysql://host/db",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///file:a?uri=true",
        "postgresql+nosuchdriver://host/db",
        "postgres://host/db",
    ],
)
def test_a_url_that_cannot_work_is_refused_by_the_name_of_the_setting(url: str) -> None:
    with pytest.raises(ConfigError, match=r"database\.url"):
        Catalog(url, namespace=NAMESPACE)


def test_an_old_sqlite_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(ConfigError, match="too old"):
        Catalog(f"sqlite:///{tmp_path}/c.db", namespace=NAMESPACE)


def test_a_relative_path_stays_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    catalog = Catalog("sqlite:///c.db", namespace=NAMESPACE)
    monkeypatch.chdir(tmp_path / "elsewhere")
    catalog.migrate()
    catalog.close()
    assert (tmp_path / "c.db").exists()


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg"])
def test_a_password_never_shows_in_an_error(scheme: str) -> None:
    pytest.importorskip("psycopg", reason="the PostgreSQL driver is not installed")
    catalog = Catalog(f"{scheme}://u:secret@127.0.0.1:1/db", namespace=NAMESPACE)
    with pytest.raises(StorageError, match=r"127\.0\.0\.1 \(setting database\.url\)") as caught:
        catalog.migrate()
    assert "secret" not in "".join(traceback.format_exception(caught.value))


def test_a_missing_driver_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ConfigError, match=r"eagle-rag-core\[postgres\]") as caught:
        Catalog("postgresql://u:secret@host/db", namespace=NAMESPACE)
    assert "secret" not in caught.value.message


def test_what_a_statement_carries_stays_out_of_its_errors(catalog: Catalog) -> None:
    row = {"namespace": "n", "name": "private", "created_at": "", "updated_at": ""}
    with pytest.raises(IntegrityError) as caught, catalog.write() as tx:
        tx.execute(insert(kb_table), [row | {"name": None}])
    assert "private" not in str(caught.value)


def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg", reason="the PostgreSQL driver is not installed")
    monkeypatch.setattr(engine, "_WAIT_SECONDS", 2)  # the least that libpq knows
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        catalog = Catalog(f"postgresql://u@127.0.0.1:{port}/db", namespace=NAMESPACE)
        with pytest.raises(StorageError, match="cannot be reached"):
            catalog.migrate()


def test_a_database_that_is_missing_is_told(postgres_server: PostgresServer) -> None:
    catalog = Catalog(postgres_server.url("nosuchdatabase"), namespace=NAMESPACE)
    with pytest.raises(StorageError, match="that the database exists"):
        catalog.migrate()


def test_a_user_without_rights_is_told(postgres_server: PostgresServer) -> None:
    name = postgres_server.new_database()
    postgres_server.run("DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN")
    url = postgres_server.url(name).replace(postgres_server.user, "guest")
    with pytest.raises(StorageError, match="owner of the database") as caught:
        Catalog(url, namespace=NAMESPACE).migrate()
    assert not caught.value.retryable


def test_a_database_of_another_encoding_is_refused(postgres_server: PostgresServer) -> None:
    postgres_server.run(
        "DROP DATABASE IF EXISTS ascii",
        "CREATE DATABASE ascii ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0",
    )
    with pytest.raises(StorageError, match="UTF8"):
        Catalog(postgres_server.url("ascii"), namespace=NAMESPACE).migrate()


def test_a_replica_that_holds_a_row_too_long_makes_others_come_again(
    postgres_catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres_catalog.write() as tx:
        kbs.ensure_kb(tx, NAMESPACE, "held")
    monkeypatch.setattr(engine, "_WAIT_SECONDS", 0.2)
    hasty = Catalog(postgres_catalog._url, namespace=NAMESPACE)
    with postgres_catalog.write() as tx:
        kbs.bump_epoch(tx, NAMESPACE, "held")
        with pytest.raises(StorageError, match="busy") as caught, hasty.write() as other:
            kbs.bump_epoch(other, NAMESPACE, "held")
    assert caught.value.retryable
    hasty.close()


def test_connections_that_the_server_closed_are_replaced(
    postgres_catalog: Catalog, postgres_server: PostgresServer
) -> None:
    with postgres_catalog.read() as conn:
        conn.scalar(text("SELECT 1"))
    postgres_server.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    )
    with postgres_catalog.read() as conn:
        assert conn.scalar(text("SELECT 1")) == 1
