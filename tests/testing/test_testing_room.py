"""What the room makes itself agrees with the engine; what it imports is little."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from word_pack import WordPack, WordParser, word_pack

from eagle_rag_core.errors import IngestError
from eagle_rag_core.testing import PackLibrary, enrichment_input, imported_modules, run_python
from eagle_rag_core.types import Chunk

SOURCES = {
    "notes.md": "# Notes\n\nAn introduction.\n\n## One\n\n" + "A sentence about NASA. " * 120,
    "list.words": "WORDS\n\nONE TWO THREE",
    "plain.txt": "Some lines\r\nof text.\r\n",
}


@pytest.mark.parametrize("name", SOURCES)
def test_an_enricher_is_given_the_same_as_at_ingest(tmp_path: Path, name: str) -> None:
    pack = WordPack()
    with PackLibrary(tmp_path, word_pack(pack)) as library:
        library.ingest_text(SOURCES[name], name)
    (real,) = pack.enricher.seen
    made = enrichment_input(SOURCES[name], name, parsers=[WordParser()])
    assert made.parsed == real.parsed
    assert [unnamed(chunk) for chunk in made.chunks] == [unnamed(chunk) for chunk in real.chunks]
    assert len({chunk.node_id for chunk in made.chunks}) == len(made.chunks)
    described = ("kb_name", "title", "language", "media_type", "tags", "metadata", "chunks")
    for field in described:
        assert getattr(made.document, field) == getattr(real.document, field), field


def unnamed(chunk: Chunk) -> Chunk:
    return replace(chunk, node_id="")


def test_a_source_that_no_parser_reads_is_refused() -> None:
    with pytest.raises(IngestError):
        enrichment_input(b"\x00\x01\x02\x03", "noise.bin")


def test_importing_the_room_brings_nothing_heavy() -> None:
    heavy = {"pytest", "sqlalchemy", "numpy", "fastmcp", "pydantic", "pluggy", "llama_index"}
    statement = "import eagle_rag_core.testing, eagle_rag_core.testing.fake_distributions"
    assert heavy & imported_modules(statement) == set()


def test_modules_are_those_of_a_fresh_process() -> None:
    assert "pytest" not in imported_modules("import json")
    assert "colorsys" in imported_modules("import colorsys")
    with pytest.raises(RuntimeError, match="No module named 'no_such_module'"):
        imported_modules("import no_such_module")


def test_a_fresh_process_imports_from_the_folders_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "of_this_test.py").write_text("WORD = 'found'")
    ran = run_python(
        """
        import os, of_this_test
        print(of_this_test.WORD, os.environ["EAGLE_RAG_TEST_WORD"])
        """,
        path=[tmp_path],
        environ={"EAGLE_RAG_TEST_WORD": "too"},
    )
    assert ran.stdout == "found too\n", ran.stderr
