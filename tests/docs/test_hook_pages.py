"""One page per hook; its example is a pack that works."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from code_blocks import code_blocks, marked_blocks
from reference_pages import DOCS
from render_packs import TYPES

from eagle_rag_core import plugins, testing
from eagle_rag_core.plugins import explicit_pack, hookspecs
from eagle_rag_core.plugins.context import PackContext, RecordsReader, SearchReader
from eagle_rag_core.plugins.hooks import HOOKS
from eagle_rag_core.plugins.hookspecs import PACK_API_VERSION
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import LOCAL, Record, ScopeRequest

MANIFEST = 'schema = 1\n[pack]\nnamespace = "standards"\ntitle = "Standards"\napi = ">=1.0,<2"'
TEXT = "# Transport\n\nServers follow RFC 8446 on TLS.\n\n# Words\n\nMUST is a word of RFC 2119.\n"


def tools(library: PackLibrary) -> None:
    assert library.call("standards_describe_number", number=8) == {"number": 8, "kind": "early"}


def parsers(library: PackLibrary) -> None:
    library.ingest_text("OPENING\nThe chair welcomes us.\n", "of the board.minutes")
    (hit,) = library.call("core_retrieve_text", query="chair")
    assert hit["metadata"]["path"] == "Opening"


def enrichers(library: PackLibrary) -> None:
    library.ingest_text(TEXT)
    assert {record.fields["number"] for record in library.records("reference")} == {8446, 2119}


def embedders(library: PackLibrary) -> None:
    assert library.app.engine().embedder.embedder.name == "standards_hashing"
    library.ingest_text(TEXT)
    assert library.call("core_retrieve_text", query="servers")


def collections(library: PackLibrary) -> None:
    library.ingest_text(TEXT)
    search = library.app.services().search.search
    found = search(LOCAL, "obligations", top_k=5, request=ScopeRequest())
    assert [(hit.path, hit.why) for hit in found.hits] == [("Words", {"standards_normative": 1})]


def retrievers(library: PackLibrary) -> None:
    library.ingest_text(TEXT)
    (found,) = library.call("core_query", query="RFC 2119")["sources"]
    assert "MUST" in found["text"]


def query_expanders(library: PackLibrary) -> None:
    library.ingest_text("The transport layer security of this service is up to date.")
    assert library.call("core_retrieve_text", query="TLS")


def rerankers(library: PackLibrary) -> None:
    library.ingest_text(TEXT)
    found = library.call("core_retrieve_text", query="RFC word server")
    assert [hit["metadata"]["path"] for hit in found] == ["Words", "Transport"]


def health(library: PackLibrary) -> None:
    assert library.app.engine().packs.report() == {
        "standards_registry": {"status": "ok", "detail": "2 RFC numbers are known"}
    }


CHECKS: dict[str, tuple[Callable[[PackLibrary], None], dict[str, str]]] = {
    "register_tools": (tools, {}),
    "register_parsers": (parsers, {}),
    "register_enrichers": (enrichers, {}),
    "register_embedders": (embedders, {"text_embedder": "standards_hashing"}),
    "register_collections": (collections, {}),
    "register_retrievers": (retrievers, {}),
    "register_query_expanders": (query_expanders, {}),
    "register_rerankers": (rerankers, {"reranker": "standards_newest"}),
    "register_health": (health, {}),
}


@pytest.mark.parametrize("hook", HOOKS)
def test_the_example_of_a_hook_works(hook: str, tmp_path: Path) -> None:
    check, models = CHECKS[hook]
    page = DOCS / "hooks" / f"{hook}.md"
    (code,) = marked_blocks(page, "python")
    manifests = [block.code for block in code_blocks(page) if block.language == "toml"]
    module = ModuleType("example")
    exec(compile(code, page.name, "exec"), vars(module))
    assert hasattr(module, hook)
    pack = explicit_pack(module, manifests[0] if manifests else MANIFEST)
    with PackLibrary(tmp_path, pack, settings={"models": models}) as library:
        check(library)


def test_the_contract_of_the_hooks_is_what_was_published() -> None:
    """A changed signature, a removed hook or type breaks packs: see docs/versioning.md."""
    published = Path(__file__).with_name(f"pack_api_{PACK_API_VERSION}.txt")
    assert contract() == published.read_text("utf-8")


def test_a_minor_version_takes_nothing_away() -> None:
    """Every name of an earlier version with the same major number is still there."""
    major = PACK_API_VERSION.partition(".")[0]
    now = {_name(line) for line in contract().splitlines()}
    for published in Path(__file__).parent.glob(f"pack_api_{major}.*.txt"):
        before = {_name(line) for line in published.read_text("utf-8").splitlines()}
        assert before - now == set(), published.name


def _name(line: str) -> str:
    return line.partition("(")[0]


def contract() -> str:
    """The names and signatures that packs rely on, one a line."""
    lines = [f"hook {name}{inspect.signature(getattr(hookspecs, name))}" for name in HOOKS]
    for owner in (PackContext, RecordsReader, SearchReader):
        for name, member in sorted(vars(owner).items()):
            if name.startswith("_") or name == "bind":
                continue
            signature = inspect.signature(member) if inspect.isfunction(member) else ""
            lines.append(f"{owner.__name__}.{name}{signature}")
    for item in (*TYPES, Record):
        if dataclasses.is_dataclass(item):
            fields = ", ".join(f"{field.name}: {field.type}" for field in dataclasses.fields(item))
            lines.append(f"type {item.__name__}({fields})")
    for package in (plugins, testing):
        lines += [f"name {package.__name__}.{name}" for name in sorted(package.__all__)]
    return "\n".join(lines) + "\n"
