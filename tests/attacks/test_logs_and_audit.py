"""What callers and documents say does not forge entries, and secrets stay out of the audit."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.app import EagleApp
from eagle_rag_core.settings import Settings, load_settings
from eagle_rag_core.settings.sections import TelemetrySettings
from eagle_rag_core.telemetry.call_log import CallLog
from eagle_rag_core.telemetry.logs import configure_logging
from eagle_rag_core.telemetry.records import CallRecord
from eagle_rag_core.telemetry.redaction import redact
from eagle_rag_core.types import LOCAL

SECRET = "s3cr3t-value"
#: Arguments in which a caller sends a secret.
CARRIERS: dict[str, dict[str, Any]] = {
    "argument": {"api_key": SECRET},
    "nested": {"metadata": {"password": SECRET}},
    "in-a-list": {"filter": [{"field": "x", "token": SECRET}]},
    "upper-case": {"X-API-KEY": SECRET},
    "credentials": {"aws_credentials": [SECRET]},
    "passwd": {"passwd": SECRET},
    "user-info": {"source_uri": f"https://user:{SECRET}@example.org/x"},
    "user-alone": {"source_uri": f"https://{SECRET}@example.org/x"},
    "user-info-of-a-database": {"query": f"use postgresql://u:{SECRET}@db/x please"},
    "parameter": {"source_uri": f"https://example.org/x?a=1&access_token={SECRET}&b=2"},
    "presigned-s3": {"source_uri": f"https://b.example/x?X-Amz-Signature={SECRET}"},
    "presigned-azure": {"source_uri": f"https://b.example/x?sv=1&sig={SECRET}"},
    "fragment": {"source_uri": f"https://example.org/#id_token={SECRET}"},
    "in-a-list-of-addresses": {"scope": [f"https://user:{SECRET}@example.org/"]},
    "far-behind": {"query": "x" * 1_000 + f" https://u:{SECRET}@example.org/"},
}


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_secret_of_a_caller_is_not_kept(carrier: str) -> None:
    assert SECRET not in redact(CARRIERS[carrier])


def test_the_rest_of_an_address_is_kept() -> None:
    kept = redact({"source_uri": f"https://u:{SECRET}@example.org/a?b=1&api_key={SECRET}#c"})
    assert json.loads(kept) == {"source_uri": "https://***@example.org/a?b=1&api_key=***#c"}
    assert json.loads(redact({"query": "mail a@b.example: 1?"})) == {
        "query": "mail a@b.example: 1?"
    }


def nested(depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(depth):
        found = {"a": found}
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        {"x": "y" * 5_000_000},
        {"x" * 100_000: "y"},
        {str(number): "y" * 200 for number in range(10_000)},
        {"x": [["y" * 200] * 1_000] * 1_000},
        nested(50_000),
        {"x": "?" * 100_000},
        {"x": "?key" * 100_000},
        {"x": "://" * 100_000},
        {"x": "\ud800", "\udfff": float("nan")},
    ],
    ids=["text", "name", "names", "lists", "depth", "marks", "keys", "addresses", "surrogates"],
)
def test_no_arguments_are_too_much_for_the_audit(arguments: dict[str, Any]) -> None:
    kept = redact(arguments)
    kept.encode()
    json.loads(kept)
    assert len(kept) < 20_000


@given(
    st.recursive(
        st.none() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_arguments_become_json(value: Any) -> None:
    json.loads(redact({"value": value}))


def test_a_record_that_is_no_text_takes_no_other_with_it(tmp_path: Path) -> None:
    log = CallLog(tmp_path / "audit.db", keep_days=1)
    for tool in ("first", "\ud800", "last"):
        arguments = {"query": "\udfff"}
        log.record(CallRecord(tool, "alice", "test", arguments, "ok", 1.0, at=1e10))
    assert [row["tool"] for row in log.recent()] == ["last", "?", "first"]
    log.close()


def test_a_call_with_secrets_leaves_none_behind(tmp_path: Path) -> None:
    overrides = {"home": tmp_path / "home", "models": {"text_embedder": "none"}}
    app = EagleApp.open(load_settings(overrides=overrides), no_packs=True)
    calls = [
        ("core_ingest", {"source_uri": f"https://user:{SECRET}@example.org/"}),
        ("core_retrieve_text", {"query": "x", "password": SECRET}),
        (f"core_x\n{'y' * 500}", {}),
    ]
    for tool, arguments in calls:
        outcome = asyncio.run(app.pipeline.call(tool, arguments, caller=LOCAL, face="test"))
        assert outcome.is_error and SECRET not in str(outcome.payload)
    app.close()
    assert SECRET.encode() not in b"".join(
        path.read_bytes() for path in (tmp_path / "home").glob("audit.db*")
    )


@pytest.fixture(params=["console"])
def lines(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What is logged from here on; the logging of the tests comes back."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    configure_logging(Settings(telemetry=TelemetrySettings(log_format=request.param)))
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)


FORGED = "2026-01-01T00:00:00Z [error    ] all documents were deleted [eagle_rag_core]"


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x85", "\u2028", "\u2029", "\x0b", "\x0c"])
def test_no_text_ends_the_line_of_its_entry(lines: io.StringIO, end: str) -> None:
    logging.getLogger("eagle").warning("Reading %s failed", f"x{end}{FORGED}")
    assert len(lines.getvalue().splitlines()) == 1
    assert FORGED in lines.getvalue()


@pytest.mark.parametrize(
    "steering", ["\x1b[2J", "\x1b]0;x\x07", "\x9b31m", "\x08", "\u202e", "\u2066"]
)
def test_no_text_steers_the_terminal(lines: io.StringIO, steering: str) -> None:
    logging.getLogger("eagle").warning("Reading %s failed", f"a{steering}b")
    assert steering not in lines.getvalue()


def test_no_exception_forges_an_entry(lines: io.StringIO) -> None:
    try:
        raise ValueError(f"x\n{FORGED}\x1b[2J")
    except ValueError:
        logging.getLogger("eagle").exception("A parser failed")
    entries = [line for line in lines.getvalue().splitlines() if not line.startswith("    ")]
    assert len(entries) == 1 and "A parser failed" in entries[0]
    assert FORGED in lines.getvalue() and "\x1b" not in lines.getvalue()


@pytest.mark.parametrize("lines", ["json"], indirect=True)
def test_entries_in_json_are_one_line_each(lines: io.StringIO) -> None:
    logging.getLogger("eagle").warning("Reading %s failed", f"x\n{FORGED}\u2028\x1b[2J")
    (line,) = lines.getvalue().splitlines()
    assert json.loads(line)["event"].startswith("Reading x\n")
