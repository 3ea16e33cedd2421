"""A server that stops loses no request, on old connections or on new ones."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from starlette.types import Receive, Scope, Send

from eagle_rag_core.api.serving.draining import Draining, DrainingServer
from eagle_rag_core.api.serving.running import bind, server_for
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings.sections import McpSettings

REQUEST = b"POST /mcp HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}"


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers after a while, with the path."""
    if scope["type"] != "http":
        return
    await asyncio.sleep(0.5 if scope["path"] == "/slow" else 0.005)
    body = scope["path"].encode()
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Running:
    """A server in the loop of the test."""

    def __init__(self, server: DrainingServer, bound: socket.socket) -> None:
        self.server = server
        self.port = int(bound.getsockname()[1])
        self.task = asyncio.create_task(server._serve([bound]))

    async def connect(self) -> Connection:
        return Connection(*await asyncio.open_connection("127.0.0.1", self.port))

    def stop(self) -> None:
        """What SIGTERM does."""
        self.server.should_exit = True


class Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def ask(self, request: bytes = REQUEST) -> bytes:
        """The head of the answer; empty if the connection ends without one."""
        self.writer.write(request)
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            await self.reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""
        return head

    async def ended(self) -> bool:
        """Whether the server closes the connection."""
        with suppress(ConnectionError):
            return await self.reader.read(1) == b""
        return True

    def close(self) -> None:
        self.writer.close()


@asynccontextmanager
async def running(**settings: float) -> AsyncIterator[Running]:
    bound = bind("127.0.0.1", 0)
    draining = Draining(application)
    started = asyncio.Event()
    server = server_for(
        draining,
        McpSettings(**{"drain_seconds": 0.3, **settings}),  # type: ignore[arg-type]
        ready=started.set,
        drain=draining.begin,
    )
    run = Running(server, bound)
    await asyncio.wait_for(started.wait(), 10)
    try:
        yield run
    finally:
        run.stop()
        await asyncio.wait_for(run.task, 20)


async def under_load(*, kept: int, fresh: int, answers: int) -> Counter[str]:
    """Stop a server after so many answers; what became of all requests.

    :param kept: clients that keep their connections while they may.
    :param fresh: clients that open one for every request.
    """
    seen: Counter[str] = Counter()
    async with running() as run:

        async def client(keeps: bool) -> None:
            connection: Connection | None = None
            while True:
                try:
                    connection = connection or await run.connect()
                except OSError:
                    seen["refused"] += 1
                    return
                head = await connection.ask()
                seen["answered" if b" 200 " in head else "broken"] += 1
                if not keeps or b"connection: close" in head.lower() or not head:
                    connection.close()
                    connection = None

        clients = [*(client(True) for _ in range(kept)), *(client(False) for _ in range(fresh))]
        async with asyncio.TaskGroup() as tasks:
            for each in clients:
                tasks.create_task(each)
            while seen["answered"] < answers:  # noqa: ASYNC110 - clients count, nothing signals
                await asyncio.sleep(0.01)
            run.stop()
    return seen


def test_no_request_is_lost_when_the_server_stops_under_load() -> None:
    seen = asyncio.run(under_load(kept=8, fresh=4, answers=200))
    assert seen["broken"] == 0
    assert seen["refused"] == 12
    assert seen["answered"] > 200


@pytest.mark.full
def test_none_of_thousands_is_lost() -> None:
    for _ in range(5):
        seen = asyncio.run(under_load(kept=24, fresh=16, answers=2000))
        assert (seen["broken"], seen["refused"]) == (0, 40)


def test_a_kept_connection_ends_with_its_next_answer() -> None:
    async def talk() -> None:
        async with running(drain_seconds=5) as run:
            connection = await run.connect()
            assert b"connection: close" not in await connection.ask()
            run.stop()
            await asyncio.sleep(0.3)
            assert b"connection: close" in await connection.ask()
            assert await connection.ended()

    asyncio.run(talk())


def test_an_idle_connection_does_not_keep_the_server_up() -> None:
    async def talk() -> None:
        async with running() as run:
            connection = await run.connect()
            await connection.ask()
            run.stop()
            await asyncio.wait_for(run.task, 10)
            assert await connection.ended()

    asyncio.run(talk())


def test_a_call_in_flight_is_answered_after_the_drain() -> None:
    async def talk() -> None:
        async with running(drain_seconds=0.05) as run:
            connection = await run.connect()
            slow = asyncio.create_task(connection.ask(REQUEST.replace(b"/mcp", b"/slow")))
            await asyncio.sleep(0.1)
            run.stop()
            assert b" 200 " in await asyncio.wait_for(slow, 10)
            with pytest.raises(OSError):
                await run.connect()

    asyncio.run(talk())


def test_a_connection_that_waits_to_be_accepted_is_served() -> None:
    """Closing the socket would reset it."""

    async def talk() -> None:
        async with running(drain_seconds=0) as run:
            loop = asyncio.get_running_loop()
            listening = run.server.servers[0].sockets[0]
            loop.remove_reader(listening.fileno())  # nothing is accepted from here on
            with socket.create_connection(("127.0.0.1", run.port)) as client:
                client.setblocking(False)
                run.stop()
                await asyncio.sleep(0.3)
                await loop.sock_sendall(client, REQUEST)
                answer = await asyncio.wait_for(loop.sock_recv(client, 1000), 10)
                assert b" 200 " in answer and b"connection: close" in answer.lower()

    asyncio.run(talk())


@pytest.mark.parametrize("said", [b"", b"POST /mcp HT", b"POST /mcp HTTP/1.1\r\nhost: a\r\n"])
def test_a_connection_on_which_no_request_begins_is_closed(said: bytes) -> None:
    async def talk() -> None:
        async with running(read_timeout=0.2) as run:
            connection = await run.connect()
            connection.writer.write(said)
            assert await asyncio.wait_for(connection.ended(), 10)

    asyncio.run(talk())


def test_a_slow_answer_is_not_taken_for_a_slow_request() -> None:
    async def talk() -> None:
        async with running(read_timeout=0.1) as run:
            connection = await run.connect()
            assert b" 200 " in await connection.ask(REQUEST.replace(b"/mcp", b"/slow"))

    asyncio.run(talk())


def test_a_head_may_come_in_pieces() -> None:
    async def talk() -> None:
        async with running(read_timeout=5) as run:
            connection = await run.connect()
            for _ in range(2):  # on a new connection, and on one that was used
                connection.writer.write(REQUEST[:20])
                await asyncio.sleep(0.05)
                assert b" 200 " in await connection.ask(REQUEST[20:])

    asyncio.run(talk())


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
def test_an_address_of_another_machine_is_refused_with_what_to_do(host: str) -> None:
    with pytest.raises(ConfigError, match="--host and --port"):
        bind(host, 0)
