"""The pack as the framework loads it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import eagle_rag_lakehouse_bi
import pytest

from eagle_rag_core.plugins import PluginManager
from eagle_rag_core.plugins.sources import explicit_pack
from eagle_rag_core.settings.sections import PluginSettings
from eagle_rag_core.types import EnrichmentInput

ROOT = Path(__file__).parent.parent
#: Packages no import of the pack may bring with it.
HEAVY = ("sqlglot", "fastmcp", "pymilvus", "llama_index", "numpy", "sqlalchemy", "pydantic")
#: Database drivers: the pack describes data and never reaches it.
DRIVERS = ("sqlite3", "psycopg", "duckdb", "pyodbc", "snowflake", "pymysql", "sqlalchemy")


def loaded(settings: PluginSettings) -> PluginManager:
    manifest = (files("eagle_rag_lakehouse_bi") / "eagle-pack.toml").read_text(encoding="utf-8")
    source = explicit_pack(
        eagle_rag_lakehouse_bi.pack,
        manifest,
        distribution="eagle-rag-lakehouse-bi",
        version="0.1.0",
    )
    manager = PluginManager(settings, packs=[source])
    manager.load()
    return manager


@pytest.fixture
def manager() -> PluginManager:
    return loaded(PluginSettings(enabled=["lakehouse_bi"], default_namespace="lakehouse_bi"))


def in_a_new_process(code: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    return ran.stdout.strip()


def test_it_registers_what_it_declares(manager: PluginManager) -> None:
    (record,) = manager.records
    assert record.active, record.reason
    assert record.tools == ("lakehouse_bi_query_semantic_context",)
    kinds = [kind.kind for kind in manager.record_kinds["lakehouse_bi"]]
    assert kinds == ["table", "column", "relationship", "metric"]
    assert [parser.name for parser in manager.extensions.parsers] == [
        "lakehouse_bi_dbt_manifest",
        "lakehouse_bi_sql_ddl",
    ]


def test_its_tool_is_exposed_in_its_own_namespace_only(manager: PluginManager) -> None:
    assert [t.name for t in manager.registry.exposed("lakehouse_bi")] == [
        "lakehouse_bi_query_semantic_context"
    ]
    beside = loaded(PluginSettings(enabled=["lakehouse_bi"], default_namespace="core"))
    assert beside.registry.exposed("core") == ()
    assert len(beside.extensions.parsers) == 2


def test_records_have_the_declared_fields(
    manager: PluginManager, example_documents: list[EnrichmentInput]
) -> None:
    declared = {
        kind.kind: {f.name: f.many for f in kind.fields}
        for kind in manager.record_kinds["lakehouse_bi"]
    }
    ((_, enricher),) = manager.extensions.enrichers
    records = [r for item in example_documents for r in enricher.enrich(item).records]
    assert {r.kind for r in records} == set(declared)
    for record in records:
        assert set(record.fields) == set(declared[record.kind])
        for name, value in record.fields.items():
            values = value if declared[record.kind][name] else [value]
            assert all(isinstance(v, str) for v in values), (record.kind, name)  # type: ignore[union-attr]


def test_importing_it_is_cheap() -> None:
    code = f"import sys, eagle_rag_lakehouse_bi; print([m for m in {HEAVY} if m in sys.modules])"
    assert in_a_new_process(code) == "[]"


def test_no_part_of_it_imports_a_database_driver() -> None:
    code = (
        "import sys, pkgutil, importlib, eagle_rag_lakehouse_bi as p; "
        "modules = pkgutil.walk_packages(p.__path__, p.__name__ + '.'); "
        "[importlib.import_module(m.name) for m in modules]; "
        f"print([m for m in {DRIVERS} if m in sys.modules])"
    )
    assert in_a_new_process(code) == "[]"


def test_its_distribution_has_the_entry_point_and_the_manifest_inside_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["entry-points"]["eagle_rag.packs"] == {
        "lakehouse_bi": "eagle_rag_lakehouse_bi:pack"
    }
    for name in ("eagle-pack.toml", "py.typed"):
        assert (ROOT / "eagle_rag_lakehouse_bi" / name).is_file()
