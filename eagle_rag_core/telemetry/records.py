"""What is told of every call once it is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

#: Stands in metrics for every tool that is not there: callers choose such names.
UNKNOWN: Final = "unknown"
#: Operation of a request that was not let in.
AUTHENTICATION: Final = "authenticate"


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call as the audit, metrics and spans see it.

    :param arguments: as they were sent; whoever keeps them removes what is secret.
    :param outcome: ``ok`` or a stable error code.
    :param summary: size of the result in words, never its text.
    :param at: its end, in seconds since the epoch.
    :param trace_id: see :class:`~eagle_rag_core.telemetry.tracing.Trace`.
    :param parent_id: the span of whoever called, if it named one.
    :param sampled: whether spans of the trace are wanted.
    :param known: there is such a tool or operation.
    :param cached: how the cache took part.
    """

    tool: str
    caller: str
    face: str
    arguments: Mapping[str, Any]
    outcome: str
    latency_ms: float
    summary: str = ""
    cache_hit: bool = False
    at: float = 0.0
    trace_id: str = ""
    parent_id: str = ""
    sampled: bool = True
    known: bool = True
    cached: Literal["hit", "miss", "none"] = "none"


#: Told of every call, in the thread of the event loop: it has to be quick.
Recorder = Callable[[CallRecord], None]
