"""Every error code is classified, once, and what follows from it."""

from __future__ import annotations

from collections import Counter

import pytest

from eagle_rag_core.calls.breaker import Outcome
from eagle_rag_core.calls.faults import (
    _CODES_OF,
    FAULT_OF,
    Fault,
    fault_of,
    is_transient,
    outcome_of,
)
from eagle_rag_core.errors import (
    CallTimeout,
    EagleError,
    ErrorCode,
    FetchError,
    InvalidArgument,
    ModelError,
    StorageError,
)


@pytest.mark.parametrize("code", ErrorCode)
def test_every_code_is_classified(code: ErrorCode) -> None:
    assert code in FAULT_OF, "say in calls/faults.py whose fault it is"


def test_no_code_is_classified_twice() -> None:
    counted = Counter(code for codes in _CODES_OF.values() for code in codes)
    assert [code for code, times in counted.items() if times > 1] == []


@pytest.mark.parametrize(
    ("error", "fault", "outcome", "transient"),
    [
        (InvalidArgument("No."), Fault.CALLER, Outcome.NEUTRAL, False),
        (FetchError("Away.", retryable=True), Fault.CALLER, Outcome.NEUTRAL, False),
        (EagleError("Full.", code=ErrorCode.OVERLOADED), Fault.REFUSED, Outcome.NEUTRAL, False),
        (
            EagleError("Full.", code=ErrorCode.OVERLOADED, retryable=True),
            Fault.REFUSED,
            Outcome.NEUTRAL,
            False,
        ),
        (
            EagleError("Set it.", code=ErrorCode.CONFIG_INVALID),
            Fault.DEPLOYMENT,
            Outcome.NEUTRAL,
            False,
        ),
        (StorageError("Busy."), Fault.DEPENDENCY, Outcome.FAILURE, True),
        (StorageError("Damaged.", retryable=False), Fault.DEPENDENCY, Outcome.FAILURE, False),
        (ModelError("Answers HTML."), Fault.DEPENDENCY, Outcome.FAILURE, False),
        (CallTimeout("Slow."), Fault.SLOW, Outcome.FAILURE, False),
        (EagleError("Ours."), Fault.DEFECT, Outcome.FAILURE, False),
        (ValueError("theirs"), Fault.DEFECT, Outcome.FAILURE, False),
        (FileNotFoundError("theirs"), Fault.DEFECT, Outcome.FAILURE, False),
        (ConnectionResetError("theirs"), Fault.DEPENDENCY, Outcome.FAILURE, True),
        (TimeoutError("theirs"), Fault.SLOW, Outcome.FAILURE, False),
    ],
)
def test_what_follows_from_an_error(
    error: Exception, fault: Fault, outcome: Outcome, transient: bool
) -> None:
    assert (fault_of(error), outcome_of(error), is_transient(error)) == (fault, outcome, transient)
