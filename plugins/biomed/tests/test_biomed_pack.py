"""The pack as the framework loads it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import eagle_rag_biomed
import pytest

from eagle_rag_core.plugins import PluginManager
from eagle_rag_core.plugins.sources import explicit_pack
from eagle_rag_core.settings.sections import PluginSettings
from eagle_rag_core.types import EnrichmentInput

ROOT = Path(__file__).parent.parent
#: Packages no import of the pack may bring with it.
HEAVY = ("fastmcp", "pymilvus", "llama_index", "numpy", "sqlalchemy", "onnxruntime")


def loaded(settings: PluginSettings) -> PluginManager:
    manifest = (files("eagle_rag_biomed") / "eagle-pack.toml").read_text(encoding="utf-8")
    source = explicit_pack(
        eagle_rag_biomed.pack, manifest, distribution="eagle-rag-biomed", version="0.1.0"
    )
    manager = PluginManager(settings, packs=[source])
    manager.load()
    return manager


@pytest.fixture
def manager() -> PluginManager:
    return loaded(PluginSettings(enabled=["biomed"], default_namespace="biomed"))


def test_it_registers_what_it_declares(manager: PluginManager) -> None:
    (record,) = manager.records
    assert record.active, record.reason
    assert record.tools == ("biomed_query_entities",)
    assert [kind.kind for kind in manager.record_kinds["biomed"]] == ["mention", "entity"]
    extensions = manager.extensions
    assert [name for name, _ in extensions.enrichers] == ["biomed"]
    assert [expander.name for expander in extensions.expanders] == ["biomed_synonyms"]
    (check,) = extensions.health
    assert check.check()[0] == "ok"


def test_its_tool_is_exposed_in_its_own_namespace_only(manager: PluginManager) -> None:
    assert [t.name for t in manager.registry.exposed("biomed")] == ["biomed_query_entities"]
    beside = loaded(PluginSettings(enabled=["biomed"], default_namespace="core"))
    assert beside.registry.exposed("core") == ()
    assert len(beside.extensions.enrichers) == 1


def test_records_have_the_declared_fields(
    manager: PluginManager, example_documents: list[EnrichmentInput]
) -> None:
    declared = {
        kind.kind: {f.name: (f.type, f.many) for f in kind.fields}
        for kind in manager.record_kinds["biomed"]
    }
    types = {"string": str, "integer": int}
    ((_, enricher),) = manager.extensions.enrichers
    records = [r for item in example_documents for r in enricher.enrich(item).records]
    assert {r.kind for r in records} == set(declared)
    for record in records:
        for name, value in record.fields.items():
            kind, many = declared[record.kind][name]
            values = value if many else [value]
            assert all(isinstance(v, types[kind]) for v in values), (record.kind, name)  # type: ignore[union-attr]


def test_importing_it_is_cheap() -> None:
    code = (
        "import sys, eagle_rag_biomed; "
        f"print([m for m in {HEAVY} if m in sys.modules], 'pydantic' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert ran.stdout.strip() == "[] False"


def test_its_distribution_has_the_entry_point_and_the_manifest_inside_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["entry-points"]["eagle_rag.packs"] == {
        "biomed": "eagle_rag_biomed:pack"
    }
    for name in ("eagle-pack.toml", "py.typed", "data/vocabulary.tsv"):
        assert (ROOT / "eagle_rag_biomed" / name).is_file()
