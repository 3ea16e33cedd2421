"""Splits a SQL script into statements, without knowing its dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from sqlglot import exp

#: What may hide a semicolon: comments, quoted texts and names, dollar-quoted bodies. An opening
#: sign without its end reaches to the end of the line (quotes) or script (the others).
_OPAQUE: Final = re.compile(
    r"""
    --[^\n]*
    | ^\s*\#[^\n]*
    | /\*.*?(?:\*/|\Z)
    | '(?:''|\\'|[^'])*'
    | "(?:""|[^"])*"
    | `[^`]*`
    | (?P<dollar>\$\w*\$).*?(?:(?P=dollar)|\Z)
    | (?P<end>;|^\s*go\s*$)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_BLANK_OR_COMMENT: Final = re.compile(r"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)


class Statement(NamedTuple):
    """One statement, leading comments off.

    :param comment: the comments right before it, as plain text.
    :param line: of its first word, 1-based.
    """

    code: str
    comment: str
    line: int


class Reading(NamedTuple):
    """A statement as one dialect reads it."""

    tree: exp.Expression
    dialect: str


def statements(sql: str) -> Iterator[Statement]:
    """The statements of ``sql`` in order; empty ones left out."""
    start = 0
    for match in _OPAQUE.finditer(sql):
        if match.group("end"):
            yield from _statement(sql, start, match.start())
            start = match.end()
    yield from _statement(sql, start, len(sql))


def _statement(sql: str, start: int, end: int) -> Iterator[Statement]:
    lead = _BLANK_OR_COMMENT.match(sql, start, end)
    begin = lead.end() if lead else start
    code = sql[begin:end].rstrip()
    if code:
        yield Statement(code, _plain(sql[start:begin]), sql.count("\n", 0, begin) + 1)


def _plain(comments: str) -> str:
    """The text of the last block of comments: one a blank line parts from the statement is not
    about it."""
    block = re.split(r"\n\s*\n", comments.rstrip(" \t"))[-1]
    lines = (re.sub(r"^[\s*/-]+|[\s*/]+$", "", line) for line in block.splitlines())
    return " ".join(line for line in lines if line)
