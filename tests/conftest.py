"""Fixtures of the tests that run the product as processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.product import Deployment
from e2e.servers import HttpServer, Launcher


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
