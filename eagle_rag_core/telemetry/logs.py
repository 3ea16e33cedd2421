"""Logging: structured, to stderr, always. stdout belongs to MCP over stdio."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any

from eagle_rag_core.settings import Settings

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


def _escaped(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape").decode()


def configure_logging(settings: Settings) -> None:
    """Route structlog and the standard library's loggers to one handler on stderr."""
    import structlog

    level = logging.getLevelName(settings.telemetry.log_level.upper())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    rendering: list[structlog.typing.Processor] = (
        [structlog.processors.JSONRenderer()]
        if settings.telemetry.log_format == "json"
        else [on_one_line, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            *rendering,
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
