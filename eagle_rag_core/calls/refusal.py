"""Turning calls away: at once, and with the advice when to come back."""

from __future__ import annotations

from eagle_rag_core.errors import EagleError, ErrorCode

#: Bounds of the advice, in seconds.
_SOONEST, _LATEST = 0.1, 60.0


class Refusal(EagleError):
    """A call was turned away before it began, whatever it was about."""

    def __init__(self, message: str, code: ErrorCode, wait_s: float) -> None:
        advice = round(min(max(wait_s, _SOONEST), _LATEST), 3)
        super().__init__(message, code=code, retryable=True, retry_after_s=advice)


def circuit_open(wait_s: float) -> Refusal:
    """What the call needs is spared for so many seconds."""
    return Refusal(
        "This failed too often and is spared for a while; try again later.",
        ErrorCode.CIRCUIT_OPEN,
        wait_s,
    )


def overloaded(wait_s: float) -> Refusal:
    """The call would have to wait for so many seconds."""
    return Refusal("Too many calls at once; try again later.", ErrorCode.OVERLOADED, wait_s)


def closing() -> Refusal:
    """The process is about to end."""
    return Refusal("The server is shutting down; try again.", ErrorCode.OVERLOADED, 1.0)
