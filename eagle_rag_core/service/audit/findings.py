"""What an audit finds, and how it runs its checks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from shlex import quote

from eagle_rag_core.catalog import ids
from eagle_rag_core.errors import EagleError
from eagle_rag_core.ingest.fetch.uris import is_file_uri, path_of

#: Between two looks, so that what is being written in between is not taken for a fault.
_PAUSE_SECONDS = 1.0


class Level(StrEnum):
    """How much a finding matters."""

    #: Something is missing, left over or wrong.
    FAULT = "fault"
    #: Worth knowing; nothing is broken.
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that an audit found.

    :param check: name of the check.
    :param subject: what it is about: an id, a hash, a name.
    :param problem: one sentence.
    :param remedy: what to do about it, where that is not ``--repair``.
    :param repair: puts it right; None where nobody but the operator can.
    """

    check: str
    subject: str
    problem: str
    remedy: str = ""
    level: Level = Level.FAULT
    repair: Callable[[], object] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Check:
    """One subject of an audit.

    :param name: room and subject, e.g. ``vectors.orphans``.
    """

    name: str
    find: Callable[[], Iterable[Finding]]


def ingest_again(source_uri: str, kb_name: str) -> str:
    """The command that makes a document anew from its source.

    "" where it belongs to a knowledge base that is being deleted.
    """
    if not ids.is_kb_name(kb_name):
        return ""
    path = str(path_of(source_uri)) if is_file_uri(source_uri) else source_uri
    typed = path if path.isprintable() else source_uri
    return f"eagle-rag ingest {quote(typed)} --kb {kb_name}"


class AuditService:
    """Looks whether everything that belongs together is there, and nothing else."""

    def __init__(self, checks: Sequence[Check], *, pause: float = _PAUSE_SECONDS) -> None:
        self._checks = checks
        self._pause = pause

    def run(self) -> list[Finding]:
        """What is wrong or worth knowing, in the order of the checks.

        Other processes may be writing: what a second look does not find again is left out.
        """
        first = {check.name: _look(check) for check in self._checks}
        doubtful = [check for check in self._checks if any(map(_is_fault, first[check.name]))]
        if doubtful:
            time.sleep(self._pause)
        for check in doubtful:
            again = set(_look(check))
            first[check.name] = [found for found in first[check.name] if found in again]
        return [finding for found in first.values() for finding in found]

    def repair(self, findings: Iterable[Finding]) -> int:
        """Put right what can be; how many findings that were.

        :raises EagleError: a repair failed; those before it are done.
        """
        done = 0
        for finding in findings:
            if finding.repair is not None:
                finding.repair()
                done += 1
        return done


def _look(check: Check) -> list[Finding]:
    try:
        return list(check.find())
    except EagleError as error:  # the other checks may say why
        return [Finding(check.name, "check", f"This cannot be looked at: {error.message}")]


def _is_fault(finding: Finding) -> bool:
    return finding.level is Level.FAULT
