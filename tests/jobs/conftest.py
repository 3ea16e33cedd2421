from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from eagle_rag_core.catalog.engine import Catalog


class FakeClock:
    """Seconds since the epoch, moved by the test."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(scope="session")
def migrated_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty catalog, to be copied: migrating takes longer than most tests."""
    path = tmp_path_factory.mktemp("migrated") / "catalog.db"
    catalog = Catalog(f"sqlite:///{path}", namespace="core")
    catalog.migrate()
    catalog.close()
    return path


@pytest.fixture
def sqlite_catalog(migrated_home: Path, tmp_path: Path) -> Iterator[Catalog]:
    """An empty catalog in a file."""
    shutil.copy(migrated_home, tmp_path / "catalog.db")
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}", namespace="core")
    yield catalog
    catalog.close()


@pytest.fixture(params=["sqlite", "postgres"])
def catalog(request: pytest.FixtureRequest) -> Catalog:
    """On each database in turn."""
    found = request.getfixturevalue(f"{request.param}_catalog")
    assert isinstance(found, Catalog)
    return found
