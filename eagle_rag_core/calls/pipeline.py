"""The pipeline of one call, the same for every face:

identity → validate → run within the deadline → fit the budget → audit.

Tools are synchronous functions and run in a bounded pool, so that
nothing blocks the event loop and a hanging tool can occupy one slot, never the process.
"""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from eagle_rag_core.calls.budget import fit
from eagle_rag_core.calls.outcome import CallOutcome, failure, unexpected, unknown_tool
from eagle_rag_core.errors import CallTimeout, EagleError
from eagle_rag_core.plugins import ToolSpec
from eagle_rag_core.settings import Settings
from eagle_rag_core.telemetry.call_log import CallLog, CallRecord
from eagle_rag_core.types import Caller, acting_for, due_at

_POOL_SIZE = 32


def _call_function(spec: ToolSpec, arguments: Mapping[str, Any]) -> Any:
    return spec.function(**arguments)


class CallPipeline:
    """Runs calls of the exposed tools.

    :param tools: the exposed tools by full name; nothing else can be called.
    :param call_log: where calls are recorded; None keeps no record.
    :param ready: sees to it that everything a tool may use is there; called before each call.
    :param run: calls a tool's function with its arguments, or refuses to; by default it calls.
    """

    def __init__(
        self,
        settings: Settings,
        tools: Mapping[str, ToolSpec],
        call_log: CallLog | None,
        *,
        ready: Callable[[ToolSpec], None] = lambda spec: None,
        run: Callable[[ToolSpec, Mapping[str, Any]], Any] | None = None,
    ) -> None:
        self.tools = dict(sorted(tools.items()))
        self._timeout = settings.mcp.tool_timeout
        self._max_tokens = settings.mcp.max_result_tokens
        self._call_log = call_log
        self._ready = ready
        self._call_function = run or _call_function
        self._pool = ThreadPoolExecutor(_POOL_SIZE, thread_name_prefix="call")

    async def call(
        self, tool: str, arguments: Mapping[str, Any], *, caller: Caller, face: str
    ) -> CallOutcome:
        """Run one call; failures are outcomes, never exceptions.

        :param face: where the call came from, for the audit: ``mcp-stdio``, ``mcp-http``, …
        """
        started = time.perf_counter()
        spec = self.tools.get(tool)
        try:
            if spec is None:
                raise unknown_tool(tool, self.tools)
            payload = await self._run(spec, arguments, caller)
            outcome = CallOutcome(payload)
        except Exception as error:
            outcome = failure(tool, error, as_list=spec is not None and spec.wraps_list)
        self._audit(tool, arguments, caller, face, outcome, time.perf_counter() - started)
        return outcome

    def close(self) -> None:
        """Stop taking calls; running ones may finish."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _run(self, spec: ToolSpec, arguments: Mapping[str, Any], caller: Caller) -> Any:
        values = spec.validate(arguments)
        timeout = spec.timeout or self._timeout
        try:
            async with asyncio.timeout(timeout):
                with acting_for(caller), due_at(time.monotonic() + timeout):
                    result = await self._invoke(spec, values)
        except TimeoutError:
            raise CallTimeout(f"The call took longer than {timeout:g} s.") from None
        return fit(spec.dump(result), self._max_tokens)

    async def _invoke(self, spec: ToolSpec, values: dict[str, Any]) -> Any:
        context = contextvars.copy_context()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._pool, lambda: context.run(self._run_tool, spec, values)
        )

    def _run_tool(self, spec: ToolSpec, values: dict[str, Any]) -> Any:
        """Run a tool in its thread.

        Only errors of ours leave it: a SystemExit would end the event loop, and asyncio would
        wait forever for the result of a StopIteration.
        """
        try:
            self._ready(spec)
            return self._call_function(spec, values)
        except EagleError:
            raise
        except BaseException as error:
            raise unexpected(spec.name, error) from error

    def _audit(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        caller: Caller,
        face: str,
        outcome: CallOutcome,
        seconds: float,
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
                at=time.time(),
            )
        )


def _summary(payload: Any) -> str:
    if isinstance(payload, list):
        return f"{len(payload)} items"
    if isinstance(payload, Mapping) and isinstance(items := payload.get("items"), list):
        return f"{len(items)} items"
    return ", ".join(payload)[:200] if isinstance(payload, Mapping) else ""
