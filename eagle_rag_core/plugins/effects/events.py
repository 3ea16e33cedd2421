"""Which audit events are effects.

Each judge looks at the arguments of one event (see "Audit events table" in Python's library
reference) and says what is wrong with it, or ``None``. Reading files, creating sockets, compiling
and executing code are no effects: importing a library does all of these.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from threading import Thread
from typing import Any, Final

from eagle_rag_core.plugins.effects.permissions import Permissions


class EffectKind(StrEnum):
    """What a tool did or wanted to do."""

    FILE = "file"
    LIBRARY = "library"
    NETWORK = "network"
    PROCESS = "process"
    DATABASE = "database"
    NATIVE = "native-code"
    ENVIRONMENT = "environment"
    THREAD = "thread"
    INTERPRETER = "interpreter"

    @property
    def phrase(self) -> str:
        """Completes "the tool tried to …"."""
        return _PHRASES[self]


_PHRASES: Final[Mapping[EffectKind, str]] = {
    EffectKind.FILE: "change the file system",
    EffectKind.LIBRARY: "read the library's own files instead of asking its context",
    EffectKind.NETWORK: "reach an address that [needs] network of its manifest does not name",
    EffectKind.PROCESS: "start or signal a process",
    EffectKind.DATABASE: "reach a database",
    EffectKind.NATIVE: "call native code",
    EffectKind.ENVIRONMENT: "change the environment of the process",
    EffectKind.THREAD: "start a thread that cannot be followed",
    EffectKind.INTERPRETER: "hook into the interpreter",
}

Judgement = tuple[EffectKind, str] | None
Judge = Callable[[tuple[Any, ...], Permissions], Judgement]

#: Database clients, by the first parts of their module's name. Many act below Python, where no
#: event tells of it, so that already importing one counts.
DRIVERS: Final = frozenset(
    """adbc_driver_manager aiomysql aiosqlite apsw asyncpg cassandra chdb clickhouse_connect
    clickhouse_driver cx_Oracle databricks duckdb elasticsearch google.cloud.bigquery
    google.cloud.spanner impala kuzu lancedb milvus_lite mysql MySQLdb neo4j oracledb pg8000
    prestodb psycopg psycopg2 pyathena pyhive pymilvus pymongo pymssql pymysql pyodbc redis
    redshift_connector snowflake trino vertica_python""".split()
)
#: Network clients that act below Python; fine where the manifest names an address.
SILENT_NETWORK: Final = frozenset("aiozmq confluent_kafka curl_cffi grpc pycurl zmq".split())

_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_IMPORTING: Final = importlib._bootstrap._find_and_load.__code__  # type: ignore[attr-defined]


def named(module: str, names: frozenset[str]) -> bool:
    """Whether a dotted name is one of ``names``, or inside one."""
    parts = module.split(".")
    return any(".".join(parts[:count]) in names for count in range(1, len(parts) + 1))


def _always(kind: EffectKind, *, shown: int = 1) -> Judge:
    """A judge of an event that is an effect whatever its arguments.

    :param shown: how many of them say what it is about.
    """

    def judge(args: tuple[Any, ...], permitted: Permissions) -> Judgement:
        return kind, " ".join(map(_text, args[:shown]))

    return judge


def _opened(args: tuple[Any, ...], permitted: Permissions) -> Judgement:
    path, _, flags = args
    if isinstance(path, int):  # a descriptor that is open already
        return None
    if flags & _WRITING:
        return None if path in (os.devnull, os.devnull.encode()) else _changed(args, permitted)
    return (EffectKind.LIBRARY, _text(path)) if permitted.private(_text(path)) else None


def _set(args: tuple[Any, ...], permitted: Permissions) -> Judgement:
    """A variable of the environment; a library that is imported may set those declared."""
    name = _text(args[0])
    declared = name in permitted.variables and _importing()
    return None if declared else (EffectKind.ENVIRONMENT, name)


def _changed(args: tuple[Any, ...], permitted: Permissions) -> Judgement:
    """Any change of a file, except that importing a module stores its bytecode."""
    path = _text(args[0])
    cached = sys.pycache_prefix and path.startswith(sys.pycache_prefix)
    if (cached or "__pycache__" in path) and _importing():
        return None
    return EffectKind.FILE, path


def _connected(args: tuple[Any, ...], permitted: Permissions) -> Judgement:
    address = args[1]
    if address is None or permitted.may_connect(address):
        return None
    return EffectKind.NETWORK, _text(address)


def _looked_up(args: tuple[Any, ...], permitted: Permissions) -> Judgement:
    host = args[0]
    if host is None or permitted.may_look_up(_text(host)):
        return None
    return EffectKind.NETWORK, _text(host)


def _imported(args: tuple[Any, ...], permitted: Permissions) -> Judgement:
    module = args[0]
    if named(module, DRIVERS):
        return EffectKind.DATABASE, module
    if named(module, SILENT_NETWORK) and not permitted.network:
        return EffectKind.NETWORK, module
    return None


def _sqlite(args: tuple[Any, ...], permitted: Permissions) -> Judgement:
    """Only what is kept in memory, and files a pack brings and opens for reading."""
    database = _text(args[0])
    path, _, query = database.removeprefix("file:").partition("?")
    read_only = database.startswith("file:") and ("mode=ro" in query or "immutable=1" in query)
    if database in (":memory:", "") or "mode=memory" in query:
        return None
    if read_only and not permitted.private(path):
        return None
    return EffectKind.DATABASE, database


def _native(args: tuple[Any, ...], permitted: Permissions) -> Judgement:
    """Libraries load theirs while they are imported; ``ctypes`` itself loads the interpreter."""
    if args[0] is None or _importing():
        return None
    return EffectKind.NATIVE, " ".join(map(_text, args[:2]))


def _threaded(args: tuple[Any, ...], permitted: Permissions) -> Judgement:
    """Threads of :mod:`threading` take the watch along; bare ones cannot."""
    function = args[0]
    if isinstance(getattr(function, "__self__", None), Thread):
        return None
    return EffectKind.THREAD, getattr(function, "__qualname__", "a function")


def _importing() -> bool:
    """Whether this thread is importing a module."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code is _IMPORTING:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _text(value: object) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, bytes):
        value = os.fsdecode(value)
    return value if isinstance(value, str) else repr(value)[:200]


JUDGES: Final[Mapping[str, Judge]] = {
    "open": _opened,
    "import": _imported,
    "sqlite3.connect": _sqlite,
    "socket.getaddrinfo": _looked_up,
    "socket.gethostbyname": _looked_up,
    "socket.connect": _connected,
    "socket.sendto": _connected,
    "socket.sendmsg": _connected,
    "ctypes.dlopen": _native,
    "ctypes.dlsym": _native,
    "ctypes.dlsym/handle": _native,
    "_thread.start_new_thread": _threaded,
    "_thread.start_joinable_thread": _threaded,
    **dict.fromkeys(
        """os.chflags os.chmod os.chown os.link os.mkdir os.remove os.removexattr os.rename
        os.rmdir os.setxattr os.symlink os.truncate os.utime""".split(),
        _changed,
    ),
    **dict.fromkeys(
        """_winapi.CreateProcess cpython.PyInterpreterState_New os.exec os.fork os.forkpty os.kill
        os.killpg os.posix_spawn os.spawn os.startfile os.system pty.spawn signal.pthread_kill
        subprocess.Popen webbrowser.open""".split(),
        _always(EffectKind.PROCESS),
    ),
    "os.putenv": _set,
    **dict.fromkeys("os.chdir os.unsetenv".split(), _always(EffectKind.ENVIRONMENT)),
    **dict.fromkeys("socket.gethostbyaddr socket.getnameinfo".split(), _always(EffectKind.NETWORK)),
    "socket.bind": _always(EffectKind.NETWORK, shown=2),
    "ctypes.call_function": _always(EffectKind.NATIVE),
    **dict.fromkeys(
        "sqlite3.enable_load_extension sqlite3.load_extension".split(),
        _always(EffectKind.NATIVE, shown=2),
    ),
    "sys.addaudithook": _always(EffectKind.INTERPRETER),
}
