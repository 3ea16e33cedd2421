"""The test class on the page "Conformance of a pack" works, on the pack of "Writing a pack"."""

from __future__ import annotations

from pathlib import Path

from docs.code_blocks import code_blocks

from eagle_rag_core.testing import run_python

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pack_of_the_manual_conforms(tmp_path: Path) -> None:
    pages = [DOCS / "writing-a-pack.md", DOCS / "conformance.md"]
    for block in (block for page in pages for block in code_blocks(page)):
        name = block.notes.get("file", "")
        if name.endswith((".py", "eagle-pack.toml")) and "test_references" not in name:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, "utf-8")
    documents = tmp_path / "tests" / "documents"
    documents.mkdir()
    (documents / "http.md").write_text("# Semantics\n\nAs RFC 9110 says, and RFC 2119.\n", "utf-8")
    options = ["-q", "-p", "no:cacheprovider", str(tmp_path / "tests")]
    ran = run_python(f"import pytest, sys\nsys.exit(pytest.main({options}))", path=[tmp_path])
    assert ran.returncode == 0, ran.stdout
    assert "failed" not in ran.stdout and "passed" in ran.stdout
