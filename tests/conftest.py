"""Fixtures of the tests that run the product as processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from databases import postgres_catalog as postgres_catalog
from databases import postgres_catalog_url as postgres_catalog_url
from e2e.product import Deployment
from e2e.servers import HttpServer, Launcher
from once import core_tools_are_described_once as core_tools_are_described_once
from once import new_catalogs_are_not_migrated as new_catalogs_are_not_migrated
from once import schema_of_a_new_catalog as schema_of_a_new_catalog
from servers import milvus_server as milvus_server
from servers import postgres_server as postgres_server
from servers import redis_server as redis_server
from servers import s3_server as s3_server

# Hundreds of processes import the same modules, which are compiled once, wherever this runs.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Leave out what takes long, unless all tests are asked for."""
    if os.environ.get("EAGLE_RAG_TEST_FULL") == "1":
        return
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(pytest.mark.skip(reason="only with EAGLE_RAG_TEST_FULL=1"))


@pytest.fixture(scope="session", autouse=True)
def no_programs_of_the_machine() -> None:
    """What this machine has must not decide what documents look like, and LibreOffice takes
    seconds. Tests of pages name the programs."""
    from eagle_rag_core.ingest.renditions import office, web

    office.PROGRAMS = web.PROGRAMS = ()  # type: ignore[misc]


@pytest.fixture
def deployment(tmp_path: Path) -> Deployment:
    """A home of its own, searched by words alone."""
    return Deployment(tmp_path / "home")


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[Launcher]:
    with Launcher(tmp_path) as launcher:
        yield launcher


@pytest.fixture(scope="module")
def shared_deployment(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """A home that the tests of one module share."""
    return Deployment(tmp_path_factory.mktemp("shared") / "home")


@pytest.fixture(scope="module")
def shared_launcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    """Ends its processes after the module's last test."""
    with Launcher(tmp_path_factory.mktemp("logs")) as launcher:
        yield launcher


@pytest.fixture(scope="module")
def otters(shared_deployment: Deployment, shared_launcher: Launcher) -> HttpServer:
    """A server over HTTP with one document, of which a client finds "urchins"."""
    (shared_deployment.inbox / "otters.md").write_text("# Otters\n\nSea otters eat urchins.\n")
    server = shared_launcher.http(shared_deployment, face="mcp")
    server.add("otters.md")
    return server
