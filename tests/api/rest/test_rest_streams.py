"""What is told as it happens: progress of jobs, and answers as they are made."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from rest_client import OTTERS, RestClient, events_of, problem

from eagle_rag_core.api.rest.events import Streams, event, with_heartbeats
from eagle_rag_core.api.rest.problems import ProblemError
from eagle_rag_core.errors import EagleError
from eagle_rag_core.query.engine import AnswerEngine
from eagle_rag_core.service.jobs import JobService


@pytest.fixture(scope="module")
def library(shared: RestClient) -> RestClient:
    shared.ingest("otters.md", OTTERS)
    return shared


def test_a_finished_job_is_done_at_once(library: RestClient) -> None:
    (job,) = library.get("/jobs").json()["items"]
    response = library.get(f"/jobs/{job['job_id']}/events")
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-store"
    assert events_of(response.text) == [("done", job)]


def test_a_job_is_followed_to_its_end(library: RestClient) -> None:
    job = library.upload("more.md", b"# More\n\nOn otters.").json()
    library.app.work()
    events = events_of(library.get(f"/jobs/{job['job_id']}/events").text)
    names = [name for name, _ in events]
    assert names[-1] == "done" and set(names[:-1]) <= {"progress"}
    assert events[-1][1]["status"] == "succeeded"
    progress = [item["progress"] for _, item in events]
    assert progress == sorted(progress)


def test_a_job_that_cannot_be_seen_any_more_ends_its_stream(
    library: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.app.engine().worker.close()
    job = library.upload("waiting.md", b"# Waiting\n\nFor ever.").json()
    get, calls = JobService.get, []

    def vanish(self: JobService, caller: Any, job_id: str) -> Any:
        calls.append(job_id)
        if len(calls) > 1:
            raise EagleError("The catalog is on fire.")
        return get(self, caller, job_id)

    monkeypatch.setattr(JobService, "get", vanish)
    events = events_of(library.get(f"/jobs/{job['job_id']}/events").text)
    assert [name for name, _ in events] == ["progress", "error"]
    assert events[1][1]["detail"] == "The catalog is on fire."


def test_a_stopping_server_ends_the_streams_of_jobs(library: RestClient) -> None:
    library.app.engine().worker.close()
    job = library.upload("still.md", b"# Still\n\nWaiting.").json()
    rest = library.api.state.rest
    rest.release()
    events = events_of(library.get(f"/jobs/{job['job_id']}/events").text)
    rest.streams.ending = False
    assert [name for name, _ in events] == ["progress"]


def test_jobs_are_cancelled_and_tried_again(library: RestClient) -> None:
    library.app.engine().worker.close()
    job = library.upload("again.md", b"# Again\n\nAnd again.").json()
    path = f"/jobs/{job['job_id']}"
    assert library.post(f"{path}/cancel").json()["status"] == "cancelled"
    assert library.post(f"{path}/cancel").json()["status"] == "cancelled"
    assert library.post(f"{path}/retry").json()["status"] == "queued"
    problem(library.post(f"{path}/retry"), 422, "invalid_argument")
    assert library.post(f"{path}/cancel").json()["error_code"] == "cancelled"


def test_jobs_are_listed_by_page_and_status(library: RestClient) -> None:
    every = library.get("/jobs?limit=100").json()
    assert every["next_cursor"] == ""
    seen, cursor = [], ""
    while True:
        page = library.get("/jobs", params={"limit": 1, "cursor": cursor}).json()
        seen += page["items"]
        if not (cursor := page["next_cursor"]):
            break
    assert seen == every["items"]
    done = library.get("/jobs?status=succeeded&status=failed").json()["items"]
    assert done == [item for item in seen if item["status"] in ("succeeded", "failed")]
    assert library.get("/jobs?dead=true").json()["items"] == []
    problem(library.get("/jobs?status=lost"), 422, "invalid_argument")
    problem(library.get("/jobs?cursor=x"), 422, "invalid_argument")


def test_an_answer_comes_in_pieces_and_whole(library: RestClient) -> None:
    question = {"query": "What do sea otters eat?"}
    events = events_of(library.post("/query/stream", question).text)
    parts: dict[str, list[Any]] = {}
    for name, data in events:
        parts.setdefault(name, []).append(data)
    assert set(parts) == {"source", "token", "step", "done"}
    whole = parts["done"][0]
    assert events[-1] == ("done", whole)
    # What was found is told before the answer is made.
    assert [name for name, _ in events].index("source") == len(parts["step"]) - 1
    assert "".join(part["text"] for part in parts["token"]) == whole["answer"]
    assert parts["source"] == whole["sources"]
    assert parts["step"] == whole["steps"]
    at_once = library.post("/query", question).json()
    assert (at_once["answer"], at_once["sources"]) == (whole["answer"], whole["sources"])


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"query": "x", "kb_name": "nowhere"}, 404, "kb_not_found"),
        ({"query": "  "}, 422, "invalid_argument"),
        ({"query": "x", "mode": "loud"}, 422, "invalid_argument"),
    ],
)
def test_what_fails_at_once_has_a_status(
    library: RestClient, body: dict[str, Any], status: int, code: str
) -> None:
    for path in ("/query", "/query/stream"):
        problem(library.post(path, body), status, code)


def answering(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[Callable[[str], None]], Any]
) -> None:
    monkeypatch.setattr(
        AnswerEngine, "answer", lambda *_, listener, **__: answer(listener), raising=True
    )


def test_a_late_failure_is_an_event(library: RestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(listener: Callable[[str], None]) -> None:
        listener("Otters ")
        time.sleep(1.1)
        raise EagleError("The model is asleep.")

    answering(monkeypatch, fail)
    events = events_of(library.post("/query/stream", {"query": "x"}).text)
    assert events[0] == ("token", {"text": "Otters "})
    (name, last) = events[-1]
    assert (name, last["code"], last["detail"]) == ("error", "internal", "The model is asleep.")
    assert last["instance"].startswith("urn:eagle-rag:request:")


def test_an_answer_nobody_waits_for_is_given_up(
    library: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_up = threading.Event()

    def talk(listener: Callable[[str], None]) -> None:
        try:
            for _ in range(1000):
                listener("word ")
                time.sleep(0.01)
        except EagleError as error:
            assert str(error.code) == "cancelled"
            given_up.set()
            raise

    answering(monkeypatch, talk)
    asyncio.run(hang_up_after_the_first_piece(library, "/query/stream", b'{"query": "x"}'))
    assert given_up.wait(5)


async def hang_up_after_the_first_piece(rest: RestClient, path: str, body: bytes) -> None:
    """Send a request, and disconnect once a piece of the answer has come."""
    received, sent = asyncio.Event(), False

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if not sent:
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}
        await received.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message.get("body"):
            received.set()

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    await asyncio.wait_for(rest.api(scope, receive, send), 10)


def test_silence_is_filled() -> None:
    async def slow() -> AsyncIterator[bytes]:
        yield event("first", 1)
        await asyncio.sleep(0.2)
        yield event("last", 2)

    async def heard() -> list[bytes]:
        return [piece async for piece in with_heartbeats(slow(), 0.05)]

    pieces = asyncio.run(heard())
    assert (pieces[0], pieces[-1]) == (event("first", 1), event("last", 2))
    assert len(pieces) > 3 and all(piece.startswith(b":") for piece in pieces[1:-1])


def test_a_reader_who_leaves_ends_what_it_waited_for() -> None:
    ended = []

    async def endless() -> AsyncIterator[bytes]:
        try:
            yield event("first", 1)
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    async def leave() -> None:
        events = with_heartbeats(endless(), 0.01)
        assert await anext(events) == event("first", 1)
        assert (await anext(events)).startswith(b":")
        await events.aclose()  # type: ignore[attr-defined]
        await asyncio.sleep(0)

    asyncio.run(leave())
    assert ended == [True]


def test_streams_are_counted() -> None:
    streams = Streams(most=1)

    def opened() -> Iterator[None]:
        with streams.one_more():
            yield

    one = opened()
    next(one)
    with pytest.raises(ProblemError) as refused:
        streams.check()
    assert refused.value.code == "overloaded" and refused.value.retry_after_s > 0
    one.close()  # type: ignore[attr-defined]
    streams.check()


def test_an_event_is_one_line_of_json() -> None:
    assert event("token", {"text": "a\n\nb\r🦦"}) == (
        'event: token\ndata: {"text":"a\\n\\nb\\r🦦"}\n\n'.encode()
    )
