"""A library to call tools on, in the process of the tests."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from eagle_rag_core.app import EagleApp
from eagle_rag_core.calls.outcome import CallOutcome
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import COMMAND_LINE, LOCAL, Caller, IngestRequest

#: Whoever calls over HTTP: no user of this machine.
REMOTE = Caller("remote")
#: Limited to a knowledge base of its own.
TENANT = Caller("tenant", kbs=frozenset({"theirs"}))

#: File names that are nothing special to a file system.
LOCAL_FILES = (
    "テスト.md",
    "with spaces and 'quotes'.md",
    "emoji \N{OTTER}.md",
    "nfd e\u0301.md",
    "percent %41 #hash ?query.md",
    f"{'n' * 252}.md",
)

_Result = TypeVar("_Result")


class ToolCalls:
    """Calls of tools as different callers make them; one event loop for all of them."""

    def __init__(self, app: EagleApp) -> None:
        self.app = app
        self.home = app.settings.home
        self._loop = asyncio.new_event_loop()

    def run(self, coroutine: Coroutine[Any, Any, _Result]) -> _Result:
        return self._loop.run_until_complete(coroutine)

    def outcome(
        self, tool: str, arguments: Mapping[str, Any] | None = None, /, *, by: Caller = LOCAL
    ) -> CallOutcome:
        return self.run(self.app.pipeline.call(tool, arguments or {}, caller=by, face="test"))

    def call(self, tool: str, /, *, by: Caller = LOCAL, **arguments: Any) -> Any:
        outcome = self.outcome(tool, arguments, by=by)
        assert not outcome.is_error, outcome.payload
        return outcome.payload

    def refusal(self, tool: str, /, *, by: Caller = LOCAL, **arguments: Any) -> tuple[str, str]:
        """Code and text of a call that fails."""
        outcome = self.outcome(tool, arguments, by=by)
        assert outcome.is_error, outcome.payload
        return outcome.code, str(outcome.error["error"])

    def close(self) -> None:
        self.app.close()
        self._loop.close()


class ToolLibrary(ToolCalls):
    """The same, with a library that documents are added to."""

    def __init__(self, home: Path, *packs: Any, settings: Mapping[str, Any] | None = None) -> None:
        self.library = PackLibrary(home, *packs, settings=settings)
        super().__init__(self.library.app)

    def add(self, text: str | bytes, name: str, **request: Any) -> str:
        """Ingest a file of the inbox; the id of its document."""
        path = self.home / "inbox" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return self.add_path(path, **request)

    def add_path(self, path: Path, **request: Any) -> str:
        job = self.app.services().ingest.submit(COMMAND_LINE, IngestRequest(str(path), **request))
        self.app.work()
        return self.library._finish(job).document_id
