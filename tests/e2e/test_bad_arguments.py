"""Arguments nobody should send: each is refused clearly, and the session goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from e2e import rows
from e2e.answers import assert_clean
from e2e.product import Caller, Deployment
from e2e.servers import Launcher

SEARCH, QUERY, INGEST = "core_retrieve_text", "core_query", "core_ingest"
DOCUMENTS, JOB, KBS = "core_list_documents", "core_get_job", "core_list_kbs"
#: Tools whose result is a list, and so are their errors.
LISTS = {SEARCH}


def searching(**more: Any) -> dict[str, Any]:
    return {"query": "urchins", **more}


def filtering(field: object, op: object, value: object) -> dict[str, Any]:
    return searching(filter=[{"field": field, "op": op, "value": value}])


#: Tool, arguments, code, and words the message must have.
REFUSED: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "query-missing": (SEARCH, {}, "invalid_argument", "'query' is required"),
    "query-empty": (SEARCH, {"query": ""}, "invalid_argument", "1 to 8000 characters"),
    "query-blank": (SEARCH, {"query": " \t\n "}, "invalid_argument", "query is empty"),
    "query-null": (SEARCH, {"query": None}, "invalid_argument", "not null"),
    "query-number": (SEARCH, {"query": 5}, "invalid_argument", "must be a string"),
    "query-list": (SEARCH, {"query": ["a"]}, "invalid_argument", "must be a string"),
    "query-too-long": (SEARCH, {"query": "x" * 8001}, "invalid_argument", "8001 characters"),
    "question-blank": (QUERY, {"query": "  "}, "invalid_argument", "query is empty"),
    "question-too-long": (QUERY, {"query": "x" * 8001}, "invalid_argument", "8000 characters"),
    "top_k-zero": (SEARCH, searching(top_k=0), "invalid_argument", "from 1 to 100, not 0"),
    "top_k-negative": (SEARCH, searching(top_k=-1), "invalid_argument", "from 1 to 100, not -1"),
    "top_k-huge": (SEARCH, searching(top_k=10**12), "invalid_argument", "from 1 to 100"),
    "top_k-astronomic": (SEARCH, searching(top_k=10**400), "invalid_argument", "from 1 to 100"),
    "top_k-word": (SEARCH, searching(top_k="many"), "invalid_argument", "an integer"),
    "top_k-digits": (SEARCH, searching(top_k="5"), "invalid_argument", "an integer"),
    "top_k-true": (SEARCH, searching(top_k=True), "invalid_argument", "not true"),
    "top_k-fraction": (SEARCH, searching(top_k=1.5), "invalid_argument", "an integer"),
    "unknown-argument": (SEARCH, searching(top_K=5), "unknown_argument", "did you mean 'top_k'"),
    "argument-of-none": (KBS, {"kb": "x"}, "unknown_argument", "Known: limit, cursor"),
    "kb-unknown": (SEARCH, searching(kb_name="nope"), "kb_not_found", "'nope'"),
    "kb-unknown-question": (QUERY, searching(kb_name="nope"), "kb_not_found", "'nope'"),
    "kb-unknown-list": (DOCUMENTS, {"kb_name": "nope"}, "kb_not_found", "'nope'"),
    "kb-unknown-union": (
        SEARCH,
        searching(scope_filter={"kb_names": ["default", "nope"]}),
        "kb_not_found",
        "'nope'",
    ),
    "kb-bad-name": (SEARCH, searching(kb_name="../x"), "kb_not_found", "'../x'"),
    "kb-bad-name-ingest": (
        INGEST,
        {"source_uri": "otters.md", "kb_name": "No Such!"},
        "invalid_argument",
        "lower-case letters",
    ),
    "kb-newline-ingest": (
        INGEST,
        {"source_uri": "otters.md", "kb_name": "kb\n"},
        "invalid_argument",
        "lower-case letters",
    ),
    "kb-too-long": (SEARCH, searching(kb_name="k" * 65), "invalid_argument", "64 characters"),
    "scope-string": (SEARCH, searching(scope="abc"), "invalid_argument", "must be a list"),
    "scope-blank-id": (SEARCH, searching(scope=[""]), "invalid_argument", "'scope[0]'"),
    "scope-endless": (SEARCH, searching(scope=["a"] * 1001), "invalid_argument", "1000 items"),
    "union-list": (SEARCH, searching(scope_filter=[]), "invalid_argument", "must be an object"),
    "union-unknown-key": (
        SEARCH,
        searching(scope_filter={"kbs": ["a"]}),
        "unknown_argument",
        "Known: kb_names, document_ids, tags",
    ),
    "filter-string": (SEARCH, searching(filter="a=1"), "invalid_argument", "must be a list"),
    "filter-field": (SEARCH, filtering("rank", "eq", "1"), "invalid_argument", "Allowed: "),
    "filter-sql": (
        SEARCH,
        filtering("title = '' OR 1=1 --", "eq", "1"),
        "invalid_argument",
        "Unknown filter field",
    ),
    "filter-op": (SEARCH, filtering("title", "like", "a"), "invalid_argument", "one of 'eq'"),
    "filter-date": (
        SEARCH,
        filtering("created_at", "gt", "yesterday"),
        "invalid_argument",
        "2026-01-31",
    ),
    "filter-number": (SEARCH, filtering("title", "eq", 5), "invalid_argument", "filter[0].value"),
    "filter-half": (
        SEARCH,
        searching(filter=[{"field": "title"}]),
        "invalid_argument",
        "'filter[0].op' is required",
    ),
    "cursor-garbage": (DOCUMENTS, {"cursor": "zzz"}, "invalid_argument", "next_cursor"),
    "limit-zero": (DOCUMENTS, {"limit": 0}, "invalid_argument", "from 1 to 100"),
    "job-unknown": (JOB, {"job_id": "0" * 32}, "job_not_found", "no job"),
    "job-nonsense": (JOB, {"job_id": "' OR 1=1 --"}, "job_not_found", "no job"),
    "job-number": (JOB, {"job_id": 7}, "invalid_argument", "must be a string"),
    "mode-unknown": (QUERY, searching(mode="psychic"), "invalid_argument", "one of 'auto'"),
    "tool-unknown": ("core_retrieve_txt", searching(), "tool_not_found", "'core_retrieve_text'"),
    "tool-of-nobody": ("sql_run", {}, "tool_not_found", "no tool 'sql_run'"),
    "metadata-numbers": (
        INGEST,
        {"source_uri": "otters.md", "metadata": {"year": 2026}},
        "invalid_argument",
        "metadata",
    ),
    "metadata-key": (
        INGEST,
        {"source_uri": "otters.md", "metadata": {"no key!": "x"}},
        "invalid_argument",
        "Keys of metadata",
    ),
    "metadata-endless": (
        INGEST,
        {"source_uri": "otters.md", "metadata": {"k": "v" * 1_000_000}},
        "invalid_argument",
        "at most 2000 characters",
    ),
    "metadata-nul": (
        INGEST,
        {"source_uri": "otters.md", "metadata": {"k": "v\0"}},
        "invalid_argument",
        "control characters",
    ),
    "title-nul": (
        INGEST,
        {"source_uri": "otters.md", "title": "a\0b"},
        "invalid_argument",
        "no text can have",
    ),
    "tag-nul": (
        INGEST,
        {"source_uri": "otters.md", "tags": ["a\0b"]},
        "invalid_argument",
        "no text can have",
    ),
    "tags-string": (
        INGEST,
        {"source_uri": "otters.md", "tags": "a,b"},
        "invalid_argument",
        "must be a list",
    ),
}


@pytest.fixture(scope="module", params=["stdio", "http"])
def server(
    request: pytest.FixtureRequest, shared_deployment: Deployment, shared_launcher: Launcher
) -> Caller:
    (shared_deployment.inbox / "otters.md").write_text("# Otters\n\nSea otters eat urchins.\n")
    start = getattr(shared_launcher, request.param)
    server: Caller = start(shared_deployment)
    server.add("otters.md")
    return server


@pytest.fixture(autouse=True)
def nothing_changes(server: Caller, shared_deployment: Deployment) -> Iterator[None]:
    """A refused call leaves no row behind."""
    before = _everything(shared_deployment)
    yield
    assert _everything(shared_deployment) == before
    assert rows.leftovers(shared_deployment) == {}


def _everything(deployment: Deployment) -> list[Any]:
    return [
        rows.jobs(deployment),
        rows.rows(deployment, "SELECT name FROM kbs"),
        rows.rows(deployment, "SELECT document_id, updated_at FROM documents"),
    ]


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_clearly_and_the_session_lives(
    server: Caller, shared_deployment: Deployment, case: str
) -> None:
    tool, arguments, code, words = REFUSED[case]
    reply = server.call(tool, arguments)
    assert isinstance(reply.payload, list) == (tool in LISTS)
    assert (reply.code, reply.error["retryable"]) == (code, False)
    assert words in reply.error["error"]
    assert len(reply.error["error"]) < 400  # a huge value is not echoed
    assert reply.structured == reply.payload
    assert_clean(reply, shared_deployment)
    assert server.search("urchins") == ["# Otters\n\nSea otters eat urchins."]


@pytest.mark.parametrize(
    "more",
    [
        {"top_k": None},
        {"kb_name": None},
        {"kb_name": ""},
        {"scope": None},
        {"scope": []},
        {"scope_filter": {}},
        {"scope_filter": {"kb_names": [], "document_ids": [], "tags": []}},
        {"filter": []},
        {"filter": None},
    ],
    ids=str,
)
def test_an_empty_optional_argument_means_absent(server: Caller, more: dict[str, Any]) -> None:
    assert server.search("urchins", **more) == ["# Otters\n\nSea otters eat urchins."]


@pytest.mark.parametrize(
    "more",
    [
        {"scope": ["no-such-document"]},
        {"scope": ["f" * 32]},
        {"scope": ["' OR 1=1 --"]},
        {"scope_filter": {"document_ids": ["no-such-document"]}},
        {"scope_filter": {"tags": ["no-such-tag"]}},
        {"filter": [{"field": "title", "op": "eq", "value": "' OR 1=1 --"}]},
        {"filter": [{"field": "metadata.nothing", "op": "eq", "value": "x"}]},
    ],
    ids=str,
)
def test_a_scope_that_holds_nothing_finds_nothing(server: Caller, more: dict[str, Any]) -> None:
    """It never widens to everything."""
    assert server.search("urchins", **more) == []
    if "filter" not in more:
        answer = server.call("core_query", query="What do otters eat?", **more).payload
        assert answer["sources"] == []


@pytest.mark.parametrize(
    "query",
    ["a\0b", "\U0001f9a6" * 2000, "‮urchins", "%s %d {} ${HOME}", "x" * 8000, "'; DROP TABLE"],
    ids=["nul", "emoji", "bidi", "formats", "longest", "sql"],
)
def test_odd_queries_are_searched_for(server: Caller, query: str) -> None:
    for tool in (SEARCH, QUERY):
        assert not server.call(tool, query=query).is_error
