"""A deployment whose pack has a parser that does what the file says, good or bad."""

from __future__ import annotations

import os
from pathlib import Path

from e2e.packs import install_pack
from e2e.product import Deployment

from eagle_rag_core.testing.fake_distributions import pack_manifest

_BODY = """
import ctypes, os, pathlib, signal, sys, time
from eagle_rag_core.plugins import hookimpl
from eagle_rag_core.types import ParsedDocument

def swell():
    held = []
    while True:
        held.append(bytes(50_000_000))

def wait_for(gate):
    while pathlib.Path(gate).exists():
        time.sleep(0.02)

class Parser:
    name = "hostile"
    version = "1"

    def sniff(self, head, name):
        return 1.0 if name.endswith(".evil") else 0.0

    def parse(self, data, name):
        text = data.decode()
        exec(text)
        return ParsedDocument("Harmless " + name, "text/plain")

class Pack:
    @hookimpl
    def register_parsers(self, ctx):
        return [Parser()]

pack = Pack()
"""

HANG = "time.sleep(1000)"
#: Holds the interpreter's lock, as an endless regular expression does: no other thread runs.
HOLD = "ctypes.PyDLL(None).sleep(1000)"
SWELL = "swell()"
CRASH = "os.kill(os.getpid(), signal.SIGSEGV)"
LEAVE = "os._exit(7)"
NOISE = "print('noise'); sys.stdout.flush(); os.write(1, b'noise')"


def hostile_deployment(folder: Path, **settings: object) -> Deployment:
    """A deployment with that pack and tight limits."""
    install_pack(folder / "site", "hostile", body=_BODY, text=pack_manifest("hostile", more=""))
    home = Deployment(folder / "home", {"profile": "hostile"}, folder / "site")
    tight = {"ingest__parse_timeout": 5, "ingest__max_memory_mb": 600, "ingest__processes": 1}
    return home.with_settings(**{**tight, **settings})


def write(home: Deployment, name: str, text: str) -> Path:
    """A file of the inbox; ``.evil`` ones are run."""
    path = home.inbox / name
    path.write_text(text)
    return path


def children(pid: int) -> list[int]:
    """The running child processes of a process."""
    found: list[int] = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        found += map(int, (thread / "children").read_text().split())
    return [child for child in found if running(child)]


def running(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def kill(pid: int, number: int) -> None:
    os.kill(pid, number)
