"""What a pack does to a process while it is imported and registered.

Runs in a fresh one: ``python -c "from …probe import main; main('package')"`` writes what it found
to stdout, as JSON in the last line.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from eagle_rag_core.plugins import PluginManager
from eagle_rag_core.plugins.discovery import discover
from eagle_rag_core.plugins.effects.permissions import Permissions
from eagle_rag_core.plugins.effects.watch import Watch, watching
from eagle_rag_core.plugins.mcp_registry import tool_definitions
from eagle_rag_core.settings.sections import PluginSettings
from eagle_rag_core.testing.library import pack_from

#: Packages that take long to import; a pack imports them where it first needs them.
HEAVY: Final = frozenset(
    """fastmcp llama_index mcp milvus_lite nltk onnxruntime pandas pymilvus scipy sklearn spacy
    sqlalchemy tensorflow torch transformers""".split()
)


def main(package: str, options: str = "{}") -> None:
    """Import and load the pack twice, and report.

    :param options: ``plugins.options.<namespace>`` as JSON.
    """
    found: dict[str, Any] = {}
    installed = discover().packs
    PluginManager(PluginSettings(), packs=installed).load()
    found["imported_unasked"] = package in sys.modules
    before, modules = _state(), set(sys.modules)
    watch = Watch(Permissions(package=package))
    with watching(watch):
        module = importlib.import_module(package)
    brought = {name.partition(".")[0] for name in set(sys.modules) - modules}
    found["heavy"] = sorted(brought & HEAVY)
    found["effects"] = [str(effect) for effect in watch.effects]
    first, second = _load(module, json.loads(options)), _load(module, json.loads(options))
    found["differs"] = [name for name in first if first[name] != second.get(name)]
    others = {pack.package for pack in installed} - {package, ""}
    found["other_packs"] = sorted(others & sys.modules.keys())
    after = _state()
    found["left"] = [what for what, value in after.items() if value != before[what]]
    sys.stdout.write(f"\n{json.dumps(found)}\n")


def _load(module: ModuleType, options: dict[str, Any]) -> dict[str, Any]:
    """Definitions of the tools and names of the parts that loading the pack gives."""
    source = pack_from(module)
    namespace = source.record.namespace
    settings = PluginSettings(
        enabled=[namespace], options={namespace: options} if options else {}, allow_degraded=True
    )
    manager = PluginManager(settings, packs=[source])
    manager.load()
    extensions = manager.extensions
    return {
        "state": str(manager.records[0].state),
        "tools": tool_definitions(manager.registry),
        "parts": [
            [part.name for part in parts]
            for parts in (extensions.parsers, extensions.legs, extensions.expanders)
        ],
        "enrichers": [(enricher.name, enricher.version) for _, enricher in extensions.enrichers],
    }


def _state() -> dict[str, Any]:
    """What a pack has no business to change."""
    root = logging.getLogger()
    return {
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "log handlers": [repr(handler) for handler in root.handlers],
        "log level": root.level,
        "sys.path": list(sys.path),
        "variables of the environment": sorted(os.environ.items()),
        "working folder": str(Path.cwd()),
        "handler of SIGTERM": repr(signal.getsignal(signal.SIGTERM)),
        "sys.excepthook": repr(sys.excepthook),
        "sys.stdout": repr(sys.stdout),
        "recursion limit": sys.getrecursionlimit(),
    }
