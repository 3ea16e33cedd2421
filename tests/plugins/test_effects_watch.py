"""The tripwire: what counts as an effect, and whose."""

# Every way of changing a file is tried, also those this project does not use.
# ruff: noqa: PTH105, PTH107, PTH123, SIM115

from __future__ import annotations

import asyncio
import contextvars
import ctypes
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from eagle_rag_core.errors import EffectRefused
from eagle_rag_core.plugins.effects.events import DRIVERS, EffectKind, named
from eagle_rag_core.plugins.effects.permissions import Permissions
from eagle_rag_core.plugins.effects.watch import Watch, unwatched, watching


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of the watched code, with one file in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("as it was")
    return tmp_path


def tried(action: Callable[[], Any], permitted: Permissions | None = None) -> list[EffectKind]:
    """The kinds of effects an action tries; it is refused at the first."""
    watch = Watch(permitted or Permissions())
    with watching(watch):
        try:
            action()
        except EffectRefused:
            assert watch.effects
    return [effect.kind for effect in watch.effects]


def state_of(file: Path) -> tuple[object, ...]:
    """All but when it was last read."""
    stat = file.stat()
    return file.read_text(), stat.st_mode, stat.st_nlink, stat.st_mtime_ns


CHANGES: dict[str, Callable[[], Any]] = {
    "open": lambda: open("file", "w"),
    "append": lambda: Path("file").open("a"),
    "update": lambda: open("file", "r+b"),
    "create": lambda: os.open("new", os.O_CREAT | os.O_WRONLY),
    "write_text": lambda: Path("new").write_text("x"),
    "remove": lambda: os.remove("file"),
    "unlink": lambda: Path("file").unlink(),
    "rename": lambda: os.replace("file", "new"),
    "mkdir": lambda: Path("new").mkdir(),
    "rmtree": lambda: shutil.rmtree("."),
    "truncate": lambda: os.truncate("file", 0),
    "chmod": lambda: Path("file").chmod(0o777),
    "symlink": lambda: Path("new").symlink_to("file"),
    "link": lambda: Path("new").hardlink_to("file"),
    "utime": lambda: os.utime("file"),
    "copy": lambda: shutil.copyfile("file", "new"),
    "temporary": lambda: tempfile.NamedTemporaryFile(),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_of_files_do_not_happen(folder: Path, name: str) -> None:
    before = state_of(folder / "file")
    assert tried(CHANGES[name]) == [EffectKind.FILE]
    assert [path.name for path in folder.iterdir()] == ["file"]
    assert state_of(folder / "file") == before


def _connect() -> None:
    with socket.socket() as sock:
        sock.connect(("127.0.0.1", 9))


def _send() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.sendto(b"x", ("127.0.0.1", 9))


def _listen() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))


def _connect_locally() -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect("/run/no.sock")


OTHERS: dict[str, tuple[EffectKind, Callable[[], Any]]] = {
    "connect": (EffectKind.NETWORK, _connect),
    "send": (EffectKind.NETWORK, _send),
    "listen": (EffectKind.NETWORK, _listen),
    "local": (EffectKind.NETWORK, _connect_locally),
    "resolve": (EffectKind.NETWORK, lambda: socket.getaddrinfo("example.org", 443)),
    "resolve-old": (EffectKind.NETWORK, lambda: socket.gethostbyname("example.org")),
    "popen": (EffectKind.PROCESS, lambda: subprocess.run(["true"], check=False)),
    "system": (EffectKind.PROCESS, lambda: os.system("true")),
    "fork": (EffectKind.PROCESS, lambda: os.fork() or os._exit(0)),
    "exec": (EffectKind.PROCESS, lambda: os.execv("/bin/true", ["true"])),
    "spawn": (EffectKind.PROCESS, lambda: os.posix_spawn("/bin/true", ["true"], {})),
    "kill": (EffectKind.PROCESS, lambda: os.kill(os.getpid(), 0)),
    "sqlite": (EffectKind.DATABASE, lambda: sqlite3.connect("data.db")),
    "driver": (EffectKind.DATABASE, lambda: __import__("duckdb")),
    "silent-client": (EffectKind.NETWORK, lambda: __import__("pycurl")),
    "putenv": (EffectKind.ENVIRONMENT, lambda: os.environ.update(EFFECT="1")),
    "chdir": (EffectKind.ENVIRONMENT, lambda: os.chdir("/")),
    "dlopen": (EffectKind.NATIVE, lambda: ctypes.CDLL("libc.so.6")),
    "hook": (EffectKind.INTERPRETER, lambda: sys.addaudithook(lambda *_: None)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_effects_are_refused(folder: Path, name: str) -> None:
    kind, action = OTHERS[name]
    assert tried(action) == [kind]


HARMLESS: dict[str, Callable[[], Any]] = {
    "reading": lambda: Path("file").read_text(),
    "listing": lambda: list(Path().iterdir()),
    "nowhere": lambda: Path(os.devnull).write_text("x"),
    "asyncio": lambda: asyncio.run(asyncio.sleep(0)),
    "memory-database": lambda: sqlite3.connect(":memory:").close(),
    "executing": lambda: exec(compile("1 + 1", "text", "exec")),
    "environment": lambda: os.environ.get("HOME"),
    "thread": lambda: threading.Thread(target=int).start(),
    "socket": lambda: socket.socket().close(),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_only_reads_passes(folder: Path, name: str) -> None:
    assert tried(HARMLESS[name]) == []


def test_a_database_that_a_pack_brings_may_be_read(folder: Path) -> None:
    sqlite3.connect("words.db").execute("CREATE TABLE words (word)").connection.close()
    read = "file:words.db?mode=ro"
    assert tried(lambda: sqlite3.connect(read, uri=True).close()) == []
    guarded = Permissions(private=[folder / "words.db"])
    assert tried(lambda: sqlite3.connect(read, uri=True), guarded) == [EffectKind.DATABASE]


def test_importing_a_module_stores_its_bytecode(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (folder / "lazily_imported.py").write_text("import ctypes\n")
    assert tried(lambda: __import__("lazily_imported")) == []
    assert list((folder / "__pycache__").glob("lazily_imported*.pyc"))
    by_hand = folder / "__pycache__" / "other.pyc"
    assert tried(lambda: by_hand.write_bytes(b"")) == [EffectKind.FILE]


def test_an_imported_library_may_set_declared_variables(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("LIBRARY_BASE", "")
    declared = Permissions(variables=["LIBRARY_BASE"])
    setting = "import os\nos.environ['{}'] = 'here'\n"
    (folder / "setting_declared.py").write_text(setting.format("LIBRARY_BASE"))
    (folder / "setting_other.py").write_text(setting.format("PATH"))
    assert tried(lambda: __import__("setting_declared"), declared) == []
    assert os.environ["LIBRARY_BASE"] == "here"
    refused = [EffectKind.ENVIRONMENT]
    assert tried(lambda: __import__("setting_other"), declared) == refused
    assert tried(lambda: os.environ.update(LIBRARY_BASE="there"), declared) == refused


def test_the_library_s_own_files_are_read_through_the_context(folder: Path) -> None:
    guarded = Permissions(private=[folder / "catalog.db", folder / "blobs"])
    (folder / "blobs").mkdir()
    for name in ("catalog.db", "catalog.db-wal", "blobs/one", "catalog.dbx"):
        (folder / name).write_text("x")
    (folder / "other").symlink_to("blobs/one")
    assert tried(lambda: open("catalog.dbx").close(), guarded) == []
    for name in ("catalog.db", "./catalog.db", "catalog.db-wal", "blobs/one", "other"):
        kinds = tried(lambda name=name: open(name), guarded)  # type: ignore[misc]
        assert kinds == [EffectKind.LIBRARY], name


@pytest.fixture
def listening() -> Iterator[int]:
    """The port of something that accepts connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_declared_addresses_may_be_reached(listening: int) -> None:
    def reach(host: str) -> Callable[[], None]:
        return lambda: socket.create_connection((host, listening)).close()

    by_number = Permissions([f"127.0.0.1:{listening}"])
    assert tried(reach("127.0.0.1"), by_number) == []
    assert tried(_connect, by_number) == [EffectKind.NETWORK]
    by_name = Permissions([f"LocalHost:{listening}"])
    assert tried(reach("localhost"), by_name) == []
    assert tried(reach("127.0.0.1"), Permissions([f"localhost:{listening}"])) == [
        EffectKind.NETWORK
    ]


def test_a_client_below_python_is_fine_where_an_address_is_declared(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    (folder / "pycurl.py").touch()
    assert tried(lambda: __import__("pycurl")) == [EffectKind.NETWORK]
    assert tried(lambda: __import__("pycurl"), Permissions(["example.org:443"])) == []
    del sys.modules["pycurl"]


def test_an_address_of_version_six_is_declared_in_brackets() -> None:
    permitted = Permissions(["[::1]:80"])
    assert permitted.may_connect(("::1", 80, 0, 0))
    assert not permitted.may_connect(("::1", 81, 0, 0))


def write_in_a_thread() -> None:
    thread = threading.Thread(target=lambda: Path("new").write_text("x"))
    thread.start()
    thread.join()


def write_in_a_timer() -> None:
    timer = threading.Timer(0, lambda: Path("new").write_text("x"))
    timer.start()
    timer.join()


def write_in_a_pool() -> None:
    with ThreadPoolExecutor() as pool:
        pool.submit(Path("new").write_text, "x").result()


def write_in_a_thread_of_a_thread() -> None:
    thread = threading.Thread(target=write_in_a_thread)
    thread.start()
    thread.join()


def write_in_another_context() -> None:
    contextvars.Context().run(Path("new").write_text, "x")


def write_in_a_loop() -> None:
    async def write() -> None:
        await asyncio.to_thread(Path("new").write_text, "x")

    asyncio.run(write())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    "write",
    [
        write_in_a_thread,
        write_in_a_timer,
        write_in_a_pool,
        write_in_a_thread_of_a_thread,
        write_in_another_context,
        write_in_a_loop,
    ],
)
def test_work_handed_on_is_watched(folder: Path, write: Callable[[], None]) -> None:
    assert tried(write) == [EffectKind.FILE]
    assert not (folder / "new").exists()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.11 has no event for them")
def test_bare_threads_are_refused() -> None:
    import _thread

    assert tried(lambda: _thread.start_new_thread(print, ())) == [EffectKind.THREAD]


def test_an_effect_after_the_call_is_refused_and_reported(folder: Path) -> None:
    go, reported = threading.Event(), threading.Event()
    refused: list[BaseException] = []

    def late() -> None:
        go.wait(5)
        try:
            Path("new").write_text("x")
        except EffectRefused as error:
            refused.append(error)

    with watching(Watch(Permissions(), lambda effect: reported.set())) as watch:
        thread = threading.Thread(target=late)
        thread.start()
    assert watch.effects == []
    go.set()
    thread.join()
    assert reported.is_set()
    assert refused and not (folder / "new").exists()


def test_other_threads_are_not_watched(folder: Path) -> None:
    wrote = threading.Event()

    def write() -> None:
        Path("new").write_text("x")
        wrote.set()

    start, done = threading.Event(), threading.Event()
    other = threading.Thread(target=lambda: (start.wait(5), write(), done.set()))
    other.start()
    with watching(Watch(Permissions())) as watch:
        start.set()
        assert done.wait(5)
    other.join()
    assert wrote.is_set() and watch.effects == []
    Path("file").write_text("nothing is watched any more")


def test_the_core_s_own_work_is_not_watched(folder: Path) -> None:
    @unwatched
    def search() -> str:
        Path("new").write_text("x")
        return "found"

    def tool() -> None:
        assert search() == "found"
        Path("file").write_text("x")

    assert tried(tool) == [EffectKind.FILE]
    assert (folder / "new").exists()
    assert (folder / "file").read_text() == "as it was"


def test_the_watch_is_on_again_after_the_core_s_work_failed(folder: Path) -> None:
    @unwatched
    def fail() -> None:
        raise ValueError

    def tool() -> None:
        with pytest.raises(ValueError):
            fail()
        Path("new").write_text("x")

    assert tried(tool) == [EffectKind.FILE]


def test_an_effect_says_what_where_and_how_often(folder: Path) -> None:
    reported: list[str] = []

    def persist() -> None:
        for _ in range(100):
            with pytest.raises(EffectRefused, match="must not change the file system"):
                Path("new").write_text("x")
            time.sleep(0)

    permitted = Permissions(package=__name__.partition(".")[0])
    with watching(Watch(permitted, lambda effect: reported.append(str(effect)))) as watch:
        persist()
    assert reported == [str(effect) for effect in watch.effects]
    assert 1 < len(reported) < 100
    assert reported[0].startswith(f"file: open new at {__name__}:")


def test_names_of_drivers_count_with_everything_inside_them() -> None:
    assert named("psycopg", DRIVERS)
    assert named("google.cloud.bigquery.client", DRIVERS)
    assert not named("google.cloud", DRIVERS)
    assert not named("psycopg_words", DRIVERS)
