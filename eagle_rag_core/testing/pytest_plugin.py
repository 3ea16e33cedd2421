"""Fixtures for tests of a pack, in every pytest run of an environment that has the core.

Importing this imports nothing of the core; a fixture does when a test asks for it.
``-p no:eagle_rag`` leaves it out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

    from eagle_rag_core.plugins import PluginManager
    from eagle_rag_core.plugins.sources import PackSource
    from eagle_rag_core.testing import (
        Connect,
        HashingEmbedder,
        LoadPack,
        McpClient,
        OpenLibrary,
        PackLibrary,
        ScriptedModel,
        WriteBroken,
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "eagle_rag_pack",
        "Package of the eagle-rag-core pack under test; by default the one of pyproject.toml.",
        default="",
    )


@pytest.fixture(scope="session")
def eagle_rag_pack(pytestconfig: pytest.Config) -> ModuleType:
    """The package of the pack under test."""
    from eagle_rag_core.errors import PluginError
    from eagle_rag_core.testing.under_test import INI, package_under_test

    try:
        return package_under_test(pytestconfig.getini(INI), pytestconfig.rootpath)
    except PluginError as error:
        raise pytest.fail.Exception(error.message, pytrace=False) from None


@pytest.fixture
def pack_library(eagle_rag_pack: ModuleType, tmp_path: Path) -> Iterator[OpenLibrary]:
    """Opens libraries with the pack under test on the real engine."""
    from eagle_rag_core.testing.under_test import open_library

    numbers = count(1)
    with ExitStack() as opened:

        def open_(*beside: ModuleType | PackSource, **more: Any) -> PackLibrary:
            home = tmp_path / f"library-{next(numbers)}"
            return opened.enter_context(open_library(home, eagle_rag_pack, *beside, **more))

        yield open_


@pytest.fixture
def pack_harness(eagle_rag_pack: ModuleType) -> LoadPack:
    """Loads the pack under test by itself, to look at what it contributes."""
    from eagle_rag_core.testing.under_test import load_pack

    def load(**options: Any) -> PluginManager:
        return load_pack(eagle_rag_pack, options)

    return load


@pytest.fixture
def mcp_client() -> Iterator[Connect]:
    """Connects MCP clients to libraries."""
    from eagle_rag_core.testing.mcp_client import McpClient

    with ExitStack() as opened:

        def connect(library: PackLibrary) -> McpClient:
            return opened.enter_context(McpClient(library))

        yield connect


@pytest.fixture
def fake_embedder() -> HashingEmbedder:
    """A deterministic embedder for ``pack_library(embedder=…)``."""
    from eagle_rag_core.testing.fake_embedder import HashingEmbedder

    return HashingEmbedder()


@pytest.fixture
def fake_llm() -> Iterator[ScriptedModel]:
    """A scripted language model for ``pack_library(llm=…)``."""
    from eagle_rag_core.testing.fake_llm import ScriptedModel

    with ScriptedModel() as model:
        yield model


@pytest.fixture
def broken_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WriteBroken]:
    """Writes packs that do not work, for ``pack_library(broken_pack(…))``."""
    from eagle_rag_core.testing.broken_packs import write_broken

    numbers, packages = count(1), []

    def write(kind: str, namespace: str = "broken") -> PackSource:
        folder = tmp_path / f"broken-{next(numbers)}"
        source = write_broken(folder, kind, namespace)
        monkeypatch.syspath_prepend(folder)
        packages.append(source.package)
        return source

    yield write
    for package in filter(None, packages):
        sys.modules.pop(package, None)
