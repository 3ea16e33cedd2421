"""What is noted of the running call, by whoever finds out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from eagle_rag_core.types.hits import Step


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that goes with an answer.

    :param label: what it shows, in words.
    """

    label: str
    data: bytes
    media_type: str


@dataclass(slots=True)
class CallNotes:
    """Remarks on one call; the call's threads share them.

    :param partial: something that should have taken part failed, so that the same call may find
        more the next time.
    :param cache_hit: the answer was there already.
    :param pictures: that go with the answer.
    """

    partial: bool = False
    cache_hit: bool = False
    pictures: tuple[Picture, ...] = ()


_notes: ContextVar[CallNotes] = ContextVar("eagle_rag_notes")


def current_notes() -> CallNotes:
    """The notes of the running call; outside of a call, ones that nobody reads."""
    return _notes.get(None) or CallNotes()


@contextmanager
def taking_notes() -> Iterator[CallNotes]:
    """Run a block whose notes are kept."""
    notes = CallNotes()
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def note_failures(steps: Iterable[Step]) -> None:
    """Note that the answer is partial when any of its steps failed."""
    if any(step.status == "failed" for step in steps):
        current_notes().partial = True
