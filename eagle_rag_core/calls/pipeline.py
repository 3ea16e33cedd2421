"""The pipeline of one call, the same for every face:

identity → validate → circuit → lane → cache or run, within the deadline and the budget → audit.

Tools are synchronous functions and run in threads, so that nothing blocks the event loop; each
operation has a lane of its own, so that a hanging tool can never occupy the process.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from eagle_rag_core.calls.budget import fit
from eagle_rag_core.calls.caching import CachedCalls
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
from eagle_rag_core.telemetry.call_log import CallLog, CallRecord
from eagle_rag_core.types import Caller, acting_for, taking_notes

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
    ) -> None:
        self.tools = dict(sorted(tools.items()))
        self.resilience = Resilience(settings)
        self._max_tokens = settings.mcp.max_result_tokens
        self._call_log = call_log
        self._ready = ready
        self._call_function = run or _call_function
        self._cached = cached
        self._in_flight = InFlight()
        self._closed = False

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
        with self._in_flight.one(), taking_notes() as notes:
            try:
                outcome = CallOutcome(await run())
            except Exception as error:
                outcome = failure(operation, error, as_list=as_list)
            finally:
                took = time.perf_counter() - started
                self._audit(operation, arguments, caller, face, outcome, took, notes.cache_hit)
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

        return self._cached.answer(spec.name, values, compute) if self._cached else compute()

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

    def _audit(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        caller: Caller,
        face: str,
        outcome: CallOutcome,
        seconds: float,
        cache_hit: bool,
    ) -> None:
        if self._call_log is None:
            return
        self._call_log.record(
            CallRecord(
                tool=tool[:128],
                caller=caller.id,
                face=face,
                arguments=arguments,
                outcome=outcome.code,
                latency_ms=round(seconds * 1000, 3),
                summary=_summary(outcome.payload),
                cache_hit=cache_hit,
                at=time.time(),
            )
        )


def _summary(payload: Any) -> str:
    if isinstance(payload, list):
        return f"{len(payload)} items"
    if isinstance(payload, Mapping) and isinstance(items := payload.get("items"), list):
        return f"{len(items)} items"
    return ", ".join(payload)[:200] if isinstance(payload, Mapping) else ""
