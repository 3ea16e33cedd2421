"""Catalogs on PostgreSQL for tests: one database that is emptied before each of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from servers import PostgresServer

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import metadata


@pytest.fixture(scope="session")
def postgres_catalog_url(postgres_server: PostgresServer) -> str:
    """A migrated database that tests share one after the other: making one takes longer than
    most of them."""
    url = postgres_server.url(postgres_server.new_database())
    catalog = Catalog(url, namespace="core")
    catalog.migrate()
    catalog.close()
    return url


@pytest.fixture
def postgres_catalog(postgres_catalog_url: str) -> Iterator[Catalog]:
    """An empty catalog on PostgreSQL."""
    catalog = Catalog(postgres_catalog_url, namespace="core")
    with catalog.write() as tx:
        for table in reversed(metadata.sorted_tables):
            tx.execute(table.delete())
    yield catalog
    catalog.close()
