"""Metrics, the audit and traces as clients of a running server meet them."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from api.auth.served import Served
from prometheus_client.parser import text_string_to_metric_families

from eagle_rag_core.api.rest.metrics import metrics_of
from eagle_rag_core.app import EagleApp
from eagle_rag_core.calls.breaker import CircuitState
from eagle_rag_core.calls.events import CallRetried, CircuitChanged
from eagle_rag_core.settings import load_settings
from eagle_rag_core.telemetry.metrics import Metrics, record_mcp_call
from eagle_rag_core.telemetry.records import CallRecord
from eagle_rag_core.types import LOCAL

KEY = "key_4fJ2pQx7Rw9LmZ0aVb3sYd"
MINE = "tok_9bK8nHs1Tq5GcE6uWj2rXf"
COLLECTOR = "tok_Hd4kW9vN2xB7mQ1zR8tY5c"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
AUTH = {
    "enabled": True,
    "api_key": KEY,
    "failure_limit": 10_000,
    "tokens": [
        {"name": "me", "token": MINE, "kbs": ["mine"]},
        {"name": "collector", "token": COLLECTOR},
    ],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("metrics") / "home"
    with Served(home, auth=AUTH, ingest={"isolation": "thread"}) as server:
        yield server


Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples(text: str) -> Samples:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scraped(server: Served) -> Samples:
    answer = server.get("/metrics", COLLECTOR)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return samples(answer.text)


def value(found: Samples, name: str, **labels: str) -> float:
    return sum(
        number for (one, has), number in found.items() if one == name and labels.items() <= set(has)
    )


def grown(server: Served, act: Callable[[], object], name: str, **labels: str) -> float:
    before = value(scraped(server), name, **labels)
    act()
    return value(scraped(server), name, **labels) - before


def test_calls_are_counted_by_how_they_ended(server: Served) -> None:
    def call() -> None:
        server.call(KEY, "core_list_kbs")
        server.call(KEY, "core_list_documents", kb_name="nowhere")

    name = "eagle_rag_calls_total"
    face = {"face": "mcp-http"}
    assert grown(server, call, name, tool="core_list_kbs", outcome="ok", **face) == 1
    assert (
        grown(server, call, name, tool="core_list_documents", outcome="kb_not_found", **face) == 1
    )
    assert grown(server, call, "eagle_rag_call_seconds_count", tool="core_list_kbs", **face) == 1


def test_searches_say_what_the_cache_did(server: Served) -> None:
    def ask() -> None:
        server.call(KEY, "core_retrieve_text", query="nothing is kept of an empty answer")

    assert grown(server, ask, "eagle_rag_calls_total", cache="miss") == 1
    assert grown(server, ask, "eagle_rag_calls_total", cache="hit") == 0
    assert not value(scraped(server), "eagle_rag_calls_total", tool="core_list_kbs", cache="miss")


def test_names_that_callers_invent_make_no_series(server: Served) -> None:
    def invent(number: int) -> None:
        server.call(KEY, f"core_tool_{number}")
        server.get(f"/nothing/{number}", KEY)
        server.get(f"/documents/{number:032d}", KEY)
        server.http.request(f"VERB{number}", "/kbs", headers={"authorization": f"Bearer {KEY}"})
        server.get("/kbs", f"wrong-{number}")

    invent(0)
    scraped(server)  # which is a request, too
    before = set(scraped(server))
    for number in range(1, 13):
        invent(number)
    after = scraped(server)
    assert set(after) == before
    text = " ".join(f"{name} {sorted(labels)}" for name, labels in after)
    assert not re.search(r"core_tool_|nothing/|VERB|0000|wrong", text)
    assert value(after, "eagle_rag_calls_total", tool="unknown") >= 12
    assert value(after, "eagle_rag_http_requests_total", route="/documents/{document_id}") >= 12
    assert value(after, "eagle_rag_http_requests_total", route="other", status="404") >= 12
    assert value(after, "eagle_rag_authentication_refusals_total", code="unauthenticated") >= 12


def test_what_the_library_holds_is_shown(server: Served) -> None:
    server.http.post("/kbs", json={"name": "counted"}, headers={"authorization": f"Bearer {KEY}"})
    found = scraped(server)
    assert value(found, "eagle_rag_kbs") >= 1
    assert value(found, "eagle_rag_catalog_up") == 1
    for name in ("eagle_rag_documents", "eagle_rag_chunks", "eagle_rag_call_log_dropped_total"):
        assert (name, frozenset()) in found
    assert ("eagle_rag_jobs", frozenset({("status", "needs_ocr")})) in found
    assert value(found, "eagle_rag_circuit", operation="list_kbs", state="closed") == 1
    lane = frozenset({("operation", "list_kbs"), ("state", "abandoned")})
    assert ("eagle_rag_lane_calls", lane) in found
    assert value(found, "eagle_rag_info") == 1
    assert value(found, "process_resident_memory_bytes") > 0
    assert value(found, "eagle_rag_calls_in_flight") == 0


def test_what_an_index_takes_is_shown(tmp_path: Path) -> None:
    with Served(tmp_path / "home", auth=AUTH, ingest={"isolation": "thread"}) as server:
        text = ("otters.txt", b"Sea otters eat urchins.", "text/plain")
        form = {"files": {"file": text}, "headers": {"authorization": f"Bearer {KEY}"}}
        job = server.http.post("/ingest", **form).json()["job_id"]
        server.get(f"/jobs/{job}/events", KEY)  # ends with the job
        assert server.call(KEY, "core_retrieve_text", query="otters")["result"]
        found = scraped(server)
    assert value(found, "eagle_rag_index_rows") == 1
    assert value(found, "eagle_rag_index_bytes", kind="private") > 0


def test_metrics_take_a_token_for_everything(server: Served) -> None:
    assert server.get("/metrics").status_code == 401
    refused = server.get("/metrics", MINE)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert "eagle_rag_" not in refused.text.replace("eagle-rag", "")


def test_openmetrics_is_spoken_too(server: Served) -> None:
    answer = server.get("/metrics", KEY, accept="application/openmetrics-text; version=1.0.0")
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


def test_two_apps_count_apart_and_circuits_are_counted(tmp_path: Path) -> None:
    apps = [
        EagleApp.open(load_settings(overrides={"home": tmp_path / name, "mcp": mcp}), no_packs=True)
        for name, mcp in (("a", {}), ("b", {"workers": 3}))
    ]
    first, second = (metrics_of(app) for app in apps)
    opened = CircuitChanged("query", "", CircuitState.CLOSED, CircuitState.OPEN, False)
    apps[0].pipeline.resilience._listeners.tell(opened)
    apps[0].pipeline.resilience._listeners.tell(CallRetried("query", "", 1, "timeout"))
    texts = [metrics.exposition()[0].decode() for metrics in (first, second)]
    for app in apps:
        app.close()
    assert 'eagle_rag_circuit_transitions_total{operation="query",to="open"} 1.0' in texts[0]
    assert 'eagle_rag_call_retries_total{operation="query"} 1.0' in texts[0]
    assert "eagle_rag_circuit_transitions_total{" not in texts[1]
    assert "worker=" not in texts[0]
    lines = [line for line in texts[1].splitlines() if not line.startswith("#")]
    assert lines and all('worker="' in line for line in lines)


def test_a_record_is_counted_once() -> None:
    metrics = Metrics()
    record = CallRecord("made_up", "a", "rest", {}, "tool_not_found", 5.0, known=False)
    record_mcp_call(record, metrics)
    found = samples(metrics.exposition()[0].decode())
    assert value(found, "eagle_rag_calls_total", tool="unknown", outcome="tool_not_found") == 1
    assert value(found, "eagle_rag_call_seconds_bucket", le="0.005") == 1


def test_whoever_does_not_serve_over_http_imports_no_metrics() -> None:
    code = "import eagle_rag_core.app, sys; assert 'prometheus_client' not in sys.modules"
    code += "; assert 'opentelemetry.sdk' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def calls(server: Served, **wanted: Any) -> list[dict[str, Any]]:
    answer = server.http.get(
        "/admin/mcp", params=wanted, headers={"authorization": f"Bearer {KEY}"}
    )
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


def test_administrators_see_the_calls_of_everybody(server: Served) -> None:
    server.call(
        MINE, "core_retrieve_text", query="otters", scope=["https://u:s3cr3t@h/x?token=t0k"]
    )
    server.call(KEY, "core_list_kbs")
    (call,) = calls(server, caller="me", tool="core_retrieve_text")
    assert (call["face"], call["outcome"], call["cache_hit"]) == ("mcp-http", "ok", False)
    assert call["arguments"]["scope"] == ["https://***@h/x?token=***"]
    assert call["latency_ms"] > 0 and call["at"].endswith("Z")
    assert re.fullmatch("[0-9a-f]{32}", call["trace_id"])
    assert {one["caller"] for one in calls(server, tool="core_list_kbs", limit=100)} >= {"api-key"}


def test_calls_are_filtered_by_time_outcome_and_cache(server: Served) -> None:
    server.call(KEY, "core_list_documents", kb_name="absent")
    (failed,) = calls(server, outcome="kb_not_found", limit=1)
    assert failed in calls(server, outcome="error", limit=100)
    assert failed not in calls(server, until=failed["at"], limit=100)
    assert failed in calls(server, since=failed["at"].replace("Z", "+00:00"), limit=100)
    assert calls(server, cache_hit="true") == []
    assert calls(server, trace_id=failed["trace_id"], outcome="kb_not_found") == [failed]


def test_pages_of_calls_lose_and_repeat_none(server: Served) -> None:
    for _ in range(5):
        server.get("/tags", KEY)
    every = calls(server, tool="list_tags", limit=100)
    cursor, paged = "", []
    while True:
        answer = server.http.get(
            "/admin/mcp",
            params={"tool": "list_tags", "limit": 2, "cursor": cursor},
            headers={"authorization": f"Bearer {KEY}"},
        ).json()
        server.get("/tags", KEY)  # newer ones do not disturb the pages
        paged += answer["items"]
        cursor = answer["next_cursor"]
        if not cursor:
            break
    assert paged == every and len(paged) >= 5
    for bad in ("0", "-1", "x", "9" * 40, "٣"):
        answer = server.get(f"/admin/mcp?cursor={bad}", KEY)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_argument")


@pytest.mark.parametrize(
    "query", ["tol=x", "since=yesterday", "since=2026-01-01T00:00:00", "limit=0"]
)
def test_what_a_filter_cannot_be_is_said(server: Served, query: str) -> None:
    assert server.get(f"/admin/mcp?{query}", KEY).status_code == 422


def test_only_administrators_see_calls(server: Served) -> None:
    for token in (MINE, COLLECTOR):
        answer = server.get("/admin/mcp", token)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        assert "items" not in answer.json()
    refused = calls(server, tool="authenticate", outcome="forbidden")
    assert {one["caller"] for one in refused} >= {"me", "collector"}
    assert refused[0]["arguments"] == {"method": "GET", "path": "/admin/mcp"}


def test_refused_tokens_are_in_the_audit_without_themselves(server: Served) -> None:
    server.get("/kbs", "guessed-token-0123456789")
    server.get("/kbs")  # shows none: that is how clients begin
    refused = calls(server, tool="authenticate", outcome="unauthenticated")
    assert refused and refused[0]["caller"] == "address:127.0.0.1"
    assert "guessed" not in json.dumps(refused)
    assert len([one for one in refused if one["arguments"]["path"] == "/kbs"]) >= 1


def test_a_trace_goes_from_the_caller_to_the_audit_and_into_the_problem(server: Served) -> None:
    answer = server.get("/kbs/absent", KEY, traceparent=TRACEPARENT)
    assert answer.json()["instance"] == f"urn:eagle-rag:request:{TRACE}"
    (call,) = calls(server, trace_id=TRACE)
    assert call["tool"] == "get_kb"


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "nonsense",
        TRACEPARENT.replace(TRACE, "0" * 32),
        TRACEPARENT.upper(),
        "ff" + TRACEPARENT[2:],
    ],
)
def test_a_trace_that_is_none_is_replaced(server: Served, sent: str) -> None:
    instance = server.get("/kbs/absent", KEY, traceparent=sent).json()["instance"]
    assert re.fullmatch("urn:eagle-rag:request:[0-9a-f]{32}", instance)
    assert TRACE not in instance and "0" * 32 not in instance


def test_a_message_over_mcp_may_have_a_trace_of_its_own(server: Served) -> None:
    own, header = "a" * 32, "b" * 32

    def call(trace: str | None) -> None:
        params: dict[str, Any] = {"name": "core_list_kbs", "arguments": {}}
        if trace:
            params["_meta"] = {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
        server.mcp("tools/call", params, KEY, traceparent=f"00-{header}-00f067aa0ba902b7-01")

    call(own)
    call(None)
    assert [len(calls(server, trace_id=trace)) for trace in (own, header)] == [1, 1]


def test_the_log_names_the_trace(server: Served, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "eagle_rag_core.api.rest.problems"):
        instance = server.get("/kbs/absent", KEY).json()["instance"]
    assert instance in caplog.text


def test_a_crash_has_its_trace_in_the_problem(tmp_path: Path) -> None:
    from api.rest.rest_client import RestClient

    client = RestClient(tmp_path / "home")
    client.app.tool_definitions = None  # type: ignore[assignment, method-assign]
    answer: httpx2.Response = client.get("/mcp/tools", headers={"traceparent": TRACEPARENT})
    assert (answer.status_code, answer.json()["instance"][-32:]) == (500, TRACE)
    counted = samples(client.get("/metrics").text)
    assert value(counted, "eagle_rag_http_requests_total", route="/mcp/tools", status="500") == 1
    client.close()


def test_a_deployment_without_a_call_log_says_so(tmp_path: Path) -> None:
    from api.rest.rest_client import RestClient

    client = RestClient(tmp_path / "home", {"telemetry": {"call_log": False}})
    answer = client.get("/admin/mcp")
    assert (answer.status_code, answer.json()["code"]) == (422, "mode_unavailable")
    assert client.get("/metrics").status_code == 200
    client.close()


def test_spans_are_made_in_the_trace_of_the_caller(tmp_path: Path) -> None:
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from eagle_rag_core.telemetry.spans import CallSpans
    from eagle_rag_core.telemetry.tracing import parse_traceparent, tracing

    app = EagleApp.open(load_settings(overrides={"home": tmp_path / "home"}), no_packs=True)
    exporter = InMemorySpanExporter()
    spans = CallSpans(exporter, {"eagle_rag.namespace": "core"})
    app.pipeline.listen(spans.record)

    def call(tool: str, traceparent: str) -> None:
        trace = parse_traceparent(traceparent)
        assert trace is not None
        with tracing(trace):
            asyncio.run(app.pipeline.call(tool, {}, caller=LOCAL, face="test"))

    call("core_list_kbs", TRACEPARENT)
    call("invented", TRACEPARENT)
    call("core_list_kbs", TRACEPARENT[:-1] + "0")  # whoever began it does not record it
    asyncio.run(app.pipeline.call("core_list_kbs", {}, caller=LOCAL, face="test"))
    spans.flush()
    made = exporter.get_finished_spans()
    log = app.call_log
    assert log is not None
    recorded = log.recent()
    spans.close()
    app.close()
    assert [span.name for span in made] == ["core_list_kbs", "unknown", "core_list_kbs"]
    assert [f"{span.context.trace_id:032x}" for span in made[:2]] == [TRACE, TRACE]
    assert made[0].parent is not None and f"{made[0].parent.span_id:016x}" == "00f067aa0ba902b7"
    assert made[1].status.status_code.name == "ERROR"
    assert made[1].attributes is not None
    assert made[1].attributes["error.type"] == "tool_not_found"
    assert made[2].parent is None
    assert f"{made[2].context.trace_id:032x}" == recorded[0]["trace_id"]
    assert all(span.start_time < span.end_time for span in made)


def test_spans_go_where_the_settings_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from eagle_rag_core.telemetry.spans import call_spans

    settings = load_settings(overrides={"home": tmp_path})
    assert call_spans(settings) is None
    there = {"home": tmp_path, "telemetry": {"otlp_endpoint": "http://127.0.0.1:9/"}}
    spans = call_spans(load_settings(overrides=there))
    assert spans is not None
    processor = spans._provider._active_span_processor._span_processors[0]
    assert processor.span_exporter._endpoint == "http://127.0.0.1:9/v1/traces"
    spans.close()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    spans = call_spans(settings)
    assert spans is not None
    spans.close()
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert call_spans(settings) is None
