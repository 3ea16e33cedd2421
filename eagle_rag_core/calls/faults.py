"""Whose fault an error is: the one place that every error code is classified in.

The circuit breaker and the retries follow from it. A caller's mistakes must not close a tool to
others, and must not count as proof that the tool works either.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from eagle_rag_core.calls.breaker import Outcome
from eagle_rag_core.errors import EagleError, ErrorCode


class Fault(StrEnum):
    """Where the cause of an error lies."""

    #: The caller asked for what cannot be: a correct call at the same moment would succeed.
    CALLER = "caller"
    #: An operator has to change something. Calls fail fast and say what; a breaker would only hide
    #: that message.
    DEPLOYMENT = "deployment"
    #: The call was turned away or taken back before its work was done, which tells nothing.
    REFUSED = "refused"
    #: A part that the work needs is out of order.
    DEPENDENCY = "dependency"
    #: The work took too long. Never tried again: that would double the load of what is slow.
    SLOW = "slow"
    #: The tool's own code failed.
    DEFECT = "defect"


_CODES_OF: Final[Mapping[Fault, tuple[ErrorCode, ...]]] = {
    Fault.CALLER: (
        ErrorCode.INVALID_ARGUMENT,
        ErrorCode.UNKNOWN_ARGUMENT,
        ErrorCode.TOOL_NOT_FOUND,
        ErrorCode.KB_NOT_FOUND,
        ErrorCode.DOCUMENT_NOT_FOUND,
        ErrorCode.SECTION_NOT_FOUND,
        ErrorCode.JOB_NOT_FOUND,
        ErrorCode.UNAUTHENTICATED,
        ErrorCode.FORBIDDEN,
        ErrorCode.PATH_NOT_ALLOWED,
        ErrorCode.URL_NOT_ALLOWED,
        ErrorCode.MODE_UNAVAILABLE,
        # The source is the caller's choice, and so is the site that it is fetched from.
        ErrorCode.SOURCE_NOT_FOUND,
        ErrorCode.SOURCE_UNREADABLE,
        ErrorCode.SOURCE_TOO_LARGE,
        ErrorCode.FETCH_FAILED,
        ErrorCode.UNSUPPORTED_FORMAT,
        ErrorCode.PARSE_FAILED,
        ErrorCode.EMPTY_DOCUMENT,
        ErrorCode.NEEDS_OCR,
    ),
    Fault.DEPLOYMENT: (
        ErrorCode.CONFIG_INVALID,
        ErrorCode.LOCK_MISMATCH,
        ErrorCode.GUARD_REFUSED,
        ErrorCode.EFFECT_REFUSED,
        ErrorCode.EMBEDDER_MISMATCH,
    ),
    Fault.REFUSED: (
        ErrorCode.OVERLOADED,
        ErrorCode.CIRCUIT_OPEN,
        ErrorCode.CANCELLED,
        ErrorCode.LEASE_LOST,
    ),
    Fault.DEPENDENCY: (
        ErrorCode.STORAGE_UNAVAILABLE,
        ErrorCode.MODEL_UNAVAILABLE,
        ErrorCode.AUTH_UNAVAILABLE,
    ),
    Fault.SLOW: (ErrorCode.TIMEOUT,),
    Fault.DEFECT: (ErrorCode.INTERNAL, ErrorCode.PLUGIN_FAILED),
}
FAULT_OF: Final[Mapping[ErrorCode, Fault]] = {
    code: fault for fault, codes in _CODES_OF.items() for code in codes
}
#: Faults that count against what was called.
_COUNTED: Final = frozenset({Fault.DEPENDENCY, Fault.SLOW, Fault.DEFECT})


def fault_of(error: BaseException) -> Fault:
    """Whose fault an exception is; foreign ones are defects, unless they tell of the network."""
    if isinstance(error, EagleError):
        return FAULT_OF[error.code]
    if isinstance(error, TimeoutError):
        return Fault.SLOW
    return Fault.DEPENDENCY if isinstance(error, ConnectionError) else Fault.DEFECT


def outcome_of(error: Exception) -> Outcome:
    """What a failed call tells the circuit breaker."""
    return Outcome.FAILURE if fault_of(error) in _COUNTED else Outcome.NEUTRAL


def is_transient(error: BaseException) -> bool:
    """Whether the same call may succeed a moment later."""
    if isinstance(error, EagleError):
        return error.retryable and fault_of(error) in (Fault.DEPENDENCY, Fault.DEFECT)
    return isinstance(error, ConnectionError)
