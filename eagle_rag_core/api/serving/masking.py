"""What clients learn of a fault of the server: a log id, and nothing of the exception."""

from __future__ import annotations

import logging
import secrets
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR
from pydantic import ValidationError

_LOG = logging.getLogger(__name__)


async def masked(context: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware of the protocol that replaces what nobody foresaw by an error that says nothing.

    The SDK sends clients of the older revisions the text of any exception.
    """
    try:
        return await call_next(context)
    except (MCPError, ValidationError):  # meant for the client: what is wrong with its request
        raise
    except Exception as error:
        log_id = secrets.token_hex(6)
        _LOG.error("Unexpected failure %s in %s", log_id, context.method, exc_info=error)
        message = f"Internal error, see log entry {log_id}"
        raise MCPError(code=INTERNAL_ERROR, message=message) from None
