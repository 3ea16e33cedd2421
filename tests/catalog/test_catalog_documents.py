from __future__ import annotations

import pytest
from catalog_samples import NAMESPACE, FakeClock, draft, publish
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from eagle_rag_core.catalog import documents, filters, ids, passages, records
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import chunks, metadata, versions
from eagle_rag_core.catalog.versions import delete_document
from eagle_rag_core.catalog.versions import publish as publish_version
from eagle_rag_core.errors import InvalidArgument, NotFound
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.types import (
    LOCAL,
    Caller,
    Condition,
    FilterOp,
    IngestRequest,
    JobStatus,
    NewRecord,
    Scope,
)

EVERYTHING = Scope(kbs=frozenset({"default"}))


def listed(catalog: Catalog, scope: Scope = EVERYTHING, *conditions: Condition) -> list[str]:
    with catalog.read() as conn:
        page, cursor = documents.list_documents(
            conn, NAMESPACE, scope, filters.matching(conditions), limit=100
        )
    assert cursor == ""
    return [info.source_uri for info in page]


def test_a_published_document_reads_back(catalog: Catalog) -> None:
    item = draft(
        tags=("b", "a", "b", " ", "c" * 200),
        metadata={"year": "2024", "n": 5},
        source_type="paper",
    )
    assert publish(catalog, item, clock=lambda: 0.0) == []
    with catalog.read() as conn:
        info = documents.get_document(conn, NAMESPACE, LOCAL, item.document.document_id)
        text = passages.document_text(conn, item.document.document_id)
        sections = passages.document_sections(conn, item.document.document_id)
        visible = documents.visible_version(conn, item.document.document_id)
    assert info.tags == ("a", "b", "c" * 128)
    assert info.metadata == {"year": "2024", "n": 5}
    assert (info.source_type, info.language, info.chunks) == ("paper", "en", 3)
    assert info.created_at == info.updated_at == "1970-01-01T00:00:00.000000Z"
    assert text == item.text
    assert sections == list(item.sections)
    assert visible == (item.document.version_id, item.content_hash, "pipeline")


def test_a_new_version_replaces_the_old_one_entirely(catalog: Catalog) -> None:
    record = ("pack", NewRecord("kind", {"field": "old"}))
    old = draft(text="Old.\n\nText.", tags=("old",), records=[record])
    new = draft(text="New text.", tags=("new",), title="New title")
    publish(catalog, old, clock=lambda: 1.0)
    assert publish(catalog, new, clock=lambda: 2.0) == [old.document.version_id]
    with catalog.read() as conn:
        info = documents.get_document(conn, NAMESPACE, LOCAL, new.document.document_id)
        assert passages.document_text(conn, new.document.document_id) == "New text."
        assert conn.scalars(select(versions.c.version_id)).all() == [new.document.version_id]
        assert conn.scalars(select(chunks.c.text)).all() == ["New text."]
        assert records.count(conn, NAMESPACE, "pack", "kind", scope=EVERYTHING) == 0
    assert (info.title, info.tags, info.chunks) == ("New title", ("new",), 1)
    assert (info.created_at[:19], info.updated_at[:19]) == (
        "1970-01-01T00:00:01",
        "1970-01-01T00:00:02",
    )


def test_the_same_version_can_be_published_again(catalog: Catalog) -> None:
    publish(catalog, draft(title="First"))
    assert publish(catalog, draft(title="Second")) == []
    with catalog.read() as conn:
        info = documents.get_document(conn, NAMESPACE, LOCAL, draft().document.document_id)
        assert conn.scalar(select(func.count()).select_from(chunks)) == 3
    assert info.title == "Second"


def test_going_back_to_an_old_content_works(catalog: Catalog) -> None:
    first, second = draft(text="One."), draft(text="Two.")
    publish(catalog, first)
    assert publish(catalog, second) == [first.document.version_id]
    assert publish(catalog, first) == [second.document.version_id]


def test_a_transaction_that_fails_publishes_nothing(catalog: Catalog) -> None:
    old, new = draft(text="Old."), draft(text="New.")
    publish(catalog, old)
    with pytest.raises(KeyError), catalog.write() as tx:
        publish_version(tx, NAMESPACE, new)
        raise KeyError
    with catalog.read() as conn:
        assert passages.document_text(conn, old.document.document_id) == "Old."


def test_what_no_database_can_hold_does_not_stop_a_document(catalog: Catalog) -> None:
    item = draft(title="bad \udcff name\0", tags=("\ud800",), metadata={"k\0": "v\udcff"})
    publish(catalog, item)
    with catalog.read() as conn:
        info = documents.get_document(conn, NAMESPACE, LOCAL, item.document.document_id)
    assert (info.title, info.tags, info.metadata) == ("bad ? name", ("?",), {"k": "v?"})


@pytest.mark.parametrize("document_id", ["", "0" * 32, "x", "\ud800", "'; DROP TABLE documents"])
def test_missing_and_forbidden_documents_read_alike(catalog: Catalog, document_id: str) -> None:
    item = draft(kb="secret")
    publish(catalog, item)
    caller = Caller("limited", kbs=frozenset({"default"}))
    with catalog.read() as conn:
        with pytest.raises(NotFound) as missing:
            documents.get_document(conn, NAMESPACE, caller, document_id)
        with pytest.raises(NotFound) as forbidden:
            documents.get_document(conn, NAMESPACE, caller, item.document.document_id)
        with pytest.raises(NotFound):
            documents.get_document(conn, "other", LOCAL, item.document.document_id)
    assert missing.value.code == forbidden.value.code
    assert forbidden.value.message.replace(
        repr(item.document.document_id), ""
    ) == missing.value.message.replace(repr(document_id), "")


def test_the_list_begins_with_the_last_change(catalog: Catalog) -> None:
    clock = FakeClock()
    for name in "abc":
        publish(catalog, draft(f"file:///{name}"), clock=clock)
    publish(catalog, draft("file:///b", text="Changed."), clock=clock)
    assert listed(catalog) == ["file:///b", "file:///c", "file:///a"]


def test_the_list_keeps_to_its_scope_and_filter(catalog: Catalog) -> None:
    inside, outside = draft("file:///1", kb="a"), draft("file:///2", kb="b")
    third = draft("file:///3", kb="b", tags=("t",))
    publish(catalog, inside, outside, third)
    assert set(listed(catalog, Scope(kbs=frozenset({"b"})))) == {"file:///2", "file:///3"}
    both = Scope(frozenset({"a"}), frozenset({third.document.document_id}))
    assert set(listed(catalog, both)) == {"file:///1", "file:///3"}
    assert listed(catalog, both, Condition("tags", FilterOp.EQ, "t")) == ["file:///3"]
    assert listed(catalog, Scope()) == []


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None
)
@given(limit=st.integers(1, 12), ties=st.lists(st.integers(0, 2), max_size=10))
def test_pages_show_every_document_once(catalog: Catalog, limit: int, ties: list[int]) -> None:
    """Also documents of the same instant."""
    with catalog.write() as tx:
        tx.execute(metadata.tables["documents"].delete())
    for number, time in enumerate(ties):
        publish(catalog, draft(f"file:///{number}"), clock=lambda time=time: float(time))
    seen: list[str] = []
    cursor = ""
    for _ in range(len(ties) + 1):
        with catalog.read() as conn:
            page, cursor = documents.list_documents(
                conn, NAMESPACE, EVERYTHING, limit=limit, cursor=cursor
            )
        assert len(page) <= limit
        seen += [info.source_uri for info in page]
        if not cursor:
            break
    assert sorted(seen) == sorted(f"file:///{number}" for number in range(len(ties)))


def test_a_foreign_cursor_is_refused(catalog: Catalog) -> None:
    with catalog.read() as conn, pytest.raises(InvalidArgument, match="cursor"):
        documents.list_documents(conn, NAMESPACE, EVERYTHING, limit=1, cursor="page2")


def test_a_deleted_document_is_gone_with_its_jobs(catalog: Catalog) -> None:
    item, other = draft("file:///1", tags=("t",)), draft("file:///2")
    publish(catalog, item, other)
    queue = JobQueue(catalog)
    request = IngestRequest("file:///1", "default")
    document_id = item.document.document_id
    job = queue.submit(request, document_id=document_id, caller_id="c", fingerprint="f")
    claim = queue.claim("worker", "f", 30)
    assert claim is not None
    with catalog.write() as tx:
        removed = delete_document(tx, NAMESPACE, LOCAL, document_id)
    assert removed[:2] == ([item.document.version_id], {item.content_hash})
    assert listed(catalog) == ["file:///2"]
    assert not queue.holds(claim)
    assert queue.get(LOCAL, job.job_id).status is JobStatus.CANCELLED
    with catalog.write() as tx, pytest.raises(NotFound):
        delete_document(tx, NAMESPACE, LOCAL, document_id)


def test_others_cannot_delete(catalog: Catalog) -> None:
    item = draft()
    publish(catalog, item)
    with catalog.write() as tx, pytest.raises(NotFound):
        delete_document(tx, NAMESPACE, Caller("x", kbs=frozenset()), item.document.document_id)
    assert listed(catalog) == ["file:///a.txt"]


def test_an_unknown_document_has_no_version(catalog: Catalog) -> None:
    with catalog.read() as conn:
        assert documents.visible_version(conn, ids.document_id("core", "default", "x")) is None
        assert passages.document_text(conn, "unknown") is None
        assert passages.document_sections(conn, "unknown") == []
