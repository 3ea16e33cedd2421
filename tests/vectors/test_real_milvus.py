"""The Milvus backend on a real server, the last one that comes as a wheel (2.3.5)."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eagle_rag_core.vectors.milvus.connection import _has_full_text

FOLDER = Path(__file__).parent
#: Brings the loopback interface up, which is all there is, and becomes the command.
_INSIDE = 'ip link set lo up && exec "$@"'


def _package() -> str:
    """The folder that `milvus` is installed in; skips where it is nowhere."""
    named = os.environ.get("EAGLE_RAG_TEST_MILVUS_PACKAGE", "")
    if named and (Path(named) / "milvus" / "data").is_dir():
        return named
    found = importlib.util.find_spec("milvus")
    if found is None or found.origin is None:
        pytest.skip(
            "milvus==2.3.5 is not installed; unpack its wheel and name the folder in "
            "EAGLE_RAG_TEST_MILVUS_PACKAGE"
        )
    return str(Path(found.origin).parents[1])


def _isolated(*command: str) -> list[str]:
    """The command in a network of its own; skips where that is not allowed."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("unshare or ip is not installed")
    isolated = ["unshare", "--net", "sh", "-c", _INSIDE, "sh"]
    if subprocess.run([*isolated, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may not make network namespaces, and the server listens everywhere")
    return [*isolated, *command]


@pytest.mark.full
@pytest.mark.timeout(600)
def test_the_dense_contract_holds_on_a_real_server() -> None:
    pytest.importorskip("pymilvus", reason="pymilvus is not installed")
    environ = {**os.environ, "EAGLE_RAG_TEST_MILVUS_PACKAGE": _package()}
    suite = FOLDER / "real_milvus_contract.py"
    command = _isolated(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(suite))
    done = subprocess.run(
        command, cwd=FOLDER.parents[1], env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr[-2_000:]


@pytest.mark.parametrize(
    ("version", "has"),
    [
        ("v2.3.5-lite", False),
        ("v2.4.23", False),
        ("2.5.0", True),
        ("v2.6.9", True),
        ("v3.0.0-beta", True),
        ("cloud", True),
    ],
)
def test_what_has_bm25_is_told_from_its_version(version: str, has: bool) -> None:
    assert _has_full_text(version) is has
