"""Spans of calls for OpenTelemetry; its SDK is imported only where a collector is configured."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings import Settings
from eagle_rag_core.telemetry.records import UNKNOWN, CallRecord
from eagle_rag_core.telemetry.tracing import Trace, current_trace_id, tracing

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_MILLISECOND: Final = 1_000_000  # in nanoseconds
_SECOND: Final = 1_000_000_000


class CallSpans:
    """Makes a span of every call, in the trace that the call belongs to.

    The provider is this object's own; what other libraries trace is not touched.

    :param exporter: where spans go, in batches and behind the calls' backs.
    :param attributes: of this process.
    """

    def __init__(self, exporter: SpanExporter, attributes: dict[str, str]) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

        class OneTrace(RandomIdGenerator):
            """Begins traces under the id that log and audit have."""

            def generate_trace_id(self) -> int:
                return int(current_trace_id(), 16)

        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "eagle-rag", **attributes}),
            id_generator=OneTrace(),
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("eagle_rag_core")

    def record(self, record: CallRecord) -> None:
        """Make the span of a call that is over."""
        from opentelemetry import trace

        if not (record.sampled and record.trace_id):
            return
        context = None
        if record.parent_id:
            trace_id, parent_id = int(record.trace_id, 16), int(record.parent_id, 16)
            flags = trace.TraceFlags(trace.TraceFlags.SAMPLED)
            caller = trace.SpanContext(trace_id, parent_id, is_remote=True, trace_flags=flags)
            context = trace.set_span_in_context(trace.NonRecordingSpan(caller))
        end = round(record.at * _SECOND)
        with tracing(Trace(record.trace_id)):
            span = self._tracer.start_span(
                record.tool if record.known else UNKNOWN,
                context=context,
                kind=trace.SpanKind.SERVER,
                attributes={
                    "eagle_rag.face": record.face,
                    "eagle_rag.outcome": record.outcome,
                    "eagle_rag.cache": record.cached,
                    "enduser.id": record.caller,
                },
                start_time=end - round(record.latency_ms * _MILLISECOND),
            )
        if record.outcome != "ok":
            span.set_attribute("error.type", record.outcome)
            span.set_status(trace.StatusCode.ERROR)
        span.end(end)

    def flush(self) -> None:
        """Send what waits."""
        self._provider.force_flush()

    def close(self) -> None:
        """Send what waits, and end."""
        self._provider.shutdown()


def call_spans(settings: Settings) -> CallSpans | None:
    """The spans that settings or ``OTEL_…`` variables ask for; None without a collector.

    :raises ConfigError: the extra ``[otel]`` is missing.
    """
    endpoint = settings.telemetry.otlp_endpoint
    wanted = endpoint or any(os.environ.get(name) for name in _ENDPOINTS)
    if not wanted or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError:
        raise ConfigError(
            "Spans are to be sent (telemetry.otlp_endpoint or OTEL_EXPORTER_OTLP_ENDPOINT), and "
            'OpenTelemetry is not installed: pip install "eagle-rag-core[otel]".'
        ) from None
    target = f"{endpoint.rstrip('/')}/v1/traces" if endpoint else None
    return CallSpans(
        OTLPSpanExporter(endpoint=target),
        {"eagle_rag.namespace": settings.namespace, "eagle_rag.profile": settings.profile},
    )
