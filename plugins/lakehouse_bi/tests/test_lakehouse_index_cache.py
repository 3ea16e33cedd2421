"""The indexes kept in memory: whose they are, when they are made anew, and how many."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import eagle_rag_lakehouse_bi
from eagle_rag_core.service.pack_access import ScopedRecords
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import LOCAL, acting_for
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope
from eagle_rag_lakehouse_bi.retrieval import cache
from eagle_rag_lakehouse_bi.retrieval.cache import IndexCache
from eagle_rag_lakehouse_bi.retrieval.index import CatalogIndex
from eagle_rag_lakehouse_bi.retrieval.parts import DocumentPart


class Records(ScopedRecords):
    """Counts what is read besides the list of files."""

    reads = 0

    def find(self, kind: str, *args: Any, **options: Any) -> Any:
        self.reads += kind != "source"
        return super().find(kind, *args, **options)


class Context:
    def __init__(self, library: PackLibrary) -> None:
        self.records = Records(library.app.engine().catalog, "lakehouse_bi")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackLibrary]:
    """Two knowledge bases with a catalog each."""
    with PackLibrary(tmp_path_factory.mktemp("two"), eagle_rag_lakehouse_bi) as library:
        library.ingest_text("CREATE TABLE parcel (id int, weight int);", "one.sql", kb_name="one")
        library.ingest_text("CREATE TABLE letter (id int, stamp text);", "other.sql", kb_name="two")
        yield library


def tables(index: CatalogIndex) -> set[str]:
    return {table.key.id for table in index.tables}


def reader(context: Context, kb_name: str = "", documents: Sequence[str] = ()) -> CatalogReader:
    return CatalogReader(context, Scope(kb_name, tuple(documents)))  # type: ignore[arg-type]


def test_an_index_holds_what_its_reader_sees_and_nothing_else(two: PackLibrary) -> None:
    context, indexes = Context(two), IndexCache()
    with acting_for(LOCAL):
        assert tables(indexes.index(reader(context))) == {"parcel", "letter"}
        assert tables(indexes.index(reader(context, "one"))) == {"parcel"}
        assert tables(indexes.index(reader(context, "two"))) == {"letter"}
        whole = indexes.index(reader(context))
        document = next(t.key.document_id for t in whole.tables if t.key.id == "parcel")
        assert tables(indexes.index(reader(context, "", [document]))) == {"parcel"}
        assert tables(indexes.index(reader(context, "two", [document]))) == set()


def test_callers_who_see_the_same_share_an_index(two: PackLibrary) -> None:
    context, indexes = Context(two), IndexCache()
    with acting_for(LOCAL):
        first = indexes.index(reader(context, "one"))
        context.records.reads = 0
        assert indexes.index(reader(context, "one")) is first
        assert context.records.reads == 0


def test_an_index_is_made_once_for_many_threads(
    two: PackLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, indexes, made = Context(two), IndexCache(), []
    start = threading.Barrier(4)

    def counted(parts: Sequence[DocumentPart]) -> CatalogIndex:
        made.append(1)
        return CatalogIndex(parts)

    monkeypatch.setattr(cache, "CatalogIndex", counted)

    def ask() -> CatalogIndex:
        with acting_for(LOCAL):
            start.wait()
            return indexes.index(reader(context))

    with ThreadPoolExecutor(4) as pool:
        answers = [future.result() for future in [pool.submit(ask) for _ in range(4)]]
    assert len(made) == 1 and len({id(answer) for answer in answers}) == 1


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    with PackLibrary(tmp_path, eagle_rag_lakehouse_bi) as library, acting_for(LOCAL):
        library.ingest_text("CREATE TABLE parcel (id int);", "one.sql")
        library.ingest_text("CREATE TABLE letter (id int);", "other.sql")
        context, indexes = Context(library), IndexCache()
        indexes.index(reader(context))
        parts = dict(indexes._parts._kept)
        library.ingest_text("CREATE TABLE parcel (id int); CREATE TABLE depot (id int);", "one.sql")
        assert tables(indexes.index(reader(context))) == {"parcel", "letter", "depot"}
        kept = indexes._parts._kept
        assert len(kept.keys() & parts.keys()) == 2 and len(kept) == 3
        same = [key for key, value in kept.items() if parts.get(key) is value]
        assert len(same) == 2


def test_what_was_not_used_for_long_is_dropped(two: PackLibrary) -> None:
    context, indexes = Context(two), IndexCache(kept=5)
    with acting_for(LOCAL):
        one = indexes.index(reader(context, "one"))
        indexes.index(reader(context, "two"))
        assert indexes.index(reader(context, "one")) is not one
    assert len(indexes._indexes._kept) == 1


def test_a_document_replaced_while_it_is_read_is_not_kept(
    two: PackLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, indexes = Context(two), IndexCache()
    with acting_for(LOCAL):
        own = reader(context, "one")
        sources = own.sources()
        gone = iter([sources, []])
        monkeypatch.setattr(CatalogReader, "sources", lambda self: next(gone, sources))
        assert tables(indexes.index(own)) == {"parcel"}
    assert not indexes._parts._kept
