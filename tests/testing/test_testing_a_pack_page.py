"""The tests on the page "Writing a pack" are run as its reader would."""

from __future__ import annotations

from pathlib import Path

from docs.code_blocks import code_blocks

from eagle_rag_core.testing import run_python

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-pack.md"


def test_the_tests_of_the_page_pass(tmp_path: Path) -> None:
    for block in code_blocks(PAGE):
        if block.language == "python" or block.notes.get("file", "").endswith("eagle-pack.toml"):
            path = tmp_path / block.notes["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, "utf-8")
    ran = run_python(
        f"""
        import pytest, sys
        sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", {str(tmp_path / "tests")!r}]))
        """,
        path=[tmp_path],
    )
    assert ran.returncode == 0, ran.stdout
    assert "3 passed" in ran.stdout
