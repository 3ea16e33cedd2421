"""Circuits shared through Redis: one that works, is away, is slow, or talks nonsense."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from redis import Redis
from servers import RedisServer, free_port, program

from eagle_rag_core.calls.breaker import CircuitBreaker, CircuitPolicy, CircuitState, Outcome
from eagle_rag_core.calls.shared_view import SharedView

PREFIX = "test:circuit:"
Join = Callable[[str], tuple[CircuitBreaker, SharedView]]


@pytest.fixture
def join() -> Iterator[Join]:
    """Makes a process's circuit ``query`` and its view of the others'."""
    with ExitStack() as stack:

        def process(url: str) -> tuple[CircuitBreaker, SharedView]:
            circuit = CircuitBreaker(CircuitPolicy(failures=1, cooldown_s=30))
            view = SharedView(
                url, PREFIX, lambda: [("query", circuit)], interval=0.02, away_interval=0.05
            )
            stack.callback(view.close)
            view.start()
            return circuit, view

        yield process


@pytest.fixture
def redis(redis_server: RedisServer) -> Iterator[Redis]:
    client = Redis.from_url(redis_server.url)
    yield client
    for key in client.scan_iter(f"{PREFIX}*"):
        client.delete(key)
    client.close()


def patiently(true: Callable[[], bool]) -> bool:
    for _ in range(500):
        if true():
            return True
        time.sleep(0.01)
    return False


def test_what_opens_here_opens_there_as_well(
    redis_server: RedisServer, redis: Redis, join: Join
) -> None:
    here, view = join(redis_server.url)
    there, _ = join(redis_server.url)
    here.leave(here.enter(1), Outcome.FAILURE)
    view.announce("query", 30)
    assert patiently(lambda: there.state is CircuitState.OPEN)
    assert there.borrowed and not here.borrowed
    assert 0 < redis.pttl(f"{PREFIX}query") <= 30_000


def test_an_announcement_ends_with_the_cooldown(
    redis_server: RedisServer, redis: Redis, join: Join
) -> None:
    _, view = join(redis_server.url)
    view.announce("query", 0.2)
    assert patiently(lambda: redis.exists(f"{PREFIX}query") == 1)
    assert patiently(lambda: redis.exists(f"{PREFIX}query") == 0)


def test_keys_that_we_did_not_write_harm_nobody(
    redis_server: RedisServer, redis: Redis, join: Join
) -> None:
    redis.lpush(f"{PREFIX}query", b"\xff\x00 garbage")  # of another type, and without an end
    redis.set(f"{PREFIX}unknown", "x", px=60_000)
    here, view = join(redis_server.url)
    view.announce("other", 30)
    assert patiently(lambda: redis.exists(f"{PREFIX}other") == 1)
    assert here.state is CircuitState.CLOSED


def test_it_goes_on_when_redis_comes_back(
    tmp_path: Path, join: Join, caplog: pytest.LogCaptureFixture
) -> None:
    server = RedisServer(program("redis-server"), tmp_path)
    here, view = join(server.url)
    with caplog.at_level("INFO"):
        assert patiently(lambda: "not shared" in caplog.text)
        server.start()
        try:
            assert patiently(lambda: "shared again" in caplog.text)
            view.announce("query", 30)
            assert patiently(lambda: here.state is CircuitState.OPEN)
            assert caplog.text.count("not shared") == 1
        finally:
            server.stop()


@contextmanager
def server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Something that listens where Redis should."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                answer(listener.accept()[0])
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()
    with listener:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"


_SILENT: list[socket.socket] = []  # connections that stay open


def nonsense(wire: socket.socket) -> None:
    wire.sendall(b"HTTP/1.1 200 OK\r\n\r\n<html>")
    wire.close()


@pytest.mark.parametrize("answer", [nonsense, _SILENT.append], ids=["nonsense", "silent"])
def test_a_redis_that_fails_leaves_every_process_to_itself(
    answer: Callable[[socket.socket], None], join: Join, caplog: pytest.LogCaptureFixture
) -> None:
    with server(answer) as url:
        here, view = join(url)
        view.announce("query", 30)
        assert patiently(lambda: "not shared" in caplog.text)
        assert here.state is CircuitState.CLOSED
        here.leave(here.enter(1), Outcome.FAILURE)
        assert here.state is CircuitState.OPEN


@pytest.mark.parametrize("url", ["redis://127.0.0.1:{port}/0", "nonsense://x"])
def test_an_address_without_a_redis_is_reported_and_no_more(
    url: str, join: Join, caplog: pytest.LogCaptureFixture
) -> None:
    here, _ = join(url.format(port=free_port()))
    assert patiently(lambda: "not shared" in caplog.text)
    assert here.state is CircuitState.CLOSED
