"""The plugin framework: discover, check, load and expose domain packs.

Names are imported on first use, so that listing packs does not pay for what serving needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eagle_rag_core.plugins.context import PackContext
    from eagle_rag_core.plugins.deprecations import PackApiWarning
    from eagle_rag_core.plugins.guard import assert_rag_only_tool_name
    from eagle_rag_core.plugins.hookspecs import hookimpl
    from eagle_rag_core.plugins.manager import PluginManager
    from eagle_rag_core.plugins.manifest import PackManifest
    from eagle_rag_core.plugins.mcp_registry import ToolRegistry, register_mcp_tool
    from eagle_rag_core.plugins.sources import explicit_pack
    from eagle_rag_core.plugins.specs import ToolSpec
    from eagle_rag_core.plugins.states import PackRecord

__all__ = [
    "PackApiWarning",
    "PackContext",
    "PackManifest",
    "PackRecord",
    "PluginManager",
    "ToolRegistry",
    "ToolSpec",
    "assert_rag_only_tool_name",
    "explicit_pack",
    "hookimpl",
    "register_mcp_tool",
]

_HOME = {
    "PackApiWarning": "deprecations",
    "PackContext": "context",
    "PackManifest": "manifest",
    "PackRecord": "states",
    "PluginManager": "manager",
    "ToolRegistry": "mcp_registry",
    "ToolSpec": "specs",
    "assert_rag_only_tool_name": "guard",
    "explicit_pack": "sources",
    "hookimpl": "hookspecs",
    "register_mcp_tool": "mcp_registry",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
