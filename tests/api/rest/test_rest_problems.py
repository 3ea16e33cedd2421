"""Errors over HTTP: one shape, one table of statuses, nothing given away."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rest_client import RestClient, problem

from eagle_rag_core.api.rest.problems import STATUS, HttpCode
from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.service.search import SearchService

SECRET = "sesame-open-1234"


def test_every_code_has_a_status_and_no_status_lacks_its_code() -> None:
    assert set(STATUS) == {*ErrorCode, *HttpCode}
    assert all(400 <= status < 600 for status in STATUS.values())


def test_an_unknown_route_is_a_problem(shared: RestClient) -> None:
    for path in ("/nothing", "/docs", "/redoc", "/jobs/a/b/c", "/%2e%2e/etc/passwd"):
        found = problem(shared.get(path), 404, "route_not_found")
        assert found["instance"].startswith("urn:eagle-rag:request:")


def test_every_occurrence_has_an_id_of_its_own(shared: RestClient) -> None:
    first, second = (shared.get("/nothing").json()["instance"] for _ in range(2))
    assert first != second


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/kbs", "GET, POST"),
        ("DELETE", "/search", "POST"),
        ("POST", "/documents/x", "DELETE, GET, PATCH"),
        ("PATCH", "/health/live", "GET"),
    ],
)
def test_a_wrong_method_is_told_which_there_are(
    shared: RestClient, method: str, path: str, allowed: str
) -> None:
    response = shared.request(method, path)
    problem(response, 405, "method_not_allowed")
    assert response.headers["allow"] == allowed


BAD_BODIES: dict[str, bytes] = {
    "empty": b"",
    "garbage": b"{garbage",
    "half": b'{"query": "x"',
    "key-twice": b'{"query": "x", "query": "y"}',
    "inner-key-twice": b'{"query": "x", "scope_filter": {"tags": ["a"], "tags": ["b"]}}',
    "nan": b'{"query": "x", "top_k": NaN}',
    "infinity": b'{"query": "x", "top_k": -Infinity}',
    "deep-list": b'{"query": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep-object": b'{"query":' * 50_000 + b"1" + b"}" * 50_000,
    "a-little-deep": b'{"query": ' + b"[" * 17 + b"]" * 17 + b"}",
    "latin-1": '{"query": "Käse"}'.encode("latin-1"),
    "utf-16": '{"query": "x"}'.encode("utf-16"),
    "bom": b'\xef\xbb\xbf{"query": "x"}',
    "lone-surrogate": b'{"query": "\\ud800"}',
    "huge-number": b'{"query": "x", "top_k": ' + b"9" * 100_000 + b"}",
    "comment": b'{"query": "x"} // and more',
}


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES)
def test_a_body_that_is_no_strict_json_is_refused(shared: RestClient, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    problem(
        shared.request("POST", "/search", content=body, headers=headers), 400, "malformed_request"
    )


@pytest.mark.parametrize(
    "body", [b"[]", b"null", b'"text"', b"3", b'[{"query": "x"}]'], ids=lambda body: body.decode()
)
def test_a_body_that_is_no_object_is_refused(shared: RestClient, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    problem(
        shared.request("POST", "/search", content=body, headers=headers), 422, "invalid_argument"
    )


@pytest.mark.parametrize(
    "declared",
    ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json", "a/b/c"],
)
@pytest.mark.parametrize("path", ["/search", "/query", "/query/stream", "/kbs"])
def test_a_body_of_another_type_is_refused(shared: RestClient, path: str, declared: str) -> None:
    response = shared.request(
        "POST", path, content=b'{"query": "x"}', headers={"content-type": declared}
    )
    problem(response, 415, "unsupported_media_type")


@pytest.mark.parametrize(
    "declared", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/ld+json"]
)
def test_json_may_be_declared_in_every_way(shared: RestClient, declared: str) -> None:
    response = shared.request(
        "POST", "/search", content=b'{"query": "x"}', headers={"content-type": declared}
    )
    assert response.status_code == 200


def test_a_body_beyond_its_bound_is_refused(shared: RestClient) -> None:
    problem(shared.post("/search", {"query": "x" * 2_000_000}), 413, "request_too_large")


INVALID: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "unknown": (
        {"query": "x", "topk": SECRET},
        "unknown_argument",
        "body.topk",
        "did you mean 'top_k'?",
    ),
    "unknown-inside": (
        {"query": "x", "scope_filter": {"kb_nams": [SECRET]}},
        "unknown_argument",
        "body.scope_filter.kb_nams",
        "did you mean 'kb_names'?",
    ),
    "unknown-in-list": (
        {"query": "x", "filter": [{"field": "id", "op": "eq", "valu": SECRET, "value": "x"}]},
        "unknown_argument",
        "body.filter.0.valu",
        "did you mean 'value'?",
    ),
    "text-for-number": ({"query": "x", "top_k": "7"}, "invalid_argument", "body.top_k", "integer"),
    "bool-for-number": ({"query": "x", "top_k": True}, "invalid_argument", "body.top_k", "integer"),
    "out-of-range": (
        {"query": "x", "top_k": 101},
        "invalid_argument",
        "body.top_k",
        "less than or equal to 100",
    ),
    "null": ({"query": None}, "invalid_argument", "body.query", "string"),
    "missing": ({}, "invalid_argument", "body.query", "required"),
    "too-long": ({"query": SECRET * 1000}, "invalid_argument", "body.query", "8000"),
    "wrong-op": (
        {"query": "x", "filter": [{"field": "id", "op": SECRET, "value": "x"}]},
        "invalid_argument",
        "body.filter.0.op",
        "'eq', 'ne'",
    ),
}


@pytest.mark.parametrize("case", INVALID.values(), ids=INVALID)
def test_a_wrong_field_is_named_and_its_value_is_not(
    shared: RestClient, case: tuple[dict[str, Any], str, str, str]
) -> None:
    body, code, field, words = case
    response = shared.post("/search", body)
    found = problem(response, 422, code)
    assert [error["field"] for error in found["errors"]] == [field]
    assert words in found["errors"][0]["detail"]
    assert SECRET not in response.text


@pytest.mark.parametrize(
    ("query", "code", "words"),
    [
        ("limt=3", "unknown_argument", "did you mean 'limit'?"),
        ("limit=0", "invalid_argument", "greater than or equal to 1"),
        ("limit=many", "invalid_argument", "integer"),
        ("cursor=forged", "invalid_argument", "cursor"),
        ("filter=colour:eq:red", "invalid_argument", "/openapi.json"),
        ("filter=created_at:eq:soon", "invalid_argument", "not a date"),
    ],
)
def test_a_wrong_query_is_told_the_same_way(
    shared: RestClient, query: str, code: str, words: str
) -> None:
    found = problem(shared.get(f"/documents?{query}"), 422, code)
    assert words in found["detail"]


def test_many_wrong_fields_are_a_short_answer(shared: RestClient) -> None:
    response = shared.post("/search", {f"field{n}": n for n in range(50_000)})
    assert len(problem(response, 422, "unknown_argument")["errors"]) == 20
    assert len(response.content) < 5000


def test_a_crash_gives_nothing_away(
    shared: RestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(SearchService, "search", crash)
    for body in ({"query": "x"}, {"query": "x", "debug": True}):
        response = shared.post("/search", body)
        found = problem(response, 500, "internal")
        assert SECRET not in response.text
    assert "see log entry" in found["detail"] and SECRET in caplog.text


def test_a_crash_outside_of_a_call_gives_nothing_away(
    shared: RestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def crash(*_: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(shared.app, "tool_definitions", crash)
    response = shared.get("/mcp/tools")
    problem(response, 500, "internal")
    assert SECRET not in response.text and SECRET in caplog.text


def test_what_takes_too_long_is_told_and_may_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def linger(*_: object, **__: object) -> None:
        time.sleep(0.6)
        raise EagleError("Too late.")

    client = RestClient(tmp_path / "home", {"mcp": {"tool_timeout": 0.2}})
    monkeypatch.setattr(SearchService, "search", linger)
    client.app.engine()
    found = problem(client.post("/search", {"query": "x", "debug": True}), 504, "timeout")
    assert found["retryable"] and "too long" in found["detail"]
    client.close()


def test_a_full_queue_says_when_to_come_back(tmp_path: Path) -> None:
    ingest = {"max_queued": 1, "embedded_worker": False}
    client = RestClient(tmp_path / "home", {"ingest": ingest})
    assert client.upload("a.md", b"# A\n\nText.").status_code == 202
    response = client.upload("b.md", b"# B\n\nText.")
    found = problem(response, 503, "overloaded")
    assert found["retryable"] and found["retry_after_s"] > 0
    assert int(response.headers["retry-after"]) >= found["retry_after_s"]
    client.close()


def test_the_routes_are_there_before_the_engine_is() -> None:
    """A started server answers probes at once; the catalog and the models come with a call."""
    code = (
        "import sys, eagle_rag_core.api.rest.mounting\n"
        "print([m for m in ('sqlalchemy', 'numpy', 'faiss', 'lxml') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
