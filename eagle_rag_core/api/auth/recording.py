"""Requests that were not let in, in the metrics and in the audit."""

from __future__ import annotations

import time
from typing import Final

from eagle_rag_core.api.auth.middleware import RefusedRequest
from eagle_rag_core.api.auth.rates import Rate
from eagle_rag_core.telemetry.call_log import CallLog
from eagle_rag_core.telemetry.metrics import Metrics
from eagle_rag_core.telemetry.records import AUTHENTICATION, CallRecord
from eagle_rag_core.telemetry.tracing import current_trace_id

_FACE: Final = "http"
#: Records a minute, of all refusals together: strangers must not push calls out of the audit.
_PER_MINUTE: Final = 600
_LONGEST_PATH: Final = 200


class RefusalRecorder:
    """Counts every refusal, and notes those that somebody has to answer for.

    A request without a token is how clients learn where to get one; it is counted alone.

    :param call_log: where they are noted; None keeps no record.
    """

    def __init__(self, metrics: Metrics, call_log: CallLog | None) -> None:
        self._metrics = metrics
        self._call_log = call_log
        self._rate = Rate(_PER_MINUTE, _PER_MINUTE)

    def __call__(self, request: RefusedRequest) -> None:
        refusal = request.refusal
        self._metrics.authentications.labels(str(refusal.code)).inc()
        if self._call_log is None or not (refusal.is_bad_token or refusal.caller):
            return
        if self._rate.spend(""):
            return
        self._call_log.record(
            CallRecord(
                tool=AUTHENTICATION,
                caller=refusal.caller or f"address:{request.peer}",
                face=_FACE,
                arguments={"method": request.method[:16], "path": request.path[:_LONGEST_PATH]},
                outcome=str(refusal.code),
                latency_ms=0.0,
                summary=str(refusal),
                at=round(time.time(), 6),
                trace_id=current_trace_id(),
            )
        )
