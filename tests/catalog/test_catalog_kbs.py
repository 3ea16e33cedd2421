from __future__ import annotations

import pytest
from catalog_samples import NAMESPACE, FakeClock, draft, publish
from sqlalchemy import func, select

from eagle_rag_core.catalog import documents, ids, kb_changes, kbs, records, versions
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import metadata
from eagle_rag_core.errors import ErrorCode, InvalidArgument, NotFound
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.types import LOCAL, Caller, IngestRequest, JobStatus, NewRecord, Scope

LIMITED = Caller("limited", kbs=frozenset({"a", "absent"}))


def test_a_knowledge_base_is_created_once(catalog: Catalog) -> None:
    with catalog.write() as tx:
        assert kbs.ensure_kb(tx, NAMESPACE, "a")
        assert not kbs.ensure_kb(tx, NAMESPACE, "a")
        assert kbs.kb_exists(tx, NAMESPACE, "a")
        assert not kbs.kb_exists(tx, "other", "a")
        with pytest.raises(InvalidArgument):
            kbs.ensure_kb(tx, NAMESPACE, "No!")


def test_the_list_counts_what_is_inside(catalog: Catalog) -> None:
    clock = FakeClock()
    publish(
        catalog,
        draft("file:///1", kb="b", text="One.\n\nTwo.", language="en"),
        draft("file:///2", kb="b", text="Drei.", language="de"),
        draft("file:///3", kb="b", text="?", language=""),
        clock=clock,
    )
    last = ids.now_iso(lambda: clock.now)
    with catalog.write() as tx:
        kbs.ensure_kb(tx, NAMESPACE, "a", clock=lambda: 0.0)
        kbs.ensure_kb(tx, "other", "c")
    with catalog.read() as conn:
        empty, full = kbs.list_kbs(conn, NAMESPACE, LOCAL)
    assert empty == kbs.KbInfo("a", "", 0, 0, (), "1970-01-01T00:00:00.000000Z")
    assert (full.name, full.documents, full.chunks) == ("b", 3, 4)
    assert full.languages == ("de", "en")
    assert "2023-11-14T22:13:20" < full.updated_at <= last


def test_callers_see_only_their_own(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for name in ("a", "b"):
            kbs.ensure_kb(tx, NAMESPACE, name)
    with catalog.read() as conn:
        assert [kb.name for kb in kbs.list_kbs(conn, NAMESPACE, LIMITED)] == ["a"]
        assert kbs.readable_kbs(conn, NAMESPACE, LIMITED) == {"a"}
        assert kbs.readable_kbs(conn, NAMESPACE, LOCAL) == {"a", "b"}


@pytest.mark.parametrize("name", ["b", "absent", "never-heard-of", "Not A Name", "x\n", "\ud800"])
def test_forbidden_and_missing_read_alike(catalog: Catalog, name: str) -> None:
    with catalog.write() as tx:
        kbs.ensure_kb(tx, NAMESPACE, "a")
        kbs.ensure_kb(tx, NAMESPACE, "b")
    with catalog.read() as conn:
        assert kbs.check_readable(conn, NAMESPACE, LIMITED, "a") == "a"
        with pytest.raises(NotFound) as caught:
            kbs.check_readable(conn, NAMESPACE, LIMITED, name)
        with pytest.raises(NotFound) as other:
            kbs.check_readable(conn, NAMESPACE, LIMITED, "zzz")
    assert caught.value.code is ErrorCode.KB_NOT_FOUND
    assert caught.value.message == other.value.message.replace(repr("zzz"), repr(name))


def test_every_change_of_content_raises_the_epoch(catalog: Catalog) -> None:
    def epoch() -> int:
        with catalog.read() as conn:
            return kbs.epochs(conn, NAMESPACE, LOCAL)["a"]

    first = draft("file:///1", kb="a")
    publish(catalog, first)
    seen = [epoch()]
    publish(catalog, draft("file:///1", kb="a", text="Changed."))
    seen.append(epoch())
    publish(catalog, draft("file:///2", kb="other"))
    assert epoch() == seen[-1]
    with catalog.write() as tx:
        versions.delete_document(tx, NAMESPACE, LOCAL, first.document.document_id)
    seen.append(epoch())
    assert seen == sorted(set(seen))


def test_a_caller_learns_no_epoch_of_others_knowledge_bases(catalog: Catalog) -> None:
    with catalog.write() as tx:
        kbs.ensure_kb(tx, NAMESPACE, "a")
        kbs.ensure_kb(tx, NAMESPACE, "b")
    with catalog.read() as conn:
        assert set(kbs.epochs(conn, NAMESPACE, LOCAL)) == {"a", "b"}
        assert set(kbs.epochs(conn, NAMESPACE, LIMITED)) == {"a"}


def test_a_new_knowledge_base_never_meets_the_epoch_of_its_predecessor(catalog: Catalog) -> None:
    seen = set()
    for _ in range(3):
        with catalog.write() as tx:
            kbs.ensure_kb(tx, NAMESPACE, "a")
            seen.add(kbs.epochs(tx, NAMESPACE, LOCAL)["a"])
            kb_changes.set_aside(tx, NAMESPACE, "a")
    assert len(seen) == 3


def test_a_renamed_knowledge_base_keeps_its_documents(catalog: Catalog) -> None:
    record = ("pack", NewRecord("kind", {"field": "value"}))
    item = draft("file:///1", kb="a", records=[record])
    publish(catalog, item)
    queue = JobQueue(catalog)
    waiting = queue.submit(
        IngestRequest("file:///2", "a"), document_id="0" * 32, caller_id="c", fingerprint="f"
    )
    running = queue.claim("worker", "f", 30)
    assert running is not None
    with catalog.write() as tx:
        kb_changes.rename_kb(tx, NAMESPACE, "a", "b")
        assert not kbs.kb_exists(tx, NAMESPACE, "a")
        found = documents.get_document(tx, NAMESPACE, LOCAL, item.document.document_id)
        assert found.kb_name == "b"
        scope = Scope(kbs=frozenset({"b"}))
        assert records.count(tx, NAMESPACE, "pack", "kind", scope=scope) == 1
        assert kbs.seeds(tx, NAMESPACE, ["b"]) == {"b": "a"}
    assert not queue.holds(running)
    job = queue.get(LOCAL, waiting.job_id)
    assert (job.status, job.kb_name, job.attempts) == (JobStatus.QUEUED, "b", 0)
    again = queue.claim("worker", "f", 30)
    assert again is not None
    assert (again.kb_name, again.request.kb_name) == ("b", "b")


def test_a_new_knowledge_base_under_a_freed_name_gets_other_ids(catalog: Catalog) -> None:
    with catalog.write() as tx:
        kbs.ensure_kb(tx, NAMESPACE, "a")
        kb_changes.rename_kb(tx, NAMESPACE, "a", "b")
        assert kbs.ensure_kb(tx, NAMESPACE, "a")
        kb_changes.set_aside(tx, NAMESPACE, "a")
        assert kbs.ensure_kb(tx, NAMESPACE, "a")
        assert not kbs.ensure_kb(tx, NAMESPACE, "a")
        found = kbs.seeds(tx, NAMESPACE, ["a", "b"])
    assert found["b"] == "a"
    assert found["a"] not in ("a", "b")


def test_a_free_name_has_the_seed_it_would_get(catalog: Catalog) -> None:
    with catalog.write() as tx:
        assert kbs.seed(tx, NAMESPACE, "a") == "a"
        for taker in ("b", "c"):
            foretold = kbs.seed(tx, NAMESPACE, "a")
            kbs.ensure_kb(tx, NAMESPACE, "a")
            assert kbs.seed(tx, NAMESPACE, "a") == foretold
            kb_changes.rename_kb(tx, NAMESPACE, "a", taker)
        assert len(set(kbs.seeds(tx, NAMESPACE, ["a", "b", "c"]).values())) == 3


@pytest.mark.parametrize(
    ("name", "new_name", "error"),
    [("absent", "c", NotFound), ("a", "b", InvalidArgument), ("a", "No!", InvalidArgument)],
)
def test_what_cannot_be_renamed_stays(
    catalog: Catalog, name: str, new_name: str, error: type[Exception]
) -> None:
    with catalog.write() as tx:
        kbs.ensure_kb(tx, NAMESPACE, "a")
        kbs.ensure_kb(tx, NAMESPACE, "b")
    with pytest.raises(error), catalog.write() as tx:
        kb_changes.rename_kb(tx, NAMESPACE, name, new_name)
    with catalog.read() as conn:
        assert kbs.readable_kbs(conn, NAMESPACE, LOCAL) == {"a", "b"}


def test_texts_about_a_knowledge_base_change_one_by_one(catalog: Catalog) -> None:
    with catalog.write() as tx:
        kbs.ensure_kb(tx, NAMESPACE, "a", title="A", description="About a.")
        kb_changes.describe_kb(tx, NAMESPACE, "a", title="Alpha")
        kb_changes.describe_kb(tx, NAMESPACE, "a")
    with catalog.read() as conn:
        stats = kbs.kb_stats(conn, NAMESPACE, LOCAL, "a")
        assert (stats.info.title, stats.info.description) == ("Alpha", "About a.")
        with pytest.raises(NotFound):
            kbs.kb_stats(conn, NAMESPACE, LIMITED, "b")


def test_stats_count_originals_and_jobs(catalog: Catalog) -> None:
    publish(catalog, draft("file:///1", kb="a", text="12345"), draft("file:///2", kb="a", text="6"))
    queue = JobQueue(catalog)
    for kb, times in (("a", 2), ("b", 1)):
        for _ in range(times):
            queue.submit(
                IngestRequest("file:///3", kb), document_id="0" * 32, caller_id="c", fingerprint="f"
            )
    with catalog.read() as conn:
        stats = kbs.kb_stats(conn, NAMESPACE, LOCAL, "a")
    assert (stats.bytes, stats.jobs_pending, stats.info.documents) == (6, 2, 2)


def test_other_namespaces_are_counted(catalog: Catalog) -> None:
    with catalog.write() as tx:
        kbs.ensure_kb(tx, NAMESPACE, "a")
        kbs.ensure_kb(tx, "empty", "a")
        versions.publish(tx, "biomed", draft("file:///1", namespace="biomed"))
        versions.publish(tx, "biomed", draft("file:///2", namespace="biomed"))
    with catalog.read() as conn:
        assert kbs.other_namespaces(conn, NAMESPACE) == {"biomed": 2, "empty": 0}
        assert kbs.other_namespaces(conn, "biomed") == {"core": 0, "empty": 0}


def test_deleting_takes_everything_inside_and_nothing_else(catalog: Catalog) -> None:
    record = ("pack", NewRecord("kind", {"field": "value"}))
    gone = draft("file:///1", kb="gone", tags=("t",), records=[record])
    stays = draft("file:///1", kb="stays", tags=("t",), records=[record])
    publish(catalog, gone)
    with catalog.read() as conn:
        one_each = counts(conn)
    publish(catalog, stays)
    queue = JobQueue(catalog)
    request = IngestRequest("file:///2", "gone")
    job = queue.submit(request, document_id="0" * 32, caller_id="c", fingerprint="f")
    with catalog.write() as tx:
        aside = kb_changes.set_aside(tx, NAMESPACE, "gone")
        assert kbs.readable_kbs(tx, NAMESPACE, LOCAL) == {"stays"}
        assert [kb.name for kb in kbs.list_kbs(tx, NAMESPACE, LOCAL)] == ["stays"]
        with pytest.raises(NotFound):
            documents.get_document(tx, NAMESPACE, LOCAL, gone.document.document_id)
        assert kb_changes.set_aside_kbs(tx, NAMESPACE) == [aside]
        removed = versions.empty_kb(tx, NAMESPACE, aside, 10)
        assert removed[:2] == ([gone.document.version_id], {gone.content_hash})
        assert versions.empty_kb(tx, NAMESPACE, aside, 10) is None
        kb_changes.forget(tx, NAMESPACE, aside)
        assert counts(tx) | {"jobs": 0} == one_each
        assert documents.visible_version(tx, stays.document.document_id) is not None
        with pytest.raises(NotFound):
            kb_changes.set_aside(tx, NAMESPACE, "gone")
    assert queue.get(LOCAL, job.job_id).status is JobStatus.CANCELLED
    assert queue.claim("worker", "f", 30) is None


def counts(conn: object) -> dict[str, int]:
    return {
        table.name: conn.scalar(select(func.count()).select_from(table))  # type: ignore[attr-defined]
        for table in metadata.sorted_tables
    }
