"""``GET /metrics``: what this process counts, and what the library holds, for Prometheus."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from eagle_rag_core import __version__
from eagle_rag_core.api.rest.asking import Asking
from eagle_rag_core.api.rest.calling import CallerOf
from eagle_rag_core.api.rest.openapi import answers
from eagle_rag_core.api.rest.problems import ProblemError
from eagle_rag_core.app import EagleApp
from eagle_rag_core.calls.breaker import CircuitState
from eagle_rag_core.calls.events import CallEvent, CallRefused, CallRetried, CircuitChanged
from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.telemetry.metrics import Metrics, Reading, record_mcp_call

_SECONDS: Final = 6.0
_EXAMPLE: Final = """\
# HELP eagle_rag_calls_total Calls of tools and operations, by how they ended.
# TYPE eagle_rag_calls_total counter
eagle_rag_calls_total{cache="miss",face="mcp-http",outcome="ok",tool="core_query"} 7.0
"""


def metrics_of(app: EagleApp) -> Metrics:
    """The metrics of an app in this process, from now on."""
    # Processes that share a port answer in turn; without their names counters would jump.
    metrics = Metrics(worker=str(os.getpid()) if app.settings.mcp.workers > 1 else "")
    app.pipeline.listen(lambda record: record_mcp_call(record, metrics))
    app.pipeline.resilience.listen(lambda event: _count(event, metrics))
    for reader in (_deployment, _calls, _library, _indexes):
        metrics.read(lambda reader=reader: reader(app))  # type: ignore[misc]
    return metrics


def metrics_router(metrics: Metrics) -> APIRouter:
    router = APIRouter(tags=["health"])
    asking: dict[str, Asking[tuple[bytes, str]]] = {}

    @router.get(
        "/metrics",
        operation_id="metrics",
        summary="Metrics for Prometheus",
        response_class=Response,
        responses=answers(
            _EXAMPLE, ErrorCode.FORBIDDEN, ErrorCode.TIMEOUT, media_type="text/plain"
        ),
    )
    async def scrape(request: Request, caller: CallerOf) -> Response:
        """Counts everybody's calls and documents: a token limited to knowledge bases is refused.
        With `mcp.workers` above 1 the process that answers is named by the label `worker`."""
        if caller.kbs is not None:
            raise ProblemError(
                ErrorCode.FORBIDDEN,
                "Metrics count what everybody does; they take a token for all knowledge bases.",
            )
        wanted = "openmetrics" if "openmetrics" in request.headers.get("accept", "") else "text"
        accept = "application/openmetrics-text" if wanted == "openmetrics" else ""
        if wanted not in asking:
            asking[wanted] = Asking(lambda: metrics.exposition(accept))
        answer = await asking[wanted].answer(_SECONDS)
        if answer is None:
            raise ProblemError(
                ErrorCode.TIMEOUT, "The library does not say what it holds.", retryable=True
            )
        text, media_type = answer
        return Response(text, headers={"content-type": media_type, "cache-control": "no-store"})

    return router


def _count(event: CallEvent, metrics: Metrics) -> None:
    match event:
        case CircuitChanged(operation=operation, after=after):
            metrics.transitions.labels(operation, str(after)).inc()
        case CallRefused(operation=operation, reason=reason):
            metrics.refusals.labels(operation, str(reason)).inc()
        case CallRetried(operation=operation):
            metrics.retries.labels(operation).inc()


def _deployment(app: EagleApp) -> Iterator[Reading]:
    build = (__version__, app.settings.namespace, app.settings.profile)
    yield Reading(
        "eagle_rag_info", "What runs.", {build: 1}, labels=("version", "namespace", "profile")
    )
    states = Counter(str(pack["state"]) for pack in app.plugins_report()["packs"])
    yield Reading("eagle_rag_packs", "Installed packs.", _by_one(states), labels=("state",))
    if app.call_log is not None:
        lost = _alone(app.call_log.dropped)
        yield Reading("eagle_rag_call_log_dropped", "Records lost.", lost, counts=True)


def _calls(app: EagleApp) -> Iterator[Reading]:
    in_flight = _alone(app.pipeline.in_flight)
    yield Reading("eagle_rag_calls_in_flight", "Calls not answered yet.", in_flight)
    guards = app.pipeline.resilience.state()
    yield Reading(
        "eagle_rag_circuit",
        "1 for the state a circuit is in.",
        {
            (guard.operation, str(state)): float(guard.circuit is state)
            for guard in guards
            for state in CircuitState
        },
        labels=("operation", "state"),
    )
    yield Reading(
        "eagle_rag_lane_calls",
        "Calls that run, wait for their turn, or were given up and still run.",
        {
            (guard.operation, state): float(getattr(guard.load, state))
            for guard in guards
            for state in ("running", "waiting", "abandoned")
        },
        labels=("operation", "state"),
    )


def _library(app: EagleApp) -> Iterable[Reading]:
    """Sizes from the catalog, the same in every process; none while it cannot be read."""
    from eagle_rag_core.service.library_numbers import library_numbers  # brings SQL

    try:
        numbers = library_numbers(app.engine().catalog)
    except EagleError:
        return [Reading("eagle_rag_catalog_up", "The catalog can be read.", _alone(0))]
    return [
        Reading("eagle_rag_catalog_up", "The catalog can be read.", _alone(1)),
        Reading("eagle_rag_kbs", "Knowledge bases.", _alone(numbers.kbs)),
        Reading("eagle_rag_documents", "Documents.", _alone(numbers.documents)),
        Reading("eagle_rag_chunks", "Passages.", _alone(numbers.chunks)),
        Reading("eagle_rag_jobs", "Ingest jobs.", _by_one(numbers.jobs), labels=("status",)),
        Reading("eagle_rag_jobs_dead", "Jobs not tried again.", _alone(numbers.dead_jobs)),
    ]


def _indexes(app: EagleApp) -> Iterable[Reading]:
    """What searches of this process hold in memory; nothing of collections it has not searched."""
    try:
        used = app.engine().store.usage()
    except EagleError:
        return []
    return [
        Reading(
            "eagle_rag_index_rows",
            "Rows that searches can find.",
            {(name,): float(usage.rows) for name, usage in used.items()},
            labels=("collection",),
        ),
        Reading(
            "eagle_rag_index_bytes",
            "Memory of an index: of this process, and of files that processes share.",
            {
                (name, kind): float(size)
                for name, usage in used.items()
                for kind, size in (("private", usage.private), ("mapped", usage.mapped))
            },
            labels=("collection", "kind"),
        ),
    ]


def _alone(number: float) -> dict[tuple[str, ...], float]:
    """The value of a metric without labels."""
    return {(): float(number)}


def _by_one(counts: Mapping[Any, int]) -> dict[tuple[str, ...], float]:
    return {(str(name),): float(number) for name, number in counts.items()}
