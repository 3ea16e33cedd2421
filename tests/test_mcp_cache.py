"""Answers that are given again: their keys, where they are kept, and what is never kept."""

from __future__ import annotations

import asyncio
import random
import socket
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis
from servers import RedisServer

from eagle_rag_core.app import EagleApp
from eagle_rag_core.calls.cache_memory import MemoryStore
from eagle_rag_core.calls.cache_redis import RedisStore
from eagle_rag_core.calls.outcome import CallOutcome
from eagle_rag_core.calls.single_flight import SingleFlight
from eagle_rag_core.errors import CallTimeout, InvalidArgument
from eagle_rag_core.mcp_cache import ResultCache, cache_key, get_cached, result_cache
from eagle_rag_core.retrieval.orchestrator import Orchestrator
from eagle_rag_core.settings import Settings
from eagle_rag_core.telemetry.call_log import CallLog
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import (
    COMMAND_LINE,
    LOCAL,
    Caller,
    IngestRequest,
    current_notes,
    due_at,
    taking_notes,
)

HITS = [{"node_id": "a", "text": "Wings lift."}]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def cache() -> ResultCache:
    return ResultCache(MemoryStore(), 300)


class Backend:
    """Counts how often it is asked."""

    def __init__(self, payload: Any = HITS, act: Callable[[], None] = lambda: None) -> None:
        self.calls = 0
        self._payload = payload
        self._act = act

    def __call__(self) -> Any:
        self.calls += 1
        self._act()
        return self._payload


# Keys


def test_the_key_depends_on_everything_that_is_asked() -> None:
    keys = {
        cache_key("core_retrieve_text", "wings"),
        cache_key("core_query", "wings"),
        cache_key("core_retrieve_text", "wing"),
        cache_key("core_retrieve_text", "wings", scope=["a"]),
        cache_key("core_retrieve_text", "wings", scope=["a", "b"]),
        cache_key("core_retrieve_text", "wings", scope=["a,b"]),
        cache_key("core_retrieve_text", "wings", top_k=5),
        cache_key("core_retrieve_text", "wings", kb_name="a"),
        cache_key("core_retrieve_text", "wings", arguments={"filter": []}),
        cache_key("core_retrieve_text", "wings", state=["a"]),
        cache_key("core_retrieve_text", "wings", state=[["a", 1]]),
        cache_key("core_retrieve_text", "wings", state=[["a", 2]]),
        cache_key("core_retrieve_text", "wings", state=[["a", "1"]]),
    }
    assert len(keys) == 13


def test_the_key_does_not_depend_on_how_a_question_is_written_down() -> None:
    composed = cache_key("t", unicodedata.normalize("NFC", "Größe é"))
    assert composed == cache_key("t", unicodedata.normalize("NFD", "Größe é"))
    one = cache_key("t", "q", arguments={"a": 1, "b": 2})
    assert one == cache_key("t", "q", arguments={"b": 2, "a": 1})


texts = st.text(max_size=6)
asked = st.tuples(
    texts,
    texts,
    st.lists(texts, max_size=3),
    st.integers(0, 3),
    texts,
    st.dictionaries(texts, st.lists(texts, max_size=2), max_size=2),
    st.lists(st.tuples(texts, st.integers(0, 3)), max_size=3),
)


def key_of(question: tuple[Any, ...]) -> str:
    tool, query, scope, top_k, kb_name, arguments, state = question
    return cache_key(
        tool, query, scope=scope, top_k=top_k, kb_name=kb_name, arguments=arguments, state=state
    )


@given(asked, asked)
def test_different_questions_never_share_a_key(one: Any, other: Any) -> None:
    same = one == other or (
        (one[0], *one[2:]) == (other[0], *other[2:])
        and unicodedata.normalize("NFC", one[1]) == unicodedata.normalize("NFC", other[1])
    )
    assert (key_of(one) == key_of(other)) == same


WORDS = ["a", "b", "a,b", "a|b", '"a"', "[", "]", "", " ", "ä", "a\x00", "1", "kb:a", "\\"]


def changed(question: tuple[Any, ...], place: int) -> tuple[Any, ...]:
    """The question with one thing different, in a way that delimiters or quoting could confuse."""
    tool, query, scope, top_k, kb_name, arguments, state = question
    others = (
        tool + "x",
        query + ",",
        ["".join(scope)],
        top_k + 1,
        kb_name + query + ".",
        {"filter": [*arguments["filter"], ""]},
        [*state, ("tenant", 1)],
    )
    return (*question[:place], others[place], *question[place + 1 :])


def try_pairs(count: int) -> None:
    random_ = random.Random(7)
    for _ in range(count):
        question = (
            random_.choice(WORDS),
            random_.choice(WORDS),
            random_.sample(WORDS, 2),
            random_.randrange(5),
            random_.choice(WORDS),
            {"filter": random_.sample(WORDS, 2)},
            [(random_.choice(WORDS), random_.randrange(3)) for _ in range(random_.randrange(4))],
        )
        assert key_of(question) != key_of(changed(question, random_.randrange(7)))


def test_no_collision_across_callers_and_scopes() -> None:
    try_pairs(20_000)


@pytest.mark.full
def test_no_collision_in_a_million_pairs() -> None:
    try_pairs(1_000_000)


# What is kept


def test_an_answer_is_given_again(cache: ResultCache) -> None:
    backend = Backend()
    with taking_notes() as first:
        assert get_cached("k", backend, cache) == HITS
    with taking_notes() as second:
        assert get_cached("k", backend, cache) == HITS
    assert backend.calls == 1
    assert (first.cache_hit, second.cache_hit) == (False, True)


def test_who_changes_an_answer_changes_no_other(cache: ResultCache) -> None:
    get_cached("k", Backend(), cache).clear()
    get_cached("k", Backend(), cache)[0]["text"] = "Changed."
    assert get_cached("k", Backend(), cache) == HITS


@pytest.mark.parametrize("payload", [[], {"answer": "Nothing.", "sources": []}])
def test_empty_answers_are_not_kept(cache: ResultCache, payload: Any) -> None:
    backend = Backend(payload)
    for _ in range(2):
        assert get_cached("k", backend, cache) == payload
    assert backend.calls == 2


def test_answers_that_something_took_no_part_in_are_not_kept(cache: ResultCache) -> None:
    def fail() -> None:
        current_notes().partial = True

    backend = Backend(act=fail)
    for _ in range(2):
        with taking_notes():
            get_cached("k", backend, cache)
    assert backend.calls == 2


def test_errors_are_not_kept(cache: ResultCache) -> None:
    def refuse() -> None:
        raise InvalidArgument("No.")

    backend = Backend(act=refuse)
    for _ in range(2):
        with pytest.raises(InvalidArgument):
            get_cached("k", backend, cache)
    assert backend.calls == 2


def test_an_answer_too_long_is_not_kept(cache: ResultCache) -> None:
    backend = Backend([{"text": "x" * 600_000}])
    for _ in range(2):
        get_cached("k", backend, cache)
    assert backend.calls == 2


def test_an_answer_ends_with_its_time() -> None:
    clock = Clock()
    cache = ResultCache(MemoryStore(clock=clock), 300)
    backend = Backend()
    get_cached("k", backend, cache)
    clock.now = 299
    get_cached("k", backend, cache)
    assert backend.calls == 1
    clock.now = 300
    get_cached("k", backend, cache)
    assert backend.calls == 2


def test_memory_is_bounded_and_keeps_what_is_used() -> None:
    store = MemoryStore(capacity=30)
    for number in range(3):
        store.put(str(number), "x" * 10, 60)
    assert store.get("0") is not None
    store.put("3", "x" * 10, 60)
    assert [store.get(key) is None for key in "0123"] == [False, True, False, False]
    store.put("big", "é" * 10, 60)  # more than all together: nothing stays
    assert store.get("big") is None
    store.put("after", "x" * 10, 60)
    assert store.get("after") is not None


# Many at once


def test_five_hundred_who_miss_at_once_ask_the_backend_once(cache: ResultCache) -> None:
    everybody = threading.Barrier(500)
    backend = Backend(act=lambda: time.sleep(0.2))

    def ask() -> Any:
        everybody.wait(20)
        return get_cached("k", backend, cache)

    with ThreadPoolExecutor(500) as pool:
        answers = [future.result() for future in [pool.submit(ask) for _ in range(500)]]
    assert backend.calls == 1
    assert all(answer == HITS for answer in answers)


def together(flight: SingleFlight[str], lead: Callable[[], str], follow: Callable[[], str]) -> Any:
    """A leader and a follower who comes while the leader is at it."""
    entered = threading.Event()

    def leading() -> str:
        entered.set()
        time.sleep(0.2)
        return lead()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(flight.run, "k", leading)
        assert entered.wait(5)
        second = pool.submit(flight.run, "k", follow)
        return first, second


def test_a_failure_is_everybodys() -> None:
    def refuse() -> str:
        raise InvalidArgument("No.")

    first, second = together(SingleFlight(), refuse, lambda: "not asked")
    assert isinstance(first.exception(), InvalidArgument)
    assert isinstance(second.exception(), InvalidArgument)


@pytest.mark.parametrize("end", [CallTimeout("Late."), RuntimeError("A bug.")])
def test_a_leader_out_of_time_is_followed_by_another(end: Exception) -> None:
    def fail() -> str:
        raise end

    first, second = together(SingleFlight(), fail, lambda: "mine")
    assert first.exception() is end
    assert second.result() == ("mine", False)


def test_nobody_waits_beyond_the_own_deadline() -> None:
    flight, entered, leave = SingleFlight[str](), threading.Event(), threading.Event()

    def lead() -> str:
        entered.set()
        leave.wait(10)
        return "late"

    leader = threading.Thread(target=flight.run, args=("k", lead))
    leader.start()
    assert entered.wait(5)
    with due_at(time.monotonic() + 0.1), pytest.raises(CallTimeout):
        flight.run("k", lambda: "not asked")
    leave.set()
    leader.join()


# Redis


@pytest.fixture
def redis_url(redis_server: RedisServer) -> Iterator[str]:
    url = f"redis://127.0.0.1:{redis_server.port}/7"
    yield url
    Redis.from_url(url).flushdb()


def test_processes_share_answers_through_redis(redis_url: str) -> None:
    backend = Backend()
    one, other = (ResultCache(RedisStore(redis_url), 300) for _ in range(2))
    assert get_cached("k", backend, one) == get_cached("k", backend, other) == HITS
    assert backend.calls == 1
    client = Redis.from_url(redis_url)
    (key,) = client.keys("eagle-rag:answer:*")
    assert 0 < client.ttl(key) <= 300
    assert client.get(key).startswith(b"{")  # JSON that any program may read, nothing to unpickle
    one.close()
    other.close()


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b'{"key": "other", "payload": [1]}',
        b'{"payload": [1]}',
        b"[" * 100_000,
        b"cos\nsystem\n(S'true'\ntR.",
    ],
)
def test_what_is_no_answer_of_ours_is_a_miss(redis_url: str, garbage: bytes) -> None:
    Redis.from_url(redis_url).set("eagle-rag:answer:k", garbage)
    backend = Backend()
    assert get_cached("k", backend, ResultCache(RedisStore(redis_url), 300)) == HITS
    assert backend.calls == 1


def test_a_key_of_another_type_is_a_miss(redis_url: str) -> None:
    Redis.from_url(redis_url).lpush("eagle-rag:answer:k", "x")
    assert get_cached("k", Backend(), ResultCache(RedisStore(redis_url), 300)) == HITS


def test_a_full_redis_fails_no_call(redis_url: str) -> None:
    client = Redis.from_url(redis_url)
    client.config_set("maxmemory", "1")
    try:
        cache = ResultCache(RedisStore(redis_url), 300)
        assert get_cached("k", Backend(), cache) == HITS
    finally:
        client.config_set("maxmemory", "0")


def test_a_dead_redis_is_left_alone_for_a_while() -> None:
    clock = Clock()
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    store = RedisStore(f"redis://127.0.0.1:{port}", clock=clock)
    assert get_cached("k", Backend(), ResultCache(store, 300)) == HITS
    with socket.create_server(("127.0.0.1", port)) as server:
        server.settimeout(0.2)
        assert store.get("k") is None
        with pytest.raises(TimeoutError):  # nobody came
            server.accept()
        clock.now = 6
        assert store.get("k") is None
        server.accept()[0].close()


def test_a_redis_that_never_answers_costs_a_moment_once() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=50) as silent:
        cache = ResultCache(RedisStore(f"redis://127.0.0.1:{silent.getsockname()[1]}"), 300)
        backend = Backend()
        started = time.perf_counter()
        for _ in range(50):
            assert get_cached("k", backend, cache) == HITS
        assert time.perf_counter() - started < 2  # 50 times the patience would be 5 seconds
        assert backend.calls == 50


# Settings


def test_no_time_to_live_means_no_cache() -> None:
    assert result_cache(Settings.model_validate({"mcp": {"cache_ttl": 0}})) is None


def test_redis_is_the_one_of_the_settings(redis_url: str) -> None:
    for settings in ({"mcp": {"redis_url": redis_url}}, {"celery": {"broker_url": redis_url}}):
        cache = result_cache(Settings.model_validate(settings))
        assert cache is not None
        get_cached("k", Backend(), cache)
        assert Redis.from_url(redis_url).exists("eagle-rag:answer:k")
        Redis.from_url(redis_url).flushdb()


# A library


@dataclass
class Library:
    """A library whose searches are counted."""

    app: EagleApp
    searches: list[str]

    def ask(self, query: str = "wings", caller: Caller = LOCAL, **arguments: Any) -> CallOutcome:
        call = self.app.pipeline.call(
            "core_retrieve_text", {"query": query, **arguments}, caller=caller, face="test"
        )
        return asyncio.run(call)

    def add(self, path: Path, kb_name: str) -> None:
        services = self.app.services()
        job = services.ingest.submit(COMMAND_LINE, IngestRequest(str(path), kb_name=kb_name))
        deadline = time.monotonic() + 30
        while not services.jobs.get(LOCAL, job.job_id).status.final:
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    searches: list[str] = []
    search = Orchestrator.search

    def counted(self: Orchestrator, query: str, *arguments: Any, **options: Any) -> Any:
        searches.append(query)
        return search(self, query, *arguments, **options)

    monkeypatch.setattr(Orchestrator, "search", counted)
    (tmp_path / "wings.md").write_text("Wings lift the plane.")
    (tmp_path / "more.md").write_text("More wings lift more.")
    with PackLibrary(tmp_path / "home", settings={"ingest": {"isolation": "thread"}}) as made:
        made.app.work()
        found = Library(made.app, searches)
        found.add(tmp_path / "wings.md", "a")
        yield found


def test_a_search_is_made_once_until_its_library_changes(library: Library, tmp_path: Path) -> None:
    first = library.ask()
    assert library.ask() == first
    assert library.ask(top_k=5) == first  # the default, spelled out
    assert len(library.searches) == 1
    library.add(tmp_path / "more.md", "a")
    assert len(library.ask().payload) == 2  # at once
    assert len(library.searches) == 2


def test_a_change_elsewhere_leaves_the_answers_of_a_knowledge_base(
    library: Library, tmp_path: Path
) -> None:
    library.ask(kb_name="a")
    library.ask()
    library.add(tmp_path / "more.md", "b")
    library.ask(kb_name="a")
    assert len(library.searches) == 2
    assert len(library.ask().payload) == 2
    library.ask(kb_name="a", scope_filter={"kb_names": ["b"]})
    assert len(library.searches) == 4


def test_a_deleted_document_is_in_no_answer(library: Library) -> None:
    (hit,) = library.ask().payload
    library.app.services().documents.delete(LOCAL, hit["metadata"]["document_id"])
    assert library.ask().payload == []


def test_callers_with_other_rights_share_no_answers(library: Library) -> None:
    library.ask()
    for caller in (Caller("x", kbs=frozenset({"a"})), Caller("y", kbs=frozenset({"b"}))):
        library.ask(caller=caller)
    remote = library.ask(caller=Caller("z"))  # there is nothing but "a", which x sees as well
    assert len(library.searches) == 3
    assert "/" not in remote.payload[0]["metadata"]["source_uri"]  # not the path LOCAL may see
    assert library.ask(caller=Caller("y", kbs=frozenset({"b"}))).payload == []


def test_callers_with_the_same_rights_do(library: Library) -> None:
    for name in ("x", "y"):
        library.ask(caller=Caller(name, kbs=frozenset({"a"})))
    assert len(library.searches) == 1


def test_the_call_log_says_what_came_from_the_cache(library: Library) -> None:
    library.ask()
    library.ask()
    log = CallLog(library.app.settings.home / "audit.db", keep_days=1)
    library.app.close()
    assert [row["cache_hit"] for row in log.recent()] == [1, 0]
