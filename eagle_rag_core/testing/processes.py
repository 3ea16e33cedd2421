"""Code in a fresh interpreter, for what a test process that has imported everything cannot show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from textwrap import dedent


def run_python(
    source: str,
    *,
    path: Iterable[Path] = (),
    environ: Mapping[str, str] | None = None,
    timeout: float = 60.0,
) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter that imports from where this one does.

    :param path: folders in front of the path.
    :param environ: variables besides those of this process.
    :param timeout: seconds.
    """
    folders = [*map(str, path), *filter(None, sys.path)]
    return subprocess.run(
        [sys.executable, "-c", dedent(source)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders), **(environ or {})},
        timeout=timeout,
        check=False,
    )


def imported_modules(statement: str, *, path: Iterable[Path] = ()) -> frozenset[str]:
    """The modules a fresh interpreter has after ``statement``, e.g. ``import a_pack``.

    :raises RuntimeError: the statement fails, with what it wrote to stderr.
    """
    source = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    ran = run_python(source, path=path)
    if ran.returncode:
        raise RuntimeError(f"{statement!r} fails:\n{ran.stderr}")
    return frozenset(json.loads(ran.stdout.splitlines()[-1]))
