"""Logs, the record of calls, and traces."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from eagle_rag_core.settings.sections.base import Section, ServerUrl


class TelemetrySettings(Section):
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe level that is logged, to stderr."
    )
    log_format: Literal["console", "json"] = Field(
        "console", description="For people, or one JSON object a line."
    )
    call_log: bool = Field(True, description="Keep an audit record of every call.")
    call_log_days: int = Field(30, ge=1, description="Days the call log is kept.")
    call_log_mb: int = Field(
        1000, ge=0, description="Megabytes beyond which its oldest records go, 0 = no limit."
    )
    otlp_endpoint: ServerUrl = Field(
        "",
        description="OpenTelemetry collector that spans of calls are sent to, over HTTP (extra "
        "`[otel]`), e.g. http://127.0.0.1:4318; empty = OTEL_EXPORTER_OTLP_ENDPOINT, or none.",
    )
