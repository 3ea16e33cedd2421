"""Small mistakes at the command line, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from eagle_rag_core.cli.main import cli


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def run(home: Path, *arguments: str, **environment: str) -> Result:
    given = {"EAGLE_RAG_MODELS__TEXT_EMBEDDER": "none", "EAGLE_RAG_HOME": str(home), **environment}
    return CliRunner().invoke(cli, [*arguments], env=given)


def test_one_title_for_several_sources_is_refused(home: Path, tmp_path: Path) -> None:
    result = run(home, "ingest", "a.md", "b.md", "--title", "Both")
    assert result.exit_code == 2
    assert "single source" in result.stderr
    assert not home.exists()


def test_doctor_does_not_make_a_home_that_is_not_there(home: Path) -> None:
    result = run(home, "doctor")
    assert result.exit_code == 1
    assert "There is no library at this home yet. → Name another by --home" in result.stdout
    assert not home.exists()


def test_query_says_what_failed_on_its_way(home: Path, tmp_path: Path) -> None:
    (tmp_path / "kettle.md").write_text("A kettle is descaled with vinegar.", "utf-8")
    assert run(home, "ingest", str(tmp_path / "kettle.md")).exit_code == 0
    model = {
        "EAGLE_RAG_MODELS__LLM__BASE_URL": "http://127.0.0.1:1/v1",
        "EAGLE_RAG_MODELS__LLM__MODEL": "m",
    }
    result = run(home, "query", "How is a kettle descaled?", **model)
    assert "vinegar" in result.stdout
    assert "(generate failed: The language model does not answer" in result.stderr
