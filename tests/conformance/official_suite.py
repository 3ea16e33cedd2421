"""The official conformance suite of MCP, from npm, in a cache of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

SUITE: Final = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
NODE: Final = "node@22"
INSPECTOR: Final = "@modelcontextprotocol/inspector@2.12.0"
_INSTALL_SECONDS: Final = 300
_RUN_SECONDS: Final = 120


def tools() -> Path:
    """The folder with ``conformance``, ``mcp-inspector`` and a ``node`` that is new enough.

    Installed once; the test is skipped where that is not possible.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "eagle-rag-tests" / re.sub(r"\W+", "-", f"{SUITE} {INSPECTOR}").strip("-")
    found = folder / "node_modules" / ".bin"
    if not (found / "mcp-inspector").exists() or not (found / "conformance").exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("npm is not installed; the official suite comes from it.")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}")
        command = [npm, "install", "--no-audit", "--no-fund", NODE, SUITE, INSPECTOR]
        try:
            subprocess.run(
                command, cwd=folder, check=True, capture_output=True, timeout=_INSTALL_SECONDS
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            pytest.skip("npm cannot install the official suite; is there a network?")
    return found


def environ(folder: Path) -> dict[str, str]:
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def failed_checks(url: str, revision: str, output: Path) -> Mapping[str, frozenset[str]]:
    """Run every scenario for servers of a revision; the checks that failed, by scenario."""
    folder = tools()
    command = ["conformance", "server", "--url", url, "--spec-version", revision]
    ran = subprocess.run(
        [folder / command[0], *command[1:], "--suite", "all", "-o", str(output)],
        env=environ(folder),
        capture_output=True,
        text=True,
        timeout=_RUN_SECONDS,
        check=False,
    )
    found: dict[str, frozenset[str]] = {}
    for report in output.glob("*/checks.json"):
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\d-]+Z$", "", report.parent.name)
        checks = json.loads(report.read_text())
        if {"SUCCESS", "FAILURE"} & {check["status"] for check in checks}:  # it was tried
            found[scenario] = frozenset(c["id"] for c in checks if c["status"] == "FAILURE")
    assert len(found) > 25, ran.stdout + ran.stderr
    return found
