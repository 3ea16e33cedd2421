"""What the tools of a pack answer, and what else they do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, NoReturn

import jsonschema  # type: ignore[import-untyped]
import pytest

from eagle_rag_core.calls.outcome import CallOutcome
from eagle_rag_core.errors import ErrorCode, StorageError
from eagle_rag_core.models.token_counts import estimate_tokens
from eagle_rag_core.testing.conformance.arguments import (
    bad_arguments,
    largest_arguments,
    odd_arguments,
)
from eagle_rag_core.testing.conformance.base import Base
from eagle_rag_core.testing.conformance.canary import changes, state_of
from eagle_rag_core.testing.conformance.subject import (
    CANARY,
    HIDDEN,
    READER,
    Subject,
    shown,
)

#: A caller can do nothing about these.
_FAULTS: Final = frozenset(
    {
        ErrorCode.INTERNAL,
        ErrorCode.PLUGIN_FAILED,
        ErrorCode.EFFECT_REFUSED,
        ErrorCode.TIMEOUT,
        ErrorCode.CIRCUIT_OPEN,
    }
)
_REFUSED: Final = frozenset({ErrorCode.INVALID_ARGUMENT, ErrorCode.UNKNOWN_ARGUMENT})
_SECRET: Final = "/srv/secret-5e1d/password"
#: Seconds a call may take whose backend hangs, and after which the backend gives up.
_SHORT, _LONG = 0.5, 20.0


class ToolTests(Base):
    """One test for each tool and rule."""

    def test_tool_answers_an_ordinary_call(self, subject: Subject, tool: str) -> None:
        """The author's arguments, or those made up from the schema, give an answer."""
        self._answered(subject.call(tool), tool, subject)

    def test_tool_changes_nothing(self, subject: Subject, tool: str) -> None:
        """Stores, files and the core are the same after a call, and nothing else was tried."""
        usual = subject.usual(tool)
        probes = [CANARY, *(value for value in usual.values() if isinstance(value, str) and value)]
        before, refused = state_of(subject.library, probes), subject.refusals()
        outcome = subject.call(tool)
        tried = subject.refusals()[len(refused) :]
        assert not tried, (
            "The tool tries more than to answer; each attempt was stopped:\n  "
            + "\n  ".join(tried)
            + "\nTools only read, through ctx.records and ctx.search. Addresses they need are "
            "declared in [needs] network."
        )
        changed = changes(before, state_of(subject.library, probes))
        assert not changed, (
            f"After a call of {tool} these are not what they were: {', '.join(changed)}. Records "
            "are written by enrichers, at ingest; tools only read."
        )
        assert outcome.code not in _FAULTS, _told(outcome)

    def test_tool_refuses_bad_arguments(self, subject: Subject, tool: str) -> None:
        """Values outside of the schema are refused, with a message for the caller."""
        schema = subject.spec(tool).input_schema
        for name, arguments in bad_arguments(schema, subject.usual(tool)):
            outcome = subject.call(tool, arguments)
            assert outcome.code in _REFUSED, (
                f"Called with {name}, {tool} answers {_told(outcome)}. Say what you accept in "
                "Annotated[…, Field(ge=…, max_length=…)], without validators that let all pass."
            )

    def test_tool_survives_odd_arguments(self, subject: Subject, tool: str) -> None:
        """Whatever the schema lets through is answered, or refused in words."""
        schema = subject.spec(tool).input_schema
        for name, arguments in odd_arguments(schema, subject.usual(tool)):
            outcome = subject.call(tool, arguments)
            assert outcome.code not in _FAULTS, (
                f"Called when {name}, {tool} fails: {_told(outcome)}. The log above has the "
                "traceback. Answer, or raise InvalidArgument with what to do."
            )

    def test_tool_answers_from_an_empty_library(self, subject: Subject, tool: str) -> None:
        """A new deployment has no documents yet."""
        outcome = subject.call(tool, on=subject.empty_library)
        assert outcome.code not in _FAULTS, (
            f"In a library without documents {tool} fails: {_told(outcome)}. Answer that there is "
            "nothing."
        )

    def test_tool_keeps_its_output_schema(self, subject: Subject, tool: str) -> None:
        """Clients hold answers to the schema that the tool shows."""
        payload, spec = self._answered(subject.call(tool), tool, subject), subject.spec(tool)
        structured = {"result": payload} if spec.wraps_list else payload
        try:
            jsonschema.validate(structured, spec.output_schema)
        except jsonschema.ValidationError as error:
            where = error.json_path
            pytest.fail(
                f"The answer of {tool} is not what its output schema says, at {where}: "
                f"{error.message[:300]}. Return what the annotation says.",
                pytrace=False,
            )

    def test_tool_fits_the_largest_answer(self, subject: Subject, tool: str) -> None:
        """Asked for all it can give, it stays within ``mcp.max_result_tokens``."""
        largest = largest_arguments(subject.spec(tool).input_schema, subject.usual(tool))
        outcome = subject.call(tool, largest)
        limit = subject.library.app.settings.mcp.max_result_tokens
        assert outcome.code == "ok", (
            f"Asked for as much as its parameters allow, {tool} answers {_told(outcome)}. Lower "
            "the maximum of its limits, or cut long texts and say so."
        )
        assert estimate_tokens(shown(outcome.payload)) <= limit * 1.1

    def test_tool_answers_the_same_twice(self, subject: Subject, tool: str) -> None:
        """The same call on the same library has the same answer."""
        first, second = subject.call(tool), subject.call(tool)
        assert shown(first.payload) == shown(second.payload), (
            f"Two equal calls of {tool} differ. Sort what comes from sets, and leave out the "
            f"time, ids made up on the way and chance.\n  {shown(first.payload)[:500]}\n  "
            f"{shown(second.payload)[:500]}"
        )

    def test_tool_keeps_to_the_caller_s_knowledge_bases(self, subject: Subject, tool: str) -> None:
        """Who may read one knowledge base cannot tell that there is another."""
        hidden = {CANARY, HIDDEN, *subject.hidden_documents, *subject.hidden_nodes}
        outcome = subject.call(tool, caller=READER)
        _assert_hidden(outcome, hidden, f"{tool} shows a caller")
        assert shown(outcome.payload) == shown(subject.alone[tool].payload), (
            f"The answer of {tool} changes when documents are added to a knowledge base that the "
            "caller may not read, so it counts or ranks what it must not. Read through "
            "ctx.records and ctx.search in every call; keep no documents in the pack."
        )
        parameters = subject.spec(tool).input_schema["properties"]
        asked: dict[str, Any] = {"kb_name": HIDDEN, "document_ids": [*subject.hidden_documents]}
        for name in asked.keys() & parameters.keys():
            narrowed = {**subject.usual(tool), name: asked[name]}
            if parameters[name]["type"] == ("string" if name == "kb_name" else "array"):
                outcome = subject.call(tool, narrowed, caller=READER)
                _assert_hidden(
                    outcome, {CANARY, *subject.hidden_nodes}, f"Asked for it, {tool} shows"
                )

    def test_tool_reports_a_failing_library(self, subject: Subject, tool: str) -> None:
        """Where the store cannot be read, the caller is told, and told no secrets."""
        for error in (StorageError("The catalog cannot be read."), RuntimeError(_SECRET)):
            with _broken(subject, _raising(error)) as used:
                outcome = subject.call(tool)
            if not used:
                pytest.skip(f"{tool} does not use the library.")
            assert outcome.is_error, (
                f"The library cannot be read, and {tool} answers as if there were nothing in it. "
                "Let the exceptions of ctx.records and ctx.search pass."
            )
            told = shown(outcome.payload)
            assert "Traceback" not in told and _SECRET not in told, (
                f"{tool} sends the text of a foreign exception to its caller: {told}. It may hold "
                "secrets; raise InvalidArgument with words of your own, or let it pass."
            )

    def test_tool_ends_when_the_library_hangs(self, subject: Subject, tool: str) -> None:
        """The caller gets a timeout, and later calls an answer."""
        tools = subject.library.app.pipeline.tools
        spec, release = tools[tool], threading.Event()
        tools[tool] = replace(spec, timeout=_SHORT)
        try:
            with _broken(subject, lambda: release.wait(_LONG)) as used:
                outcome = subject.call(tool)
                release.set()
        finally:
            release.set()
            tools[tool] = spec
        if used:
            assert outcome.code == ErrorCode.TIMEOUT, (
                f"The library hangs, and {tool} answers {_told(outcome)}. Do not wait in threads "
                "of your own for what ctx.records and ctx.search do."
            )
        self._answered(subject.call(tool), tool, subject)

    def _answered(self, outcome: CallOutcome, tool: str, subject: Subject) -> Any:
        """The payload of a call that must succeed."""
        if outcome.is_error:
            arguments = subject.usual(tool)
            pytest.fail(
                f"{tool} called with {arguments} answers {_told(outcome)}. If these arguments "
                "make no sense for the tool, put better ones into `arguments` of the test class.",
                pytrace=False,
            )
        return outcome.payload


def _told(outcome: CallOutcome) -> str:
    if outcome.is_error:
        return f"{outcome.code} ({outcome.error['error']})"
    return shown(outcome.payload)[:300]


def _assert_hidden(outcome: CallOutcome, marks: set[str], who: str) -> None:
    answer = shown(outcome.payload)
    leaked = sorted(mark for mark in marks if mark in answer)
    assert not leaked, (
        f"{who} what stands in a knowledge base the caller may not read ({', '.join(leaked[:3])}). "
        "Read through ctx.records and ctx.search in every call, as the caller of that call: keep "
        "no documents in the pack and act for nobody else."
    )


def _raising(error: Exception) -> Callable[[], NoReturn]:
    def fail() -> NoReturn:
        raise error

    return fail


@contextmanager
def _broken(subject: Subject, act: Callable[[], object]) -> Iterator[list[str]]:
    """The library with a catalog that does ``act`` before it is read.

    :returns: filled with the thread's name at each use.
    """
    catalog = subject.library.app.engine().catalog
    read, used = catalog.read, []

    def broken() -> Any:
        used.append(threading.current_thread().name)
        act()
        return read()

    catalog.read = broken  # type: ignore[method-assign]
    try:
        yield used
    finally:
        del catalog.read
