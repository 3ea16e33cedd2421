"""The product runs no code that comes with data: no pickles, no evaluated text, no YAML objects."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import eagle_rag_core

ROOT = Path(eagle_rag_core.__file__).parent
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
CALLS = {"eval", "exec", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "os.system", "os.popen"}


def findings(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from MODULES & {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            yield from MODULES & {(node.module or "").partition(".")[0]}
        elif isinstance(node, ast.Call):
            yield from CALLS & {ast.unparse(node.func)}
            for option in node.keywords:
                if option.arg in ("allow_pickle", "shell") and ast.unparse(option.value) != "False":
                    yield option.arg


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from marshal import loads",
        "eval('1')",
        "np.load(f, allow_pickle=True)",
        "yaml.load(text)",
        "subprocess.run(x, shell=True)",
    ],
)
def test_what_is_looked_for_is_found(source: str) -> None:
    assert list(findings(source))


def test_no_module_runs_what_it_reads() -> None:
    found = {
        str(path.relative_to(ROOT)): sorted(set(findings(path.read_text("utf-8"))))
        for path in ROOT.rglob("*.py")
    }
    assert len(found) > 200
    assert {path: names for path, names in found.items() if names} == {}
