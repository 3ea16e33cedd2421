from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from catalog_samples import NAMESPACE

from eagle_rag_core.catalog.engine import Catalog


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty catalog, to be copied: migrating takes longer than most tests."""
    path = tmp_path_factory.mktemp("migrated") / "catalog.db"
    catalog = Catalog(f"sqlite:///{path}", namespace=NAMESPACE)
    catalog.migrate()
    catalog.close()
    return path


@pytest.fixture
def sqlite_catalog(migrated: Path, tmp_path: Path) -> Iterator[Catalog]:
    """An empty catalog in a file."""
    shutil.copy(migrated, tmp_path / "catalog.db")
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}", namespace=NAMESPACE)
    yield catalog
    catalog.close()


@pytest.fixture(params=["sqlite", "postgres"])
def catalog(request: pytest.FixtureRequest) -> Catalog:
    """On each database in turn."""
    found = request.getfixturevalue(f"{request.param}_catalog")
    assert isinstance(found, Catalog)
    return found
