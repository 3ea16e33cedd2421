"""What a check finds, and how checks are run: side by side, none for longer than it may take."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from eagle_rag_core.errors import EagleError

_LOG = logging.getLogger(__name__)


class Status(StrEnum):
    """How a check ended."""

    OK = "ok"
    #: It works, and may be better.
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Result:
    """What a check found.

    :param detail: one sentence, without secrets.
    :param remedy: what to do, "" where there is nothing to do.
    """

    status: Status
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to look at.

    :param look: an :class:`EagleError` that it raises is a failure with that message.
    :param seconds: it may take.
    :param needed: nothing can be opened when it fails.
    """

    name: str
    look: Callable[[], Result]
    seconds: float = 20.0
    needed: bool = False


def well(detail: str) -> Result:
    return Result(Status.OK, detail)


def warning(detail: str, remedy: str) -> Result:
    return Result(Status.WARNING, detail, remedy)


def failed(detail: str, remedy: str = "") -> Result:
    return Result(Status.FAILED, detail, remedy)


def run_checks(checks: Sequence[Check]) -> dict[str, Result]:
    """Look at everything at once; the results stand in the order of the checks.

    What hangs is left behind in a thread that does not keep the process.
    """
    found: dict[str, Result] = {}

    def run(check: Check) -> None:
        found[check.name] = _looked(check)

    begun = time.monotonic()
    threads = [
        threading.Thread(target=run, args=(check,), name=f"check {check.name}", daemon=True)
        for check in checks
    ]
    for thread in threads:
        thread.start()
    for check, thread in zip(checks, threads, strict=True):
        thread.join(max(0.0, begun + check.seconds - time.monotonic()))
    return {check.name: found.get(check.name) or _overdue(check) for check in checks}


def _looked(check: Check) -> Result:
    try:
        return check.look()
    except EagleError as error:
        return failed(error.message)
    except Exception as error:  # of a library: its text may hold anything
        _LOG.debug("The check %s failed", check.name, exc_info=error)
        return failed(
            f"The check itself failed ({type(error).__name__}).",
            "Set EAGLE_RAG_TELEMETRY__LOG_LEVEL=debug to see where it comes from.",
        )


def _overdue(check: Check) -> Result:
    return failed(
        f"No answer within {check.seconds:g} s.", "See whether it runs, and the network to it."
    )
