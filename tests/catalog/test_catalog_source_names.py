"""What is shown of a source and what the database compares with are the same."""

from __future__ import annotations

import pytest
from catalog_samples import NAMESPACE, draft, publish
from sqlalchemy import select

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import documents
from eagle_rag_core.catalog.source_names import SourceNames
from eagle_rag_core.types import LOCAL, Caller

REMOTE = Caller("remote")
NAMES = SourceNames(("file:///srv/in", "file:///srv/in/deep/", "file:///srv/%E3%83%86%25_"))
SHOWN = {
    "file:///srv/in/a.md": "a.md",
    "file:///srv/in/sub/a.md": "sub/a.md",
    "file:///srv/in/deep/b.md": "b.md",
    "file:///srv/in/deeper/b.md": "deeper/b.md",
    "file:///srv/inner/c.md": "c.md",
    "file:///SRV/in/d.md": "d.md",
    "file:///srv/%E3%83%86%25_/x/e.md": "x/e.md",
    "file:///srv/%E3%83%86%25X/x/f.md": "f.md",
    "file:///g": "g",
    "file:///aa/a": "a",
    "https://example.org/srv/in/h.md": "https://example.org/srv/in/h.md",
    "s3://bucket/in/i.md": "s3://bucket/in/i.md",
    "upload:j.md": "upload:j.md",
}


@pytest.mark.parametrize("uri", SHOWN)
def test_others_are_shown_no_folder_of_this_machine(uri: str) -> None:
    assert NAMES.shown(REMOTE, uri) == SHOWN[uri]
    assert NAMES.shown(LOCAL, uri) == uri


def test_the_database_says_the_same(catalog: Catalog) -> None:
    publish(catalog, *(draft(uri) for uri in SHOWN))
    with catalog.read() as conn:
        for caller in (REMOTE, LOCAL):
            query = select(documents.c.source_uri, NAMES.column(caller)).where(
                documents.c.namespace == NAMESPACE
            )
            rows = dict(conn.execute(query).all())
            assert rows == {uri: NAMES.shown(caller, uri) for uri in SHOWN}


def test_a_catalog_that_knows_no_folders_shows_bare_names(catalog: Catalog) -> None:
    assert catalog.names.shown(REMOTE, "file:///srv/in/a.md") == "a.md"
