"""What a check finds, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Severity = Literal["error", "warning", "hint"]
_ORDER: Final = ("error", "warning", "hint")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know before the pack is published.

    :param severity: an ``error`` keeps the pack from loading or breaks a rule, a ``warning`` wants
        a look, a ``hint`` is good practice.
    :param file: path inside the wheel or the project, "" for the whole of it.
    :param line: 0 where there is none.
    """

    severity: Severity
    reason: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        return f"{place}{self.severity}: {self.reason}"

    @property
    def rank(self) -> tuple[int, str, int]:
        """Sorts findings: errors first, then by place."""
        return _ORDER.index(self.severity), self.file, self.line


def line_of(text: str, *words: str) -> int:
    """The first line that holds all of ``words``, 0 if none does."""
    for number, line in enumerate(text.splitlines(), 1):
        if all(word in line for word in words):
            return number
    return 0
