"""Originals outlive neither their last document nor go before it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from eagle_rag_core.blobs.store import BlobStore
from eagle_rag_core.catalog import ids, versions
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import ErrorCode, FetchError
from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.types import LOCAL, DocumentInfo, Section

DATA = b"Otters eat."
HASH = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}", namespace="core")
    catalog.migrate()
    yield catalog
    catalog.close()


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "blobs")


@pytest.fixture
def originals(catalog: Catalog, blobs: BlobStore) -> Originals:
    return Originals(catalog, blobs)


def publish(catalog: Catalog, uri: str) -> str:
    document_id = ids.document_id("core", "a", uri)
    info = DocumentInfo(
        document_id=document_id,
        kb_name="a",
        source_uri=uri,
        source_type="",
        title="",
        language="",
        media_type="",
        tags=(),
        metadata={},
        version_id=ids.version_id(document_id, HASH, "p"),
        chunks=0,
        created_at="",
        updated_at="",
    )
    section = Section(0, -1, 0, "", "", 0, 0, 0)
    draft = versions.VersionDraft(info, HASH, "p", len(DATA), "", [section], [])
    with catalog.write() as tx:
        versions.publish(tx, "core", draft)
    return document_id


def delete(catalog: Catalog, document_id: str) -> versions.Removed:
    with catalog.write() as tx:
        return versions.delete_document(tx, "core", LOCAL, document_id)


def test_the_last_document_takes_the_original_with_it(
    catalog: Catalog, originals: Originals, blobs: BlobStore
) -> None:
    originals.keep(HASH, DATA)
    first, second = publish(catalog, "file:///1"), publish(catalog, "file:///2")
    originals.discard(delete(catalog, first).content_hashes)
    assert originals.read(HASH) == DATA
    originals.discard(delete(catalog, second).content_hashes)
    assert not blobs.exists(HASH)
    originals.discard([HASH])  # somebody else was quicker


def test_an_ingest_that_relied_on_the_file_of_a_deleted_document_puts_it_back(
    catalog: Catalog, originals: Originals, blobs: BlobStore
) -> None:
    originals.keep(HASH, DATA)
    removed = delete(catalog, publish(catalog, "file:///1"))
    originals.keep(HASH, DATA)  # the ingest of another file finds it in place
    originals.discard(removed.content_hashes)
    assert not blobs.exists(HASH)
    publish(catalog, "file:///2")
    originals.ensure(HASH, DATA)
    assert originals.read(HASH) == DATA


def test_a_document_published_before_the_file_went_keeps_it(
    catalog: Catalog, originals: Originals
) -> None:
    originals.keep(HASH, DATA)
    removed = delete(catalog, publish(catalog, "file:///1"))
    publish(catalog, "file:///2")
    originals.discard(removed.content_hashes)
    assert originals.read(HASH) == DATA


def test_nothing_is_put_back_that_nobody_needs(originals: Originals, blobs: BlobStore) -> None:
    originals.ensure(HASH, DATA)
    assert not blobs.exists(HASH)


def test_a_missing_original_is_a_reason_not_to_try_again(originals: Originals) -> None:
    with pytest.raises(FetchError) as caught:
        originals.read(HASH)
    assert caught.value.code is ErrorCode.SOURCE_NOT_FOUND
    assert not caught.value.retryable


def test_what_cannot_be_removed_is_left_to_an_audit(
    catalog: Catalog,
    originals: Originals,
    blobs: BlobStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    originals.keep(HASH, DATA)
    removed = delete(catalog, publish(catalog, "file:///1"))
    monkeypatch.setattr("fsspec.implementations.local.LocalFileSystem.rm_file", _refuse)
    originals.discard(removed.content_hashes)
    assert "doctor --repair" in caplog.text
    assert [file.name for file in blobs.stored()] == [HASH]


def _refuse(*_: object) -> None:
    raise PermissionError
