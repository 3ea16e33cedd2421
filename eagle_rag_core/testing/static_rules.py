"""What the code of a pack must not name, and why.

Names are dotted, as they are imported: ``from os import environ as e`` makes ``e`` the name
``os.environ``. A rule about a name holds for everything inside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from eagle_rag_core.plugins.effects.events import DRIVERS, SILENT_NETWORK

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Rule:
    """What is wrong with naming something."""

    severity: Severity
    reason: str


def _rules(severity: Severity, names: str, reason: str) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), Rule(severity, reason))


_SERVER: Final = "belongs to the server; a pack contributes through its hooks and its context"
_NETWORK: Final = "reaches the network, and [needs] network of the manifest names no address"

#: Rules lifted when the manifest names an address in ``[needs] network``.
NETWORK: Final[Mapping[str, Rule]] = {
    **_rules(
        "error",
        """aiohttp asyncio.open_connection ftplib http.client httpx httpx2 imaplib poplib requests
        smtplib socket ssl telnetlib urllib.request urllib3 websockets xmlrpc.client""",
        _NETWORK,
    ),
    **dict.fromkeys(SILENT_NETWORK, Rule("error", _NETWORK)),
}

FORBIDDEN: Final[Mapping[str, Rule]] = {
    **_rules("error", "celery fastapi fastmcp mcp starlette uvicorn", _SERVER),
    **dict.fromkeys(
        DRIVERS, Rule("error", "reaches a database; packs read ctx.records and ctx.search")
    ),
    **_rules(
        "warning",
        "sqlalchemy sqlite3",
        "reaches a database, unless it only reads a file the pack brings",
    ),
    **_rules(
        "error",
        """asyncio.create_subprocess_exec asyncio.create_subprocess_shell multiprocessing os.abort
        os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe os.fork
        os.forkpty os.kill os.killpg os.popen os.posix_spawn os.posix_spawnp os.spawnl os.spawnle
        os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe os.startfile os.system
        pty subprocess concurrent.futures.ProcessPoolExecutor""",
        "starts or signals a process",
    ),
    **_rules("error", "os._exit", "ends the server"),
    **_rules(
        "error",
        """os.chmod os.chown os.link os.makedirs os.mkdir os.mkfifo os.remove os.removedirs
        os.rename os.renames os.replace os.rmdir os.symlink os.truncate os.unlink os.utime shutil
        tempfile""",
        "changes the file system",
    ),
    **_rules("error", "cffi ctypes", "calls native code, which no check can follow"),
    **_rules(
        "error",
        "os.chdir os.putenv os.unsetenv signal.signal sys.addaudithook sys.setprofile sys.settrace",
        "changes the whole process",
    ),
    **_rules("error", "_thread", "starts threads that cannot be followed"),
    **_rules(
        "warning",
        """atexit gc.get_objects gc.get_referrers logging.basicConfig logging.disable
        locale.setlocale socket.setdefaulttimeout sys.setrecursionlimit warnings.filterwarnings
        warnings.simplefilter""",
        "changes or reaches into the whole process",
    ),
    **_rules(
        "warning",
        "logging.FileHandler logging.handlers",
        "writes files; log with ctx.logger and leave handlers to the deployment",
    ),
    **_rules(
        "error",
        "eagle_rag_core.types.acting_for eagle_rag_core.types.caller.acting_for",
        "acts for another caller, who may read other knowledge bases",
    ),
    **_rules(
        "error",
        "eagle_rag_core.plugins.effects",
        "holds the watch over the pack",
    ),
}

#: Parts of the core that packs are written against; the rest changes without notice.
PUBLIC_CORE: Final = frozenset(
    """eagle_rag_core.__version__ eagle_rag_core.errors eagle_rag_core.plugins
    eagle_rag_core.testing eagle_rag_core.types""".split()
)
PRIVATE_CORE: Final = Rule(
    "error",
    "is not for packs: use eagle_rag_core.plugins, .types and .errors, and the context",
)

#: Calls while the module is imported; elsewhere they are fine.
AT_IMPORT: Final[Mapping[str, Rule]] = {
    **_rules("warning", "print input time.sleep", "runs while the pack is imported"),
    **_rules(
        "error",
        """threading.Thread threading.Timer concurrent.futures.ThreadPoolExecutor
        concurrent.futures.thread.ThreadPoolExecutor""",
        "starts threads while the pack is imported; they outlive it and cannot be watched",
    ),
    **_rules("error", "sys.exit exit quit", "ends the server while the pack is imported"),
}

#: Calls anywhere.
CALLS: Final[Mapping[str, Rule]] = {
    **_rules("error", "eval exec", "runs code that no check has seen"),
    **_rules("warning", "compile", "makes code that no check has seen"),
    **_rules("warning", "print", "writes to stdout, which may be the protocol's; use ctx.logger"),
    **_rules("error", "input breakpoint", "reads stdin, which may be the protocol's"),
}

BEHIND_CONTEXT: Final = Rule("error", "reaches behind the context, past the caller's rights")
CONTEXT_NAMES: Final = frozenset({"ctx", "_ctx"})

#: Methods that are hardly anything else than those of ``pathlib.Path``.
PATH_METHODS: Final = Rule("error", "changes the file system")
PATH_METHOD_NAMES: Final = frozenset(
    """hardlink_to lchmod mkdir rmdir symlink_to touch unlink write_bytes write_text""".split()
)
