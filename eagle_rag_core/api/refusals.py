"""Failed reads as the protocol sends them: tools have results for failures, nothing else has."""

from __future__ import annotations

import logging

from fastmcp.exceptions import FastMCPError
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from eagle_rag_core.calls.faults import FAULT_OF, Fault
from eagle_rag_core.calls.outcome import CallOutcome
from eagle_rag_core.errors import ErrorCode


class Refused(FastMCPError):
    """A resource or prompt that failed for the client to be told.

    The call log has it; FastMCP, which would log it with its traceback, is told that it matters
    little.
    """

    def __init__(self, outcome: CallOutcome) -> None:
        super().__init__(str(outcome.error["error"]), log_level=logging.DEBUG)
        self.outcome = outcome

    def as_protocol_error(self, **about: str) -> MCPError:
        """The JSON-RPC error, with the stable code in its data.

        :param about: what it is about, e.g. the URI that was asked for.
        """
        callers = FAULT_OF[ErrorCode(self.outcome.code)] is Fault.CALLER
        code = INVALID_PARAMS if callers else INTERNAL_ERROR
        return MCPError(code=code, message=str(self), data={**self.outcome.error, **about})
