"""The connection to the catalog's database, and how SQLite and PostgreSQL are to behave.

SQLite runs in WAL mode: any number of readers beside one writer, in any number of processes.
"""

from __future__ import annotations

import os
import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Pool, QueuePool, create_engine, event, exc
from sqlalchemy.engine import URL, make_url

from eagle_rag_core.catalog.source_names import BARE_NAMES, SourceNames
from eagle_rag_core.errors import ConfigError, EagleError, StorageError

#: Connections kept open, and those opened under pressure and closed again. Of a server's, which
#: are processes there, all replicas together may have a hundred or so.
_FILE_POOL = {"pool_size": 32, "max_overflow": 32}
_SERVER_POOL = {"pool_size": 8, "max_overflow": 24}
#: How long a call waits for a connection, and a writer for the writer before it.
_WAIT_SECONDS = 10
_BEGIN = "eagle_begin"


class Catalog:
    """The catalog of one deployment: a pool of connections, bound to one namespace.

    Safe to share between threads, and across ``fork``: the child opens connections of its own.

    :param url: ``sqlite:///<file>`` or ``postgresql://<user>@<host>/<database>``.
    :param names: of the sources of its documents, for callers.
    :raises ConfigError: the URL cannot be used at all. Nothing is opened yet.
    """

    def __init__(self, url: str | URL, *, namespace: str, names: SourceNames = BARE_NAMES) -> None:
        self.namespace = namespace
        self.names = names
        self._url = _checked(url)
        self._engine = _engine(self._url)
        self._readers, self._writers = _faces(self._engine)
        _open_catalogs.add(self)

    @property
    def file(self) -> Path | None:
        """The file of an SQLite catalog."""
        return _file(self._url) if self._url.get_backend_name() == "sqlite" else None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one consistent snapshot for the whole block.

        :raises StorageError: the database cannot be used right now.
        """
        with _our_errors(), self._readers.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction: committed to disk at the end of the block, undone by any exception.

        Writers on SQLite come one after another: keep the block short, and open no other inside
        it. On PostgreSQL they run side by side: lock what is read in order to be changed.

        :raises StorageError: the database cannot be used right now; nothing was written.
        """
        with _our_errors(), self._writers.begin() as connection:
            yield connection

    def migrate(self) -> None:
        """Create the database, or bring it to the schema of this version.

        Any number of processes may do so at once.

        :raises StorageError: the file or server cannot be used, or a newer version wrote it.
        """
        from eagle_rag_core.catalog import migration

        if self._url.get_backend_name() == "sqlite":
            _create_file(_file(self._url))
        with _our_errors(_at_start(self._url)):
            with self._readers.connect() as connection:
                current = migration.stored_revision(connection)
            if current == migration.HEAD_REVISION:
                return
            with self.rebuild() as connection:
                migration.upgrade(connection)

    @contextmanager
    def rebuild(self) -> Iterator[Connection]:
        """A transaction that may change tables: SQLite does not enforce their keys meanwhile.

        :raises StorageError: the database cannot be used right now; nothing was changed.
        """
        engine = _engine(self._url, foreign_keys=False)
        try:
            with _our_errors(), _faces(engine)[1].begin() as connection:
                yield connection
        finally:
            engine.dispose()

    def close(self) -> None:
        """Close all idle connections; the catalog opens new ones when it is used again."""
        self._engine.dispose()


#: The first with ``RETURNING``.
_OLDEST_SQLITE = (3, 35)


def _checked(text: str | URL) -> URL:
    try:
        url = make_url(text)
    except exc.ArgumentError:
        raise ConfigError(
            "The setting database.url is not a database URL; "
            "use sqlite:///<file> or postgresql://<user>@<host>/<database>."
        ) from None
    backend = url.get_backend_name()
    if backend == "postgresql":
        # Without a driver SQLAlchemy would take psycopg2.
        return url if "+" in url.drivername else url.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise ConfigError(
            f"The setting database.url names {backend!r}; the catalog needs sqlite or postgresql."
        )
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise ConfigError("The setting database.url must name a file: sqlite:///<file>.")
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise ConfigError(
            f"The SQLite {sqlite3.sqlite_version} of this Python is too old; 3.35 is needed. "
            "Use another Python, or PostgreSQL by the setting database.url."
        )
    return url.set(database=str(Path(url.database).expanduser().absolute()))


def _engine(url: URL, *, foreign_keys: bool = True) -> Engine:
    local = url.get_backend_name() == "sqlite"
    try:
        engine = create_engine(
            url,
            poolclass=QueuePool,
            pool_timeout=_WAIT_SECONDS,
            # A server may drop idle connections; a file does not.
            pool_pre_ping=not local,
            connect_args={}
            if local
            else {"connect_timeout": _WAIT_SECONDS, "client_encoding": "utf8"},
            # psycopg takes ever longer to read a statement with thousands of parameters.
            insertmanyvalues_page_size=1000 if local else 100,
            # What documents say does not belong into messages and logs.
            hide_parameters=True,
            **(_FILE_POOL if local else _SERVER_POOL),
        )
    except (ImportError, exc.NoSuchModuleError):
        driver = url.get_driver_name()
        remedy = "pip install 'eagle-rag-core[postgres]'" if driver == "psycopg" else "use psycopg"
        raise ConfigError(
            f"The setting database.url needs the driver {driver!r}, which is not installed: "
            f"{remedy}."
        ) from None
    if local:
        _speak_sqlite(engine, foreign_keys)
    else:
        _speak_postgresql(engine)
    return engine


def _faces(engine: Engine) -> tuple[Engine, Engine]:
    """Two views of one pool: for snapshots, and for transactions that write."""
    if engine.dialect.name == "sqlite":
        # A transaction that reads first and writes later fails when somebody else wrote in
        # between; taking the write lock at once waits instead.
        return (
            engine.execution_options(**{_BEGIN: "BEGIN"}),
            engine.execution_options(**{_BEGIN: "BEGIN IMMEDIATE"}),
        )
    snapshot = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return snapshot, engine


def _speak_sqlite(engine: Engine, foreign_keys: bool) -> None:
    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, record: Any) -> None:
        # The driver's own transaction control leaves reads and DDL outside of transactions.
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {int(_WAIT_SECONDS * 1000)}")
        _write_ahead(connection)
        # What was acknowledged survives a power cut.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA foreign_keys = {'ON' if foreign_keys else 'OFF'}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options()[_BEGIN])


def _speak_postgresql(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {int(_WAIT_SECONDS * 1000)}")
            # A replica that vanished with a transaction open holds up the others no longer.
            cursor.execute("SET tcp_keepalives_idle = 15")
            cursor.execute("SET tcp_keepalives_interval = 5")
            cursor.execute("SET tcp_keepalives_count = 3")
        connection.commit()


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch a new file to WAL mode; does nothing afterwards.

    SQLite does not wait when another process does the same at this moment, so we do.
    """
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _file(url: URL) -> Path:
    assert url.database is not None
    return Path(url.database)


def _create_file(path: Path) -> None:
    """Create the database file, readable for its owner only, and its folder."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError as error:
        raise StorageError(
            f"The catalog {path} cannot be created or written; "
            "check the settings home and database.url and the rights on that folder.",
            retryable=False,
        ) from error


def _at_start(url: URL) -> str:
    """Where the database is, for the operator who starts the process; no password in it."""
    if url.get_backend_name() == "sqlite":
        return f"The catalog {url.database} (settings home and database.url)"
    return f"The catalog on {url.host or 'the local server'} (setting database.url)"


@contextmanager
def _our_errors(subject: str = "The catalog") -> Iterator[None]:
    """Turn what the driver raises when the database cannot be used into our own error."""
    try:
        yield
    except EagleError:
        raise
    except exc.TimeoutError as error:
        raise StorageError(
            f"{subject} is overloaded: no connection became free in {_WAIT_SECONDS} s.",
            retry_after_s=1.0,
        ) from error
    except exc.DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == _NO_RIGHTS:
            raise StorageError(
                f"{subject} may not be created or changed by its user; make it the owner of the "
                "database.",
                retryable=False,
            ) from error
        if isinstance(error, exc.IntegrityError | exc.ProgrammingError | exc.DataError):
            raise  # a mistake of ours, not the database's state
        raise _storage_error(subject, error.orig) from error


#: States of PostgreSQL in which the same transaction may succeed later: it met another one, or
#: waited too long for it.
_BUSY_STATES = frozenset({"40001", "40P01", "55P03"})
#: The state in which PostgreSQL refuses what the user has no right to.
_NO_RIGHTS = "42501"


def _storage_error(subject: str, cause: BaseException | None) -> StorageError:
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    busy = code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    if busy or getattr(cause, "sqlstate", None) in _BUSY_STATES:
        return StorageError(f"{subject} is busy with other writers.", retry_after_s=1.0)
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return StorageError(
            f"{subject} is not a database or is damaged; move the file away or restore a backup.",
            retryable=False,
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StorageError(
            f"{subject} cannot be opened for writing; "
            "check that the file and its folder exist and are writable.",
            retryable=False,
        )
    if code == sqlite3.SQLITE_FULL:
        return StorageError(f"{subject} cannot grow: the disk is full.")
    if getattr(cause, "sqlstate", "") is None:  # there is no server that could have given one
        return StorageError(
            f"{subject} cannot be reached: check that the server runs, that the database exists "
            "and that its user is let in."
        )
    return StorageError(f"{subject} cannot be used right now.")


# SQLite forbids to carry connections across a fork, and even open *idle* ones confuse the locks
# of new ones in the child. So idle ones are closed before a fork; those in use at that moment
# are kept alive in the child, never closed, because closing them would release the parent's.
_open_catalogs: weakref.WeakSet[Catalog] = weakref.WeakSet()
_abandoned: list[Pool] = []


def _before_fork() -> None:
    for catalog in list(_open_catalogs):
        catalog._engine.dispose()


def _after_fork_in_child() -> None:
    for catalog in list(_open_catalogs):
        _abandoned.append(catalog._engine.pool)
        catalog._engine.dispose(close=False)


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork_in_child)
