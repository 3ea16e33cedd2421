"""For authors of packs: tests against the real engine, at the cost of a fake.

Names are imported on first use: the fixtures of
:mod:`eagle_rag_core.testing.pytest_plugin` cost a test run nothing that does not ask for them, and
only :class:`PackConformance` imports pytest. Packs written to a folder as installers write them
are in :mod:`eagle_rag_core.testing.fake_distributions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eagle_rag_core.testing.broken_packs import WriteBroken
    from eagle_rag_core.testing.conformance import PackConformance
    from eagle_rag_core.testing.documents import enrichment_input
    from eagle_rag_core.testing.fake_embedder import HashingEmbedder
    from eagle_rag_core.testing.fake_llm import ScriptedModel
    from eagle_rag_core.testing.library import CallFailed, PackLibrary, pack_from
    from eagle_rag_core.testing.mcp_client import Connect, McpClient
    from eagle_rag_core.testing.processes import imported_modules, run_python
    from eagle_rag_core.testing.under_test import LoadPack, OpenLibrary

__all__ = [
    "CallFailed",
    "Connect",
    "HashingEmbedder",
    "LoadPack",
    "McpClient",
    "OpenLibrary",
    "PackConformance",
    "PackLibrary",
    "ScriptedModel",
    "WriteBroken",
    "enrichment_input",
    "imported_modules",
    "pack_from",
    "run_python",
]

_HOME = {
    "CallFailed": "library",
    "Connect": "mcp_client",
    "HashingEmbedder": "fake_embedder",
    "LoadPack": "under_test",
    "McpClient": "mcp_client",
    "OpenLibrary": "under_test",
    "PackConformance": "conformance",
    "PackLibrary": "library",
    "ScriptedModel": "fake_llm",
    "WriteBroken": "broken_packs",
    "enrichment_input": "documents",
    "imported_modules": "processes",
    "pack_from": "library",
    "run_python": "processes",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
