"""The hand-written parts of the manuals: links, examples, lists that must be complete."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from code_blocks import marked_blocks
from reference_pages import DOCS, ROOT
from render_tools import core_specs

from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.plugins.manifest import parse_manifest
from eagle_rag_core.settings import load_settings

PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8"))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_every_error_code_is_explained_once() -> None:
    text = (DOCS / "errors.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert sorted(rows) == sorted(ErrorCode)


def test_the_example_file_is_a_valid_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (code,) = marked_blocks(DOCS / "configuration.md", "yaml")
    path = tmp_path / "eagle-rag.yaml"
    path.write_text(code, "utf-8")
    assert load_settings(config=path).home == tmp_path / "library"
    assert load_settings(config=path, profile="readers").mcp.read_only


def test_the_example_arguments_are_valid() -> None:
    (code,) = marked_blocks(DOCS / "tools.md", "json")
    (spec,) = (spec for spec in core_specs() if spec.name == "core_retrieve_text")
    arguments = json.loads(code)
    accepted = json.loads(json.dumps(spec.validate(arguments)))  # tuples become lists
    assert {name: accepted[name] for name in arguments} == arguments


def test_the_example_manifest_is_valid() -> None:
    (code,) = marked_blocks(DOCS / "manifest.md", "toml")
    assert parse_manifest(code).tool_names == ("standards_find_references",)


def test_everything_a_context_offers_is_explained() -> None:
    text = (DOCS / "hooks.md").read_text("utf-8")
    offered = {name for name in dir(PackContext) if not name.startswith("_")}
    assert {name for name in offered if f"| `ctx.{name}` |" not in text} == set()
