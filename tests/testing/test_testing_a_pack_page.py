"""The tests on the page "Writing a pack" are run as its reader would."""

from __future__ import annotations

from pathlib import Path

from docs.code_blocks import code_blocks
from plugin_runs import run_pytest

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-pack.md"


def test_the_tests_of_the_page_pass(tmp_path: Path) -> None:
    for block in code_blocks(PAGE):
        name = block.notes.get("file", "")
        if name and block.notes.get("backend", "hatchling") == "hatchling":
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, "utf-8")
    assert "8 passed" in run_pytest(tmp_path)
