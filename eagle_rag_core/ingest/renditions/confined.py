"""Runs a converter on a hostile document: apart, bounded, without network and without secrets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eagle_rag_core.ingest.renditions import supervisor

#: For the supervisor to start, and to end what it supervises.
_GRACE: Final = 5.0
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


class ConversionFailed(Exception):
    """A converter did not give pages. The message is ours and names no path.

    :param passing: another attempt may go better.
    """

    def __init__(self, message: str, *, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one conversion may take.

    :param seconds: wall clock, and processor time of any of its processes.
    :param bytes: of any file that it writes, the PDF among them.
    :param memory_mb: of any of its processes (Linux).
    :param pages: of the PDF.
    """

    seconds: float = 60.0
    bytes: int = 100_000_000
    memory_mb: int = 2048
    pages: int = 2_000


def run_converter(command: Sequence[str], folder: Path, bounds: Bounds) -> None:
    """Run a converter to its end; afterwards no process of it is left.

    :param folder: its own, which is its home and holds all that it needs and writes.
    :raises ConversionFailed: it failed or took too long.
    """
    order = {
        "command": list(command),
        "folder": str(folder),
        "seconds": bounds.seconds,
        "bytes": bounds.bytes,
        "memory_mb": bounds.memory_mb,
    }
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", supervisor.__file__, json.dumps(order)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=environment(folder),
        start_new_session=True,
    )
    try:
        code = process.wait(bounds.seconds + _GRACE)
    except subprocess.TimeoutExpired:
        code = supervisor.OVERDUE
    finally:
        _end(process)
    if code == supervisor.OVERDUE:
        raise ConversionFailed(f"it took longer than {bounds.seconds:g} s", passing=True)
    if code != supervisor.DONE:
        raise ConversionFailed("the converter failed")


def environment(folder: Path) -> dict[str, str]:
    """All that a converter knows of the process that started it: nothing but its own folder."""
    home = str(folder)
    return {
        "PATH": _PATH,
        "HOME": home,
        "TMPDIR": home,
        "XDG_CACHE_HOME": home,
        "XDG_CONFIG_HOME": home,
        "XDG_DATA_HOME": home,
        "XDG_RUNTIME_DIR": home,
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        # PDF files of the same document by the same program are the same where it heeds this.
        "SOURCE_DATE_EPOCH": "0",
    }


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the supervisor, which ends the converter when its input does."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        with suppress(OSError):
            os.killpg(process.pid, 9)
        process.wait()
