"""Every kind of failure is one short error with a stable code, and tells nothing of the server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from tool_library import REMOTE, TENANT, ToolCalls, ToolLibrary
from wire_checks import WireCheck

from eagle_rag_core.app import EagleApp
from eagle_rag_core.errors import ErrorCode, StorageError
from eagle_rag_core.settings import load_settings
from eagle_rag_core.types import Caller

SECRET = "postgresql://eagle:hunter2@db.internal/library"
NO_ID = "0" * 32


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolLibrary]:
    settings = {
        "mcp": {"max_retries": 0, "tool_timeout": 5.0},
        "ingest": {"max_bytes": 1000},
    }
    library = ToolLibrary(tmp_path_factory.mktemp("errors") / "home", settings=settings)
    library.add("# Otters\n\nSea otters eat urchins.\n", "otters.md")
    inbox = library.home / "inbox"
    (inbox / "large.txt").write_text("x" * 2000)
    (inbox / "folder").mkdir()
    yield library
    library.close()


def checked(
    tools: ToolCalls, tool: str, arguments: dict[str, Any], by: Caller = REMOTE
) -> dict[str, Any]:
    """The error of a call, after looking at all that is sent."""
    outcome = tools.outcome(tool, arguments, by=by)
    assert outcome.is_error, outcome.payload
    secrets = (str(tools.home), f"{Path.home()}/", str(Path(__file__).parents[2]), "hunter2")
    WireCheck(tools.app.pipeline.tools[tool], secrets).check(outcome, arguments)
    return outcome.error


OF_CALLERS: dict[str, tuple[str, dict[str, Any], str, Caller]] = {
    "missing": ("core_query", {}, "invalid_argument", REMOTE),
    "out-of-range": (
        "core_retrieve_text",
        {"query": "x", "top_k": 101},
        "invalid_argument",
        REMOTE,
    ),
    "blank": ("core_retrieve_text", {"query": " \n"}, "invalid_argument", REMOTE),
    "unknown-argument": ("core_list_kbs", {"kb": "x"}, "unknown_argument", REMOTE),
    "bad-filter": (
        "core_list_documents",
        {"filter": [{"field": "path", "op": "eq", "value": "x"}]},
        "invalid_argument",
        REMOTE,
    ),
    "bad-cursor": ("core_list_kbs", {"cursor": "x"}, "invalid_argument", REMOTE),
    "unknown-kb": ("core_query", {"query": "x", "kb_name": "nope"}, "kb_not_found", REMOTE),
    "forbidden-kb": ("core_query", {"query": "x", "kb_name": "default"}, "kb_not_found", TENANT),
    "unknown-document": ("core_get_outline", {"document_id": NO_ID}, "document_not_found", REMOTE),
    "unknown-job": ("core_get_job", {"job_id": NO_ID}, "job_not_found", REMOTE),
    "outside": ("core_ingest", {"source_uri": "/etc/passwd"}, "path_not_allowed", REMOTE),
    "climbing": ("core_ingest", {"source_uri": "../catalog.db"}, "path_not_allowed", REMOTE),
    "absent": ("core_ingest", {"source_uri": "absent.md"}, "source_not_found", REMOTE),
    "folder": ("core_ingest", {"source_uri": "folder"}, "source_unreadable", REMOTE),
    "large": ("core_ingest", {"source_uri": "large.txt"}, "source_too_large", REMOTE),
    "inside": ("core_ingest", {"source_uri": "http://127.0.0.1/"}, "url_not_allowed", REMOTE),
    "scheme": ("core_ingest", {"source_uri": "gopher://x/"}, "invalid_argument", REMOTE),
    "others-kb": (
        "core_ingest",
        {"source_uri": "otters.md", "kb_name": "default"},
        "kb_not_found",
        TENANT,
    ),
}


@pytest.mark.parametrize("case", OF_CALLERS)
def test_a_mistake_of_the_caller_is_explained(tools: ToolLibrary, case: str) -> None:
    tool, arguments, code, caller = OF_CALLERS[case]
    error = checked(tools, tool, arguments, caller)
    assert (error["code"], error["retryable"]) == (code, False)
    assert len(error["error"]) < 600


def test_an_unknown_section_and_tool_are_told_apart(tools: ToolLibrary) -> None:
    (item,) = tools.call("core_list_documents")["items"]
    arguments = {"document_id": item["document_id"], "section_id": "nope"}
    assert checked(tools, "core_get_section", arguments)["code"] == "section_not_found"
    assert tools.outcome("core_get_sections", {}, by=REMOTE).code == "tool_not_found"


def foreign() -> list[Exception]:
    return [
        OperationalError("SELECT secret", {}, Exception(f"cannot connect to {SECRET}")),
        FileNotFoundError(2, "No such file", "/home/eagle/library/catalog.db"),
        KeyError("hunter2"),
        RuntimeError(f"Traceback (most recent call last): {SECRET}"),
        UnicodeEncodeError("utf-8", "hunter2\ud800", 7, 8, "surrogates not allowed"),
        RecursionError("maximum recursion depth exceeded in /usr/lib/python3/json/decoder.py"),
        MemoryError(),
    ]


@pytest.mark.parametrize("error", foreign(), ids=lambda error: type(error).__name__)
def test_of_a_foreign_exception_only_its_name_and_a_log_id_are_told(
    tools: ToolLibrary,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    # One tool each: several failures in a row would be answered by the breaker.
    tool, service, method, arguments = {
        "OperationalError": ("core_list_kbs", "kbs", "page", {}),
        "FileNotFoundError": ("core_list_documents", "documents", "list", {}),
        "KeyError": ("core_get_document", "reading", "read", {"document_id": NO_ID}),
        "RuntimeError": ("core_get_outline", "reading", "outline", {"document_id": NO_ID}),
        "UnicodeEncodeError": ("core_retrieve_text", "search", "search", {"query": "x"}),
        "RecursionError": ("core_query", "answer", "answer", {"query": "x"}),
        "MemoryError": ("core_get_job", "jobs", "get", {"job_id": NO_ID}),
    }[type(error).__name__]
    monkeypatch.setattr(getattr(tools.app.services(), service), method, fail)
    found = checked(tools, tool, arguments)
    assert found["code"] == ErrorCode.INTERNAL
    name, _, rest = found["error"].partition(": ")
    assert name == type(error).__name__ and rest.startswith("unexpected failure, see log entry ")
    assert rest.rsplit(" ", 1)[-1] in caplog.text


def test_a_part_that_is_down_says_come_back_and_then_is_spared(
    tools: ToolLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: Any, **__: Any) -> Any:
        raise StorageError("The catalog cannot be used right now; try again.")

    monkeypatch.setattr(tools.app.services().jobs, "get", down)
    errors = [checked(tools, "core_get_job", {"job_id": NO_ID}) for _ in range(7)]
    assert errors[0]["error"].startswith("StorageError: The catalog cannot be used")
    assert (errors[0]["code"], errors[0]["retryable"]) == ("storage_unavailable", True)
    assert (errors[-1]["code"], errors[-1]["error"]) == ("circuit_open", "circuit_open: get_job")
    assert errors[-1]["retry_after_s"] > 0


def test_a_call_that_takes_too_long_names_its_operation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = ToolLibrary(
        tmp_path / "home", settings={"mcp": {"tool_timeout": 0.2, "max_retries": 0}}
    )
    release = threading.Event()

    def hang(*_: Any, **__: Any) -> Any:
        release.wait(10)

    try:
        monkeypatch.setattr(library.app.services().search, "search", hang)
        error = checked(library, "core_retrieve_text", {"query": "x"})
        assert (error["error"], error["code"]) == ("timeout: retrieve_text", "timeout")
    finally:
        release.set()
        library.close()


def test_a_deployment_that_cannot_be_opened_names_no_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "catalog.db").write_bytes(b"this is no database" * 100)
    overrides = {"home": home, "models": {"text_embedder": "none"}}
    broken = ToolCalls(EagleApp.open(load_settings(overrides=overrides)))
    try:
        for tool in ("core_list_kbs", "core_retrieve_text"):
            arguments = {"query": "x"} if tool == "core_retrieve_text" else {}
            assert checked(broken, tool, arguments)["code"] == "storage_unavailable"
    finally:
        broken.close()


def test_a_result_that_is_none_is_a_failure_of_the_tool(
    tools: ToolLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*_: Any, **__: Any) -> Any:
        return [], 5

    monkeypatch.setattr(tools.app.services().kbs, "page", wrong)
    error = checked(tools, "core_list_kbs", {})
    assert error["code"] == "plugin_failed"
