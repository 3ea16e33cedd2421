"""The fixtures for authors of packs, in runs of pytest as authors make them."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin_runs import run_pytest

from eagle_rag_core.scaffold.backends import BACKENDS
from eagle_rag_core.scaffold.names import pack_names
from eagle_rag_core.scaffold.rendering import render, write
from eagle_rag_core.testing import imported_modules, run_python

#: Modules that take longest to import.
HEAVY = {"fastmcp", "numpy", "pydantic", "pluggy", "sqlalchemy", "asyncio", "llama_index"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A generated pack without its tests."""
    folder = tmp_path / "eagle-rag-orders"
    write(render(pack_names("orders"), BACKENDS["hatchling"]), folder)
    for path in (folder / "tests").iterdir():
        path.unlink()
    return folder


def runs(project: Path, code: str, *more: str, passes: bool = True) -> str:
    (project / "tests" / "test_it.py").write_text(code, "utf-8")
    return run_pytest(project, *more, passes=passes)


def test_importing_it_imports_nothing_of_the_core() -> None:
    """Measured as the modules it adds to those of pytest itself."""
    without = imported_modules("import pytest")
    brought = imported_modules("import pytest, eagle_rag_core.testing.pytest_plugin") - without
    assert {name for name in brought if name.startswith("eagle_rag_core")} == {
        "eagle_rag_core",
        "eagle_rag_core.testing",
        "eagle_rag_core.testing.pytest_plugin",
    }
    assert {name.partition(".")[0] for name in brought} & HEAVY == set()


def test_a_run_without_its_fixtures_imports_nothing_more(project: Path) -> None:
    code = """
import sys
def test_nothing():
    core = {name for name in sys.modules if name.startswith("eagle_rag_core.")}
    assert core == {"eagle_rag_core.testing", "eagle_rag_core.testing.pytest_plugin"}
"""
    assert "1 passed" in runs(project, code)


def test_each_library_is_one_of_its_own_and_closed_at_the_end(project: Path) -> None:
    code = """
opened = []

def test_two(pack_library):
    first, second = pack_library(), pack_library()
    first.ingest_text("AB-1 was repaired.")
    assert len(first.records("mention")) == 1
    assert second.records("mention") == []
    opened.extend([first, second])

def test_they_are_closed():
    assert [library.app._closed for library in opened] == [True, True]
"""
    assert "2 passed" in runs(project, code)


@pytest.mark.full
def test_options_and_settings_reach_the_library(project: Path) -> None:
    code = """
import pytest
from eagle_rag_core.errors import ConfigError

def test_both(pack_library):
    library = pack_library(options={"prefixes": ["XY"]}, settings={"query": {"evidence": 2}})
    assert library.app.settings.query.evidence == 2
    library.ingest_text("AB-1 and XY-2.")
    assert [record.fields["code"] for record in library.records("mention")] == ["XY-2"]

def test_wrong_options(pack_library, pack_harness):
    with pytest.raises(ConfigError, match="prefixes"):
        pack_library(options={"prefix": []})
    with pytest.raises(ConfigError, match="prefixes"):
        pack_harness(prefix=[])
"""
    assert "2 passed" in runs(project, code)


def test_the_harness_looks_for_no_installed_packs(project: Path) -> None:
    code = """
def test_alone(pack_harness, monkeypatch):
    monkeypatch.setattr("eagle_rag_core.plugins.manager.discover", None)
    plugins = pack_harness(prefixes=["xy"])
    assert [record.namespace for record in plugins.records] == ["orders"]
    assert [leg.name for leg in plugins.extensions.legs] == ["orders_mentions"]
    (enricher,) = [enricher for _, enricher in plugins.extensions.enrichers]
    assert enricher.version == "1 XY"
"""
    assert "1 passed" in runs(project, code)


def test_the_client_speaks_the_protocol(project: Path) -> None:
    code = """
import pytest
from eagle_rag_core.testing import CallFailed

def test_over_mcp(pack_library, mcp_client):
    library = pack_library()
    document_id = library.ingest_text("AB-1 was repaired.")
    client = mcp_client(library)
    tool = client.tools()["orders_find_mentions"]
    assert tool.annotations.read_only_hint and "code" in tool.input_schema["properties"]
    (found,) = client.call("orders_find_mentions", code="ab-1")
    assert found["document_id"] == document_id
    with pytest.raises(CallFailed, match="no known code") as failed:
        client.call("orders_find_mentions", code="none")
    assert failed.value.code == "invalid_argument"
"""
    assert "1 passed" in runs(project, code)


@pytest.mark.full
def test_the_configuration_may_name_the_pack(project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "pytest.ini").write_text("[pytest]\neagle_rag_pack = eagle_rag_orders\n")
    (elsewhere / "test_it.py").write_text(
        "def test_named(eagle_rag_pack):\n    assert eagle_rag_pack.__name__ == 'eagle_rag_orders'"
    )
    assert "1 passed" in run_pytest(elsewhere, "-o", f"pythonpath={project}")


@pytest.mark.parametrize(
    ("pyproject", "words"),
    [
        ("", "names no pack"),
        (
            '[project.entry-points."eagle_rag.packs"]\na = "one_pack:pack"\nb = "two_pack:pack"\n',
            "names one_pack, two_pack",
        ),
        (
            '[project.entry-points."eagle_rag.packs"]\na = "not_installed:pack"\n',
            "cannot be imported; install the pack first",
        ),
    ],
)
def test_a_pack_that_cannot_be_told_is_explained(
    tmp_path: Path, pyproject: str, words: str
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "pyproject.toml").write_text(pyproject)
    (tmp_path / "test_it.py").write_text("def test_it(pack_library): pass")
    shown = run_pytest(tmp_path, passes=False)
    assert words in shown
    assert "Traceback" not in shown


def test_what_an_import_of_the_pack_raises_is_shown(project: Path) -> None:
    (project / "eagle_rag_orders" / "pack.py").write_text("import no_such_module_anywhere\n")
    shown = runs(project, "def test_it(pack_library): pass", passes=False)
    assert "No module named 'no_such_module_anywhere'" in shown


def test_it_can_be_left_out(tmp_path: Path) -> None:
    """Under the name of its entry point, which an installation gives it."""
    (tmp_path / "test_it.py").write_text("def test_it(pack_library): pass")
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:eagle_rag", str(tmp_path)]
    ran = run_python(f"import pytest, sys\nsys.exit(pytest.main({options}))")
    assert "fixture 'pack_library' not found" in ran.stdout
