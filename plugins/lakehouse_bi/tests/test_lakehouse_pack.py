"""The pack as the framework loads it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import eagle_rag_lakehouse_bi
from eagle_rag_core.testing import PackLibrary, imported_modules
from eagle_rag_lakehouse_bi.parsers import catalog_parsers

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "eagle_rag_lakehouse_bi"
#: Packages no import of the pack may bring with it.
HEAVY = {"sqlglot", "fastmcp", "pymilvus", "llama_index", "numpy", "sqlalchemy", "pydantic"}
#: Database drivers: the pack describes data and never reaches it.
DRIVERS = {"sqlite3", "psycopg", "duckdb", "pyodbc", "snowflake", "pymysql", "sqlalchemy"}


def test_it_registers_what_it_declares(library: PackLibrary) -> None:
    (record,) = library.plugins.records
    assert record.active, record.reason
    manifest = tomllib.loads((PACKAGE / "eagle-pack.toml").read_text(encoding="utf-8"))
    assert set(record.tools) == {f"lakehouse_bi_{tool['name']}" for tool in manifest["tools"]}
    assert set(record.records) == {kind["kind"] for kind in manifest["records"]}
    parsers = library.plugins.extensions.parsers
    expected = [p.name for p in catalog_parsers()] + ["lakehouse_bi_snapshot"]
    assert [parser.name for parser in parsers] == expected


def test_beside_another_pack_it_works_without_its_tool(
    library: PackLibrary, tmp_path: Path
) -> None:
    assert "lakehouse_bi_query_semantic_context" in library.app.pipeline.tools
    settings = {"plugins": {"default_namespace": "core"}}
    with PackLibrary(tmp_path, eagle_rag_lakehouse_bi, settings=settings) as beside:
        assert "lakehouse_bi_query_semantic_context" not in beside.app.pipeline.tools
        beside.ingest_text("CREATE TABLE parcel (weight int);", "post.sql")
        (hit,) = beside.call("core_retrieve_text", query="weight of a parcel")
        assert "## parcel" in hit["text"]


def test_it_writes_every_record_and_field_it_declares(tmp_path: Path, examples: Path) -> None:
    with PackLibrary(tmp_path, eagle_rag_lakehouse_bi) as library:
        library.ingest(*sorted(examples.iterdir()))
        _check_records(library)


def _check_records(library: PackLibrary) -> None:
    for kind in library.plugins.record_kinds["lakehouse_bi"]:
        declared = {field.name for field in kind.fields}
        written = library.records(kind.kind)
        assert written, kind.kind
        assert [record for record in written if set(record.fields) != declared] == []


def test_importing_it_is_cheap() -> None:
    assert HEAVY & imported_modules("import eagle_rag_lakehouse_bi") == set()


def test_no_part_of_it_imports_a_database_driver() -> None:
    everything = (
        "import pkgutil, importlib, eagle_rag_lakehouse_bi as p\n"
        "for module in pkgutil.walk_packages(p.__path__, p.__name__ + '.'):\n"
        "    importlib.import_module(module.name)"
    )
    assert DRIVERS & imported_modules(everything) == set()


def test_its_distribution_has_the_entry_point_and_the_manifest_inside_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["entry-points"]["eagle_rag.packs"] == {
        "lakehouse_bi": "eagle_rag_lakehouse_bi:pack"
    }
    for name in ("eagle-pack.toml", "py.typed"):
        assert (ROOT / "eagle_rag_lakehouse_bi" / name).is_file()
