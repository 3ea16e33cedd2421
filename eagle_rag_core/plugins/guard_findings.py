"""What the guard finds, as data: a static check shows all of it, registration raises the first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eagle_rag_core.errors import GuardError


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule.

    :param rule: stable name of the rule, as in ``docs/guard.md``.
    :param where: the text that breaks it, e.g. ``description of tool 'biomed_query_entities'``.
    :param message: whole sentence for the pack's author: where, what, and what to do.
    """

    rule: str
    where: str
    message: str


def refuse_first(findings: Iterable[Finding]) -> None:
    """Raise the first finding, if there is one.

    :raises GuardError: its message ends in the name of the rule.
    """
    for finding in findings:
        raise GuardError(f"{finding.message} [{finding.rule}]")
