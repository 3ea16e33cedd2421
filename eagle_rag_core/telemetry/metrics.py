"""Metrics of one deployment in one process, for Prometheus.

Every label has a bounded set of values: names of tools and operations that exist, error codes,
faces, routes. What callers choose freely (names of tools that do not exist, paths, knowledge bases,
who they are) is no label.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from eagle_rag_core.telemetry.records import UNKNOWN, CallRecord

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Seconds; a search takes milliseconds, an answer with a model half a minute.
_BUCKETS: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"})
_OTHER: Final = "other"


@dataclass(frozen=True, slots=True)
class Reading:
    """Values of one metric at the moment they are asked for.

    :param labels: their names.
    :param values: by the values of the labels.
    """

    name: str
    about: str
    values: Mapping[tuple[str, ...], float]
    labels: tuple[str, ...] = ()
    counts: bool = False


#: Reads values when somebody asks; what cannot be read is left out.
Reader = Callable[[], Iterable[Reading]]


class Metrics:
    """Counts what happens, in a registry of its own.

    :param worker: names this process where several serve one port, "" where it is alone.
    """

    def __init__(self, worker: str = "") -> None:
        self._registry = registry = CollectorRegistry()
        self._worker = worker
        ProcessCollector(registry=registry)
        self.calls = Counter(
            "eagle_rag_calls",
            "Calls of tools and operations, by how they ended.",
            ("tool", "face", "outcome", "cache"),
            registry=registry,
        )
        self.call_seconds = Histogram(
            "eagle_rag_call_seconds",
            "How long calls took, waiting for their turn included.",
            ("tool", "face"),
            buckets=_BUCKETS,
            registry=registry,
        )
        self.requests = Counter(
            "eagle_rag_http_requests",
            "Requests over HTTP.",
            ("method", "route", "status"),
            registry=registry,
        )
        self.request_seconds = Histogram(
            "eagle_rag_http_request_seconds",
            "Seconds until the end of the answer.",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=registry,
        )
        self.transitions = Counter(
            "eagle_rag_circuit_transitions",
            "Circuits that opened, closed or let a probe through.",
            ("operation", "to"),
            registry=registry,
        )
        self.refusals = Counter(
            "eagle_rag_calls_refused",
            "Calls that were turned away before they began.",
            ("operation", "reason"),
            registry=registry,
        )
        self.retries = Counter(
            "eagle_rag_call_retries",
            "Repetitions of calls that failed.",
            ("operation",),
            registry=registry,
        )
        self.authentications = Counter(
            "eagle_rag_authentication_refusals",
            "Requests that were not let in.",
            ("code",),
            registry=registry,
        )

    def read(self, reader: Reader) -> None:
        """Show what ``reader`` reads whenever somebody asks."""
        self._registry.register(_Readings(reader))

    def exposition(self, accept: str = "") -> tuple[bytes, str]:
        """All metrics in a text format of Prometheus, and its media type.

        :param accept: what the reader takes, as the header of HTTP has it.
        """
        encode, media_type = choose_encoder(accept)
        shown: Collector = self._registry
        return encode(_Labelled(shown, self._worker) if self._worker else shown), media_type


def record_mcp_call(record: CallRecord, metrics: Metrics) -> None:
    """Count one call, over MCP or any other face."""
    tool = record.tool if record.known else UNKNOWN
    metrics.calls.labels(tool, record.face, record.outcome, record.cached).inc()
    metrics.call_seconds.labels(tool, record.face).observe(record.latency_ms / 1000)


def with_metrics(app: ASGIApp, metrics: Metrics, paths: Iterable[str]) -> ASGIApp:
    """An ASGI application whose requests are counted and timed.

    :param paths: of routes without parameters, which name a request that no router has seen.
    """
    known = frozenset(paths)

    async def measured(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        status = "none"  # of a request whose sender left before its answer began
        began = time.perf_counter()

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        try:
            await app(scope, receive, note)
        except Exception:
            status = "500"  # answered further out
            raise
        finally:
            method = scope["method"] if scope["method"] in _METHODS else _OTHER
            route = _route_of(scope, known)
            metrics.requests.labels(method, route, status).inc()
            metrics.request_seconds.labels(method, route).observe(time.perf_counter() - began)

    return measured


def _route_of(scope: Scope, known: frozenset[str]) -> str:
    """The template of the route a request went to: never the path, which callers choose."""
    template: object = getattr(scope.get("route"), "path", None)
    if isinstance(template, str):
        return template
    return scope["path"] if scope["path"] in known else _OTHER


class _Readings(Collector):
    """Readings as the library wants them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def describe(self) -> Sequence[Metric]:
        """Nothing: what there is is known once it is read."""
        return ()

    def collect(self) -> Iterator[Metric]:
        for reading in self._reader():
            family: Any = CounterMetricFamily if reading.counts else GaugeMetricFamily
            metric = family(reading.name, reading.about, labels=reading.labels)
            for values, number in reading.values.items():
                metric.add_metric(values, number)
            yield metric


class _Labelled(Collector):
    """The same metrics, each with the process that counted it."""

    def __init__(self, metrics: Collector, worker: str) -> None:
        self._metrics = metrics
        self._worker = worker

    def collect(self) -> Iterator[Metric]:
        for metric in self._metrics.collect():
            metric.samples = [
                sample._replace(labels={**sample.labels, "worker": self._worker})
                for sample in metric.samples
            ]
            yield metric
