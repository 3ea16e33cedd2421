"""Runs of pytest in a process of its own, with the fixtures for authors of packs."""

from __future__ import annotations

from pathlib import Path

from eagle_rag_core.testing import run_python


def run_pytest(project: Path, *more: str, passes: bool = True) -> str:
    """What the run of a project's tests wrote to stdout.

    The fixtures are those of this checkout, whatever the environment has installed.

    :param passes: whether all tests should.
    """
    options = [
        *("-q", "-p", "no:cacheprovider", "-p", "no:eagle_rag"),
        *("-p", "eagle_rag_core.testing.pytest_plugin", "--rootdir", str(project)),
        *(str(project), *more),
    ]
    ran = run_python(f"import pytest, sys\nsys.exit(pytest.main({options}))", path=[project])
    assert (ran.returncode == 0) is passes, ran.stdout + ran.stderr
    return ran.stdout
