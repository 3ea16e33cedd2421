"""The result of one call, in the one shape every face sends."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from eagle_rag_core.calls.faults import is_transient
from eagle_rag_core.errors import CallTimeout, EagleError, ErrorCode
from eagle_rag_core.settings.suggest import did_you_mean
from eagle_rag_core.types import Picture

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What a face needs to answer a call.

    :param payload: the tool's own JSON result, or the error payload in the shape the tool's
        result has (an object, or a list of one object).
    :param code: ``ok`` or the stable error code.
    :param pictures: that go with the result.
    """

    payload: Any
    code: str = "ok"
    retryable: bool = False
    retry_after_s: float = 0.0
    pictures: tuple[Picture, ...] = ()

    @property
    def is_error(self) -> bool:
        return self.code != "ok"

    @property
    def error(self) -> dict[str, Any]:
        """The error object, whichever shape the payload has."""
        found = self.payload[0] if isinstance(self.payload, list) else self.payload
        assert isinstance(found, dict)
        return found


def operation_of(tool: str) -> str:
    """Name of a tool in ``timeout: …`` and ``circuit_open: …``: core tools lose their prefix."""
    return tool.removeprefix("core_")


def unknown_tool(tool: str, known: Iterable[str]) -> EagleError:
    """What is said of a tool that is not exposed; suggests the closest known one."""
    return EagleError(
        f"There is no tool {tool[:80]!r} here{did_you_mean(tool, known)}",
        code=ErrorCode.TOOL_NOT_FOUND,
    )


def failure(tool: str, error: BaseException, *, as_list: bool) -> CallOutcome:
    """Turn an exception into an error outcome; foreign exceptions keep their text to the log."""
    known = error if isinstance(error, EagleError) else unexpected(tool, error)
    payload = {
        "error": _error_text(tool, known),
        "code": str(known.code),
        "retryable": known.retryable,
        "retry_after_s": known.retry_after_s,
    }
    return CallOutcome(
        payload=[payload] if as_list else payload,
        code=str(known.code),
        retryable=known.retryable,
        retry_after_s=known.retry_after_s,
    )


def _error_text(tool: str, error: EagleError) -> str:
    if isinstance(error, CallTimeout):
        return f"timeout: {operation_of(tool)}"
    if error.code in (ErrorCode.CIRCUIT_OPEN, ErrorCode.OVERLOADED):
        return f"{error.code}: {operation_of(tool)}"
    return f"{getattr(error, 'shown_as', type(error).__name__)}: {error.message}"


class _Unexpected(EagleError):
    """Stands for a foreign exception: its name and a log id, nothing else."""

    def __init__(self, error: BaseException, log_id: str) -> None:
        retryable = is_transient(error)
        super().__init__(f"unexpected failure, see log entry {log_id}", retryable=retryable)
        self.shown_as = type(error).__name__


def unexpected(tool: str, error: BaseException) -> EagleError:
    """What callers learn of a foreign exception; its text and traceback go to the log."""
    log_id = secrets.token_hex(6)
    _LOG.error("Unexpected failure %s in %s", log_id, tool, exc_info=error)
    return _Unexpected(error, log_id)
