"""Apps for tests of the REST face."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rest_client import RestClient


@pytest.fixture
def rest(tmp_path: Path) -> Iterator[RestClient]:
    """An app with an empty library."""
    client = RestClient(tmp_path / "home")
    yield client
    client.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestClient]:
    """An app that the tests of one module share."""
    client = RestClient(tmp_path_factory.mktemp("rest") / "home")
    yield client
    client.close()
