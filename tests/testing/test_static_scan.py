"""The scan of a pack's source."""

from __future__ import annotations

from pathlib import Path

import pytest

from eagle_rag_core.errors import PluginError
from eagle_rag_core.testing.static_scan import Finding, scan

ROOT = Path(__file__).parents[2]
MANIFEST = 'schema = 1\n[pack]\nnamespace = "words"\ntitle = "Words"\napi = ">=1.0"\n[needs]\n'


def found(code: str, needs: str = "") -> list[str]:
    """Severities and reasons."""
    files = {"words/__init__.py": code}
    if needs:
        files["words/eagle-pack.toml"] = MANIFEST + needs
    return [f"{finding.severity}: {finding.reason}" for finding in scan(files)]


ERRORS = {
    "environment": "import os\nos.environ['TOKEN']",
    "environment-get": "from os import environ as e\ne.get('TOKEN')",
    "environment-getenv": "from os import getenv\ngetenv('TOKEN')",
    "environment-set": "import os\nos.environ['TOKEN'] = 'x'",
    "environment-delete": "import os\ndel os.environ['TOKEN']",
    "socket": "import socket",
    "requests": "from requests import get",
    "urllib": "import urllib.request as r",
    "grpc": "import grpc",
    "duckdb": "import duckdb",
    "driver": "from google.cloud import bigquery",
    "driver-by-name": "import importlib\nimportlib.import_module('psycopg.rows')",
    "driver-by-builtin": "__import__('duckdb')",
    "fastmcp": "from fastmcp import FastMCP",
    "starlette": "import starlette.routing",
    "celery": "import celery",
    "redis": "import redis",
    "pymilvus": "from pymilvus import MilvusClient",
    "ctypes": "import ctypes",
    "subprocess": "import subprocess",
    "system": "import os\ndef f():\n    os.system('ls')",
    "popen": "from os import popen\npopen('ls')",
    "fork": "import os as o\no.fork()",
    "leaving": "import os\ndef f():\n    os._exit(1)",
    "leaving-at-import": "import sys\nsys.exit()",
    "eval": "def f(x):\n    return eval(x)",
    "exec": "exec('x = 1')",
    "writing": "open('x', 'w')",
    "writing-by-keyword": "open('x', mode='a')",
    "writing-path": "from pathlib import Path\nPath('x').open('wb')",
    "writing-gzip": "import gzip\ngzip.open('x', 'wb')",
    "write_text": "def f(path):\n    path.write_text('x')",
    "unlink": "def f(path):\n    (path / 'x').unlink()",
    "remove": "from os import remove",
    "rmtree": "import shutil",
    "patch-core": "from eagle_rag_core.plugins import guard\nguard.check = None",
    "patch-core-class": "from eagle_rag_core.plugins import PackContext as C\nC.search = 1",
    "patch-core-setattr": "from eagle_rag_core import plugins\nsetattr(plugins, 'x', 1)",
    "patch-core-dict": "from eagle_rag_core.plugins import guard\nguard.WORDS['x'] = 1",
    "patch-core-delete": "from eagle_rag_core.plugins import guard\ndel guard.check",
    "patch-core-tuple": "from eagle_rag_core.plugins import guard\na, guard.check = 1, 2",
    "modules": "import sys\nsys.modules['json'] = None",
    "stdout": "import sys\nsys.stdout = None",
    "builtins": "import builtins\nbuiltins.open = None",
    "audit-hook": "import sys\nsys.addaudithook(print)",
    "signal": "import signal\nsignal.signal(2, print)",
    "thread-at-import": "from threading import Thread\nThread(target=print).start()",
    "pool-at-import": "import concurrent.futures as c\nPOOL = c.ThreadPoolExecutor()",
    "bare-thread": "import _thread",
    "core-engine": "from eagle_rag_core.catalog.engine import Catalog",
    "core-app": "from eagle_rag_core import app",
    "core-effects": "from eagle_rag_core.plugins.effects.watch import unwatched",
    "another-caller": "from eagle_rag_core.types import acting_for",
    "another-caller-by-module": "from eagle_rag_core import types as t\nt.acting_for(t.LOCAL)",
    "behind-context": "def f(ctx):\n    ctx._late",
    "behind-records": "class A:\n    def f(self):\n        self._ctx.records._catalog.write()",
    "input": "def f():\n    input()",
    "not-python": "def f(:",
    "nul": "x = '\0'",
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_found_once(name: str) -> None:
    (reason,) = [reason for reason in found(ERRORS[name]) if reason.startswith("error")]
    assert len(reason) > 20


WARNINGS = {
    "sqlite": "import sqlite3",
    "dynamic-import": "import importlib\ndef f(x):\n    importlib.import_module(x)",
    "dynamic-environment": "import os\ndef f(x):\n    os.environ[x]",
    "dynamic-mode": "def f(x):\n    open('y', x)",
    "print": "def f():\n    print('x')",
    "sleep-at-import": "import time\ntime.sleep(1)",
    "patch-other": "import json\njson.dumps = None",
    "star": "from os.path import *",
    "logging": "import logging\nlogging.basicConfig()",
    "file-handler": "from logging import FileHandler",
    "compile": "compile('x', 'y', 'exec')",
}


@pytest.mark.parametrize("name", WARNINGS)
def test_a_warning_is_found_once(name: str) -> None:
    (reason,) = found(WARNINGS[name])
    assert reason.startswith("warning")


CLEAN = {
    "reading": "from pathlib import Path\nPath('x').read_text()\nopen('x').read()\nopen('x', 'rb')",
    "json": "import json\nvalue = json.loads('{}')\nvalue['x'] = 1",
    "re": "import re\nWORD = re.compile('x')",
    "own-attributes": "class A:\n    def __init__(self):\n        self.x = 1\n        self._y = 2",
    "own-context": "class A:\n    def __init__(self, ctx):\n        self._ctx = ctx",
    "context": "def f(ctx):\n    return ctx.search.text('x'), ctx.options.limit",
    "thread-in-a-tool": "import threading\ndef f():\n    threading.Thread(target=int).start()",
    "sleep-in-a-tool": "import time\ndef f():\n    time.sleep(1)",
    "core": "import eagle_rag_core\nfrom eagle_rag_core.plugins.parameters import KbName",
    "core-version": "from eagle_rag_core import __version__",
    "type-checking": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import redis",
    "relative": "from . import subprocess\nfrom .socket import x",
    "strings": "TEXT = 'import os; os.system()'",
    "replace": "def f(frame):\n    return frame.rename(columns={}).replace('a', 'b')",
}


@pytest.mark.parametrize("name", CLEAN)
def test_what_packs_do_is_not_found(name: str) -> None:
    assert found(CLEAN[name]) == []


def test_what_the_manifest_declares_is_not_found() -> None:
    assert found("import os\nos.environ['A']\nos.getenv('A')", 'env = ["A"]') == []
    assert found("import os\nos.environ['B']", 'env = ["A"]') != []
    assert found("import httpx, grpc", 'network = ["example.org:443"]') == []
    assert found("import duckdb", 'network = ["example.org:443"]') != []


def test_a_finding_says_where_and_why() -> None:
    (finding,) = scan({"words/tools.py": "x = 1\n\nimport duckdb\n", "words/list.txt": "import"})
    assert (finding.file, finding.line, finding.severity) == ("words/tools.py", 3, "error")
    assert str(finding) == (
        "words/tools.py:3: error: duckdb reaches a database; packs read ctx.records and ctx.search"
    )


def test_findings_come_by_file_and_line() -> None:
    files = {"b.py": "import os\nos.fork()\nimport pty", "a.py": "import pty"}
    assert [(f.file, f.line) for f in scan(files)] == [("a.py", 1), ("b.py", 2), ("b.py", 3)]
    assert all(isinstance(finding, Finding) for finding in scan(files))


def test_a_manifest_that_is_not_valid_is_refused() -> None:
    with pytest.raises(PluginError):
        scan({"words/eagle-pack.toml": "schema = 2"})
