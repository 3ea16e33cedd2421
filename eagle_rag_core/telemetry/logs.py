"""Logging: structured, to stderr, always. stdout belongs to MCP over stdio.

Whoever logs: what is written has no secrets, no forged lines, and the trace it belongs to.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any

from eagle_rag_core.settings import Settings
from eagle_rag_core.telemetry.redaction import Redactor
from eagle_rag_core.telemetry.tracing import current_trace

#: Libraries that are chatty at INFO and say nothing a deployer can use.
_QUIET = ("httpx2", "httpcore2", "alembic", "fastmcp", "mcp", "trafilatura", "asyncio")


#: What can end a line, steer a terminal, or turn around the text that follows.
_STEERING = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def on_one_line(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Escape what callers and documents could forge entries with.

    A traceback keeps its lines, and all of them are indented, which no entry is.
    """
    for key, value in event.items():
        if not isinstance(value, str):
            continue
        if key == "exception":
            lines = (_STEERING.sub(_escaped, line) for line in value.split("\n"))
            event[key] = "\n".join(f"    {line}" for line in lines)
        else:
            event[key] = _STEERING.sub(_escaped, value)
    return event


def with_trace(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Name the trace that an entry belongs to."""
    trace = current_trace()
    if trace is not None:
        event.setdefault("trace_id", trace.trace_id)
    return event


def _escaped(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape").decode()


def _without_delete(_logger: object, _method: str, entry: Any) -> str:
    """The one control character that JSON does not escape."""
    return str(entry).replace("\x7f", "\\u007f")


def configure_logging(settings: Settings) -> None:
    """Route structlog and the standard library's loggers to one handler on stderr."""
    import structlog

    level = logging.getLevelName(settings.telemetry.log_level.upper())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        with_trace,
    ]
    redactor = Redactor.of(settings)

    def redacted(_logger: object, _method: str, entry: Any) -> str:
        """At the very end, so that it does not matter which part of an entry has a secret."""
        return redactor(str(entry))

    rendering: list[structlog.typing.Processor] = (
        [structlog.processors.JSONRenderer(), _without_delete]
        if settings.telemetry.log_format == "json"
        else [on_one_line, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            *rendering,
            redacted,
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
