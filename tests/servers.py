"""Real servers for tests: started in a temporary folder on a free loopback port, and ended.

A fixture of the whole session starts each one once; a test that needs it skips where the program
is not installed.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

_PATIENCE = 20.0


class ServerProcess:
    """A server program that runs in a folder of its own.

    :param command: its command line.
    :param is_up: whether it answers.
    :param user: who runs it; by default who runs the tests.
    :param end: the signal that ends it.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        is_up: Callable[[], bool],
        *,
        user: str | None = None,
        end: signal.Signals = signal.SIGTERM,
    ) -> None:
        self._command = command
        self._user = user
        self._end = end
        self._folder = folder
        self._is_up = is_up
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                user=self._user,
            )
        deadline = time.monotonic() + _PATIENCE
        while not self._is_up():
            if self._process.poll() is not None or time.monotonic() > deadline:
                log_text = (self._folder / "server.log").read_text("utf-8", "replace")
                self.stop()
                raise RuntimeError(f"{self._command[0]} does not start:\n{log_text}")
            time.sleep(0.02)

    def stop(self) -> None:
        """End it; safe when it does not run."""
        if self._process is None:
            return
        self._process.send_signal(self._end)
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


def free_port() -> int:
    """A port of the loopback interface that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def program(name: str) -> str:
    """Where a program is; skips the test if it is nowhere."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


class RedisServer(ServerProcess):
    """Redis without persistence.

    :ivar url: of its database 0.
    """

    def __init__(self, command: str, folder: Path) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        super().__init__(
            [
                command,
                *("--port", str(self.port), "--bind", "127.0.0.1"),
                *("--save", "", "--appendonly", "no"),
            ],
            folder,
            self._answers,
        )

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as wire:
                wire.sendall(b"PING\r\n")
                return wire.recv(7) == b"+PONG\r\n"
        except OSError:
            return False


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Redis that the whole session shares: use names, or a database, of your own."""
    server = RedisServer(program("redis-server"), tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.stop()


class PostgresServer(ServerProcess):
    """PostgreSQL that forgets everything in a crash, and is the faster for it.

    It refuses to run as root; then the user ``postgres`` runs it.

    :ivar port: on the loopback interface, where everybody is let in.
    """

    user = "eagle"

    def __init__(self, programs: Path, folder: Path) -> None:
        self.port = free_port()
        self._numbers = itertools.count()
        user = "postgres" if os.geteuid() == 0 else None
        if user:
            shutil.chown(folder, user)
        data = str(folder / "data")
        make = [str(programs / "initdb"), "-D", data, "-U", self.user, "-A", "trust", "--no-sync"]
        utf8 = ["-E", "UTF8", "--locale=C.UTF-8"]
        made = subprocess.run(make + utf8, cwd=folder, user=user, capture_output=True, text=True)
        if made.returncode:
            raise RuntimeError(f"initdb failed:\n{made.stderr}")
        settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            "synchronous_commit": "off",
            "full_page_writes": "off",
            "max_connections": "200",
        }
        command = [str(programs / "postgres"), "-D", data, "-p", str(self.port)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        # At once, whoever is connected: nothing of it is needed any more.
        super().__init__(command, folder, self._answers, user=user, end=signal.SIGQUIT)

    def _answers(self) -> bool:
        import psycopg

        try:
            self.run("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def url(self, database: str = "postgres") -> str:
        """For ``database.url``."""
        return f"postgresql://{self.user}@127.0.0.1:{self.port}/{database}"

    def run(self, *statements: str) -> None:
        """Execute statements in the maintenance database."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def new_database(self, template: str = "template1") -> str:
        """The name of a new database, a copy of ``template``."""
        name = f"test_{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def drop(self, database: str) -> None:
        self.run(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")


def _postgres_programs() -> Path:
    """The folder of ``postgres`` and ``initdb``; Debian has it beside the search path."""
    found = shutil.which("postgres")
    if found:
        return Path(found).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if not versions:
        pytest.skip("postgres is not installed")
    return versions[-1].parent


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL that the whole session shares: use databases of your own."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    programs = _postgres_programs()
    # Not below pytest's folder, which nobody but its owner may enter.
    with tempfile.TemporaryDirectory(prefix="eagle-postgres-") as folder:
        server = PostgresServer(programs, Path(folder))
        server.start()
        yield server
        server.stop()


class MilvusServer(ServerProcess):
    """Milvus Lite as a server, for any number of processes.

    :ivar url: for ``milvus.uri``.
    """

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self._address = ("127.0.0.1", port)
        self.url = f"http://127.0.0.1:{port}"
        command = Path(sys.executable).with_name("milvus-lite")
        super().__init__(
            [
                str(command),
                "server",
                *("--data-dir", str(folder / "data"), "--host", "127.0.0.1", "--port", str(port)),
            ],
            folder,
            self._answers,
        )

    def _answers(self) -> bool:
        try:
            socket.create_connection(self._address, timeout=1).close()
        except OSError:
            return False
        return True


@pytest.fixture(scope="session")
def milvus_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    """A Milvus that the whole session shares: use collections, or databases, of your own."""
    pytest.importorskip("pymilvus", reason="pymilvus is not installed")
    pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")
    server = MilvusServer(tmp_path_factory.mktemp("milvus-server"))
    server.start()
    yield server
    server.stop()


class S3Server:
    """An S3-compatible store in memory, with one bucket.

    :ivar url: its endpoint.
    """

    bucket = "library"

    def __init__(self) -> None:
        from moto.server import ThreadedMotoServer

        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.url = f"http://{host}:{port}"

    def stop(self) -> None:
        self._server.stop()

    @property
    def settings(self) -> dict[str, str]:
        """For ``ingest.s3``."""
        return {
            "endpoint_url": self.url,
            "region": "us-east-1",
            "access_key_id": "key-for-tests",
            "secret_access_key": "secret-for-tests",
        }

    def client(self) -> Any:
        """A botocore client with the rights of the owner."""
        from botocore.session import Session

        return Session().create_client(
            "s3",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id="key-for-tests",
            aws_secret_access_key="secret-for-tests",
        )


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """A store that the whole session shares: use prefixes of your own."""
    pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    server = S3Server()
    server.client().create_bucket(Bucket=S3Server.bucket)
    yield server
    server.stop()
