"""The pack as the framework loads it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import eagle_rag_biomed
from eagle_rag_core.testing import PackLibrary, imported_modules

ROOT = Path(__file__).parent.parent
#: Packages no import of the pack may bring with it.
HEAVY = {
    "fastmcp",
    "pymilvus",
    "llama_index",
    "numpy",
    "sqlalchemy",
    "onnxruntime",
    "pydantic",
    "rdkit",
}
TOOLS = (
    "query_entities",
    "resolve_terms",
    "annotate_text",
    "list_entities",
    "find_cooccurring",
    "retrieve_context",
    "retrieve_compounds",
)


def test_it_registers_what_it_declares(library: PackLibrary) -> None:
    (record,) = library.plugins.records
    assert record.active, record.reason
    assert record.tools == tuple(sorted(f"biomed_{name}" for name in TOOLS))
    assert record.records == (
        "mention",
        "entity",
        "tally",
        "passage",
        "digest",
        "annotation",
        "structure",
    )
    extensions = library.plugins.extensions
    assert [name for name, _ in extensions.enrichers] == ["biomed", "biomed"]
    assert [expander.name for expander in extensions.expanders] == ["biomed_synonyms"]
    assert [leg.name for leg in extensions.legs] == ["biomed_entities"]
    (check,) = extensions.health
    assert check.check()[0] == "ok"


def test_beside_another_pack_it_works_without_its_tool(
    library: PackLibrary, tmp_path: Path
) -> None:
    assert "biomed_query_entities" in library.app.pipeline.tools
    settings = {"plugins": {"default_namespace": "core"}}
    with PackLibrary(tmp_path, eagle_rag_biomed, settings=settings) as beside:
        assert "biomed_query_entities" not in beside.app.pipeline.tools
        beside.ingest_text("A heart attack.")
        (hit,) = beside.call("core_retrieve_text", query="myocardial infarction")
        assert hit["text"] == "A heart attack."


@pytest.mark.usefixtures("example_ids")
def test_it_writes_every_record_and_field_it_declares(library: PackLibrary) -> None:
    for kind in library.plugins.record_kinds["biomed"]:
        declared = {field.name for field in kind.fields}
        written = library.records(kind.kind)
        assert written, kind.kind
        assert [record for record in written if set(record.fields) != declared] == []


def test_importing_it_is_cheap() -> None:
    assert HEAVY & imported_modules("import eagle_rag_biomed") == set()


def test_its_distribution_has_the_entry_point_and_the_manifest_inside_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["entry-points"]["eagle_rag.packs"] == {
        "biomed": "eagle_rag_biomed:pack"
    }
    for name in ("eagle-pack.toml", "py.typed", "data/vocabulary.tsv"):
        assert (ROOT / "eagle_rag_biomed" / name).is_file()
