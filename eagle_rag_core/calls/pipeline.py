"""The pipeline of one call, the same for every face:

identity → validate → circuit → lane → cache or run, within the deadline and the budget → audit.

Tools are synchronous functions and run in threads, so that nothing blocks the event loop; each
operation has a lane of its own, so that a hanging tool can never occupy the process.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from eagle_rag_core.calls.budget import fit
from eagle_rag_core.calls.caching import CACHED, CachedCalls
from eagle_rag_core.calls.in_flight import InFlight
from eagle_rag_core.calls.outcome import (
    CallOutcome,
    failure,
    operation_of,
    unexpected,
    unknown_tool,
)
from eagle_rag_core.calls.refusal import closing
from eagle_rag_core.calls.work import Work
from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.mcp_resilience import Resilience, resilient_call
from eagle_rag_core.plugins import ToolSpec
from eagle_rag_core.plugins.namespaces import CORE
from eagle_rag_core.settings import Settings
from eagle_rag_core.telemetry.call_log import CallLog
from eagle_rag_core.telemetry.records import CallRecord, Recorder
from eagle_rag_core.telemetry.tracing import current_trace, new_trace, tracing
from eagle_rag_core.types import Caller, Picture, acting_for, current_notes, taking_notes

_LOG = logging.getLogger(__name__)
#: What the audit keeps of a call whose caller went away.
_TAKEN_BACK = CallOutcome({}, code=ErrorCode.CANCELLED)


def _call_function(spec: ToolSpec, arguments: Mapping[str, Any]) -> Any:
    return spec.function(**arguments)


class CallPipeline:
    """Runs calls of the exposed tools.

    :param tools: the exposed tools by full name; nothing else can be called.
    :param call_log: where calls are recorded; None keeps no record.
    :param ready: sees to it that everything the tools of a namespace may use is there; called
        before each call.
    :param run: calls a tool's function with its arguments, or refuses to; by default it calls.
    :param cached: answers searches that were asked before; None asks anew every time.
    :param illustrate: draws the pictures that go with the answer of a core tool whose caller says
        ``include_images``. They are no part of the answer, so that it can be kept without them.
    """

    def __init__(
        self,
        settings: Settings,
        tools: Mapping[str, ToolSpec],
        call_log: CallLog | None,
        *,
        ready: Callable[[str], None] = lambda namespace: None,
        run: Callable[[ToolSpec, Mapping[str, Any]], Any] | None = None,
        cached: CachedCalls | None = None,
        illustrate: Callable[[Any], tuple[Picture, ...]] = lambda payload: (),
    ) -> None:
        self.tools = dict(sorted(tools.items()))
        self.resilience = Resilience(settings)
        self._max_tokens = settings.mcp.max_result_tokens
        self._recorders: tuple[Recorder, ...] = (call_log.record,) if call_log else ()
        self._ready = ready
        self._call_function = run or _call_function
        self._cached = cached
        self._illustrate = illustrate
        self._in_flight = InFlight()
        self._closed = False

    def listen(self, recorder: Recorder) -> None:
        """Tell ``recorder`` of every call that ends from now on."""
        self._recorders = (*self._recorders, recorder)

    @property
    def in_flight(self) -> int:
        """Calls that are not answered yet."""
        return self._in_flight.count

    async def call(
        self, tool: str, arguments: Mapping[str, Any], *, caller: Caller, face: str
    ) -> CallOutcome:
        """Run one call of a tool; failures are outcomes, never exceptions.

        :param face: where the call came from, for the audit: ``mcp-stdio``, ``mcp-http``, …
        """
        spec = self.tools.get(tool)
        as_list = spec is not None and spec.wraps_list

        async def run() -> Any:
            if spec is None:
                raise unknown_tool(tool, self.tools)
            return await self._run(self._work_of(spec, arguments), caller, spec.namespace)

        return await self._recorded(tool, arguments, run, caller, face, as_list=as_list)

    async def perform(self, work: Work, *, caller: Caller, face: str) -> CallOutcome:
        """Run a piece of work that is no tool; failures are outcomes, never exceptions.

        :return: its payload is what the work returned, whole.
        """
        return await self._recorded(
            work.operation,
            work.arguments,
            lambda: self._run(work, caller, CORE),
            caller,
            face,
        )

    async def drain(self, seconds: float) -> bool:
        """Wait until no call is in flight; whoever calls this has stopped the intake.

        :return: whether all calls ended in so many seconds.
        """
        return await self._in_flight.none(seconds)

    def close(self) -> None:
        """Turn further calls away; running ones may finish."""
        self._closed = True
        self.resilience.close()
        if self._cached is not None:
            self._cached.cache.close()

    async def _recorded(
        self,
        operation: str,
        arguments: Mapping[str, Any],
        run: Callable[[], Awaitable[Any]],
        caller: Caller,
        face: str,
        *,
        as_list: bool = False,
    ) -> CallOutcome:
        started = time.perf_counter()
        outcome = _TAKEN_BACK  # unless it ends otherwise
        trace = current_trace() or new_trace()
        with tracing(trace), self._in_flight.one(), taking_notes() as notes:
            try:
                outcome = CallOutcome(await run(), pictures=notes.pictures)
            except Exception as error:
                outcome = failure(operation, error, as_list=as_list)
            finally:
                took = time.perf_counter() - started
                self._tell(operation, arguments, caller, face, outcome, took, notes.cache_hit)
        return outcome

    def _work_of(self, spec: ToolSpec, arguments: Mapping[str, Any]) -> Work:
        values = spec.validate(arguments)
        return Work(
            spec.name,
            arguments,
            lambda: self._answer(spec, values),
            timeout=spec.timeout or 0.0,
            reads=spec.effect == "read",
        )

    def _answer(self, spec: ToolSpec, values: Mapping[str, Any]) -> Any:
        """The answer of a tool as the JSON that clients get."""

        def compute() -> Any:
            return fit(spec.dump(self._call_function(spec, values)), self._max_tokens)

        payload = self._cached.answer(spec.name, values, compute) if self._cached else compute()
        if spec.namespace == CORE and values.get("include_images"):
            current_notes().pictures = self._illustrate(payload)
        return payload

    async def _run(self, work: Work, caller: Caller, namespace: str) -> Any:
        if self._closed:
            raise closing()
        with acting_for(caller):
            return await resilient_call(
                operation_of(work.operation),
                lambda: self._run_here(work, namespace),
                self.resilience,
                seconds=work.timeout,
                reads=work.reads,
            )

    def _run_here(self, work: Work, namespace: str) -> Any:
        """Run work in its thread. Only errors of ours leave it."""
        try:
            self._ready(namespace)
            return work.run()
        except EagleError:
            raise
        except BaseException as error:
            raise unexpected(work.operation, error) from error

    def _tell(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        caller: Caller,
        face: str,
        outcome: CallOutcome,
        seconds: float,
        cache_hit: bool,
    ) -> None:
        if not self._recorders:
            return
        trace = current_trace()
        assert trace is not None
        may_be_cached = self._cached is not None and tool in CACHED
        record = CallRecord(
            tool=tool[:128],
            caller=caller.id,
            face=face,
            arguments=arguments,
            outcome=outcome.code,
            latency_ms=round(seconds * 1000, 3),
            summary=_summary(outcome.payload),
            cache_hit=cache_hit,
            at=round(time.time(), 6),
            trace_id=trace.trace_id,
            parent_id=trace.parent_id,
            sampled=trace.sampled,
            known=outcome.code != ErrorCode.TOOL_NOT_FOUND,
            cached="hit" if cache_hit else "miss" if may_be_cached else "none",
        )
        for recorder in self._recorders:
            try:
                recorder(record)
            except Exception:  # whoever watches must not change what is answered
                _LOG.exception("A recorder of calls failed")


def _summary(payload: Any) -> str:
    if isinstance(payload, list):
        return f"{len(payload)} items"
    if isinstance(payload, Mapping) and isinstance(items := payload.get("items"), list):
        return f"{len(items)} items"
    return ", ".join(payload)[:200] if isinstance(payload, Mapping) else ""
