"""The connection to Milvus: opened on first use, one database per namespace."""

from __future__ import annotations

import logging
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eagle_rag_core.errors import StorageError

logger = logging.getLogger(__name__)

_LITE_SUFFIX = ".db"
#: The first version that computes BM25.
_FULL_TEXT = (2, 5)
#: Open clients by URI: namespaces share the engine of one Milvus Lite file.
_lite_files: Counter[str] = Counter()


class MilvusConnection:
    """A client of one database, which is created if needed. Safe to share between threads.

    pymilvus is imported with the first use, which takes seconds.

    :param uri: of a server, or the path of a Milvus Lite file, which ends in ``.db``.
    :param timeout: seconds one request may take.
    """

    def __init__(self, uri: str, token: str, database: str, timeout: float) -> None:
        self._uri = uri
        self._token = token
        self._database = database
        self._opening = threading.Lock()
        self._client: Any = None
        self._embedded_engine = False
        self._full_text = True
        self._timeout = timeout

    @property
    def embedded_engine(self) -> bool:
        """Whether the engine is Milvus Lite, embedded or served. Known once connected."""
        return self._embedded_engine

    @property
    def full_text(self) -> bool:
        """Whether it computes BM25; older servers search by vectors only. Known once connected."""
        return self._full_text

    @contextmanager
    def client(self) -> Iterator[Any]:
        """The client, for a block in which its errors become our own.

        :raises StorageError: Milvus cannot be reached or refuses the request.
        """
        if self._client is None:
            with self._opening:
                if self._client is None:
                    self._client = self._opened()
        with _our_errors():
            yield self._client

    def close(self) -> None:
        """Close the client; a Milvus Lite file can then be opened by another process."""
        with self._opening:
            if self._client is None:
                return
            self._client.close()
            self._client = None
            if self._uri.endswith(_LITE_SUFFIX) and _last_of(self._uri):
                from milvus_lite.server_manager import server_manager_instance

                server_manager_instance.release_server(self._uri)

    def _opened(self) -> Any:
        from pymilvus import MilvusClient
        from pymilvus.exceptions import ConnectionConfigException

        options = {"uri": self._uri, "token": self._token, "timeout": self._timeout}
        if self._uri.endswith(_LITE_SUFFIX):
            _prepare_folder(Path(self._uri))
        with _our_errors():
            try:
                client = MilvusClient(**options)
            except ConnectionConfigException as error:
                raise _unopened(self._uri) from error
            version = str(client.get_server_version())
            self._embedded_engine = version.startswith("milvus_lite")
            self._full_text = self._embedded_engine or _has_full_text(version)
            if self._database not in client.list_databases():
                _create_database(client, self._database)
            client.close()
            opened = MilvusClient(**options, db_name=self._database)
            _lite_files[self._uri] += 1
            return opened


def shared_uri(uri: str) -> str:
    """The URI by which processes of this one's making reach the same Milvus.

    An embedded file admits one process, which serves it on a port of the loopback interface.

    :raises StorageError: the file cannot be opened.
    """
    if not uri.endswith(_LITE_SUFFIX):
        return uri
    from milvus_lite.server_manager import server_manager_instance

    served = server_manager_instance.start_and_get_uri(uri)
    if served is None:
        raise _unopened(uri)
    return str(served)


def _has_full_text(version: str) -> bool:
    found = re.search(r"(\d+)\.(\d+)", version)
    return found is None or (int(found[1]), int(found[2])) >= _FULL_TEXT


def _last_of(uri: str) -> bool:
    """Whether the client that was just closed was the last one of its file."""
    _lite_files[uri] -= 1
    return not _lite_files[uri]


def _create_database(client: Any, name: str) -> None:
    from pymilvus.exceptions import MilvusException

    try:
        client.create_database(name)
    except MilvusException:
        if name not in client.list_databases():  # else another process was quicker
            raise


def _prepare_folder(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            "The folder of the embedded Milvus file (setting milvus.uri) cannot be created.",
            retryable=False,
        ) from error


@contextmanager
def _our_errors() -> Iterator[None]:
    from pymilvus.exceptions import MilvusException

    try:
        yield
    except MilvusException as error:
        logger.warning("Milvus refused a request: %s", error)
        raise StorageError("Milvus cannot be used right now.", retry_after_s=1.0) from error


def _unopened(uri: str) -> StorageError:
    """Why a URI could not be opened. None of this is a reason to delete anything."""
    path = Path(uri)
    if not uri.endswith(_LITE_SUFFIX):
        return StorageError(
            "The setting milvus.uri is not a Milvus URI; "
            "use http(s)://<host>:<port>, or a path ending in .db for the embedded engine.",
            retryable=False,
        )
    if path.is_file():
        return StorageError(
            "The embedded Milvus file (setting milvus.uri) was written by Milvus Lite 2, which "
            "this version cannot read. Keep it and name a new path.",
            retryable=False,
        )
    if _held_by_another_process(path / "LOCK"):
        return StorageError(
            "The embedded Milvus file (setting milvus.uri) is single-process, and another "
            "process has it open. Use that process, or stop it first; to share the vectors "
            "between processes, set milvus.uri to a Milvus server or leave it empty for the "
            "local backend. The file itself is in order."
        )
    return StorageError(
        "The embedded Milvus file (setting milvus.uri) cannot be opened; the log says why.",
        retryable=False,
    )


def _held_by_another_process(lock: Path) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        with lock.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # given back on closing
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
