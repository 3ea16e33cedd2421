"""The way of REST into the pipeline of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from fastapi import Depends

from eagle_rag_core.api.identity import caller_of
from eagle_rag_core.api.rest.events import Streams
from eagle_rag_core.api.rest.problems import ProblemError
from eagle_rag_core.app import EagleApp
from eagle_rag_core.calls.work import Work
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.service import Services
from eagle_rag_core.types import Caller, current_caller

if TYPE_CHECKING:
    from eagle_rag_core.service.ingest import Forecast
    from eagle_rag_core.types import Job

#: Name of this face in the call log.
FACE: Final = "rest"

Sourced = TypeVar("Sourced", "Job", "Forecast")

#: Parameter of a route: whoever makes the request.
CallerOf = Annotated[Caller, Depends(caller_of)]


class Rest:
    """Runs what routes do as calls, and raises what fails as problems."""

    def __init__(self, app: EagleApp) -> None:
        self.app = app
        self.streams = Streams()

    def release(self) -> None:
        """End the streams that would keep a stopping server waiting; clients come back."""
        self.streams.ending = True

    async def call(self, tool: str, arguments: Mapping[str, Any], caller: Caller) -> Any:
        """The result of a tool.

        :raises ProblemError: the call failed.
        """
        outcome = await self.app.pipeline.call(tool, arguments, caller=caller, face=FACE)
        if outcome.is_error:
            raise ProblemError.of_outcome(outcome)
        return outcome.payload

    async def perform(
        self,
        operation: str,
        run: Callable[[Services, Caller], Any],
        caller: Caller,
        *,
        arguments: Mapping[str, Any] | None = None,
        reads: bool = True,
        seconds: float = 0.0,
    ) -> Any:
        """What ``run`` makes of the services, in a thread of the pipeline.

        :param operation: name of the work; with ``arguments`` it goes to the call log.
        :param reads: it changes nothing.
        :param seconds: it may take; 0 = as many as a tool.
        :raises ProblemError: it failed.
        """
        work = Work(
            operation,
            arguments or {},
            lambda: run(self.app.services(), current_caller()),
            timeout=seconds,
            reads=reads,
        )
        outcome = await self.app.pipeline.perform(work, caller=caller, face=FACE)
        if outcome.is_error:
            raise ProblemError.of_outcome(outcome)
        return outcome.payload

    def named(self, caller: Caller, item: Sourced) -> Sourced:
        """A job or forecast as ``caller`` is shown where its source is."""
        return self.app.engine().catalog.names.named(caller, item)

    def check_writable(self) -> None:
        """A dependency of routes that change something.

        :raises ProblemError: this deployment is read-only.
        """
        if self.app.settings.mcp.read_only:
            raise ProblemError(
                ErrorCode.FORBIDDEN,
                "This deployment is read-only (mcp.read_only); nothing can be changed through it.",
            )
