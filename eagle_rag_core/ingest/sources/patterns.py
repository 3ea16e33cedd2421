"""Patterns that choose files, written as in ``.gitignore`` (gitignore(5))."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from eagle_rag_core.errors import InvalidArgument

#: What programs leave beside documents, and folders nobody means when naming one above them.
JUNK = (
    ".*",
    "~$*",
    "*~",
    "*.tmp",
    "*.temp",
    "*.swp",
    "*.part",
    "*.crdownload",
    "*.lock",
    "*.pyc",
    "Thumbs.db",
    "desktop.ini",
    "__pycache__/",
    "__MACOSX/",
    "node_modules/",
    "lost+found/",
)
_LONGEST = 1000
_TOKEN = re.compile(
    r"/\*\*/|\*\*/|/\*\*$|\*+|\?|\[(?P<set>[!^]?\]?[^\]/]*)\]|\\(?P<escaped>.)|(?P<char>.)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern.

    :param keeps: it began with ``!``: what matches is not left out after all.
    :param folders_only: it ended with ``/``.
    """

    matches: re.Pattern[str]
    keeps: bool
    folders_only: bool


class PatternList:
    """Patterns in order; the last one that matches decides.

    :param lines: blank lines and those that begin with ``#`` mean nothing.
    :raises InvalidArgument: a line is no pattern.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        parsed = (_parse(line) for line in lines)
        self._patterns = [pattern for pattern in parsed if pattern is not None]

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def matches(self, path: str, *, folder: bool = False) -> bool:
        """Whether the list chooses a path.

        :param path: relative, with ``/`` between its parts.
        """
        for pattern in reversed(self._patterns):
            if (folder or not pattern.folders_only) and pattern.matches.fullmatch(path):
                return not pattern.keeps
        return False

    def matches_within(self, path: str) -> bool:
        """Whether the list chooses a file, or a folder that it lies in."""
        parts = path.split("/")
        above = ("/".join(parts[:n]) for n in range(1, len(parts)))
        return any(self.matches(folder, folder=True) for folder in above) or self.matches(path)


@dataclass(frozen=True)
class Selection:
    """Which items of a source are wanted.

    :param ignored: left out with everything below, such as junk.
    """

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    ignored: Sequence[str] = ()

    def takes(self, path: str) -> bool:
        """Whether a file is wanted."""
        return self.admits(path) and (not self._included or self._included.matches_within(path))

    def admits(self, path: str) -> bool:
        """Whether nothing leaves a file out; it may still not be among the included ones."""
        lists = (self._left_out, self._ignored)
        return not any(patterns.matches_within(path) for patterns in lists)

    def enters(self, folder: str) -> bool:
        """Whether anything below a folder can be wanted, its parents being entered."""
        return not (
            self._left_out.matches(folder, folder=True)
            or self._ignored.matches(folder, folder=True)
        )

    @cached_property
    def _included(self) -> PatternList:
        return PatternList(self.include)

    @cached_property
    def _left_out(self) -> PatternList:
        return PatternList(self.exclude)

    @cached_property
    def _ignored(self) -> PatternList:
        return PatternList(self.ignored)


def _parse(line: str) -> Pattern | None:
    text = line.rstrip("\r\n")
    text = re.sub(r"(?<!\\) +$", "", text)
    if not text or text.startswith("#"):
        return None
    if len(text) > _LONGEST:
        raise InvalidArgument(f"A pattern is longer than {_LONGEST} characters.")
    keeps = text.startswith("!")
    text = text[1:] if keeps else text
    folders_only = text.endswith("/")
    text = text.rstrip("/")
    # A slash at the beginning or in the middle ties the pattern to the top.
    anchored = "/" in text
    body = _expression(text.removeprefix("/"))
    try:
        compiled = re.compile(body if anchored else f"(?:.*/)?{body}", re.DOTALL)
    except re.error:
        raise InvalidArgument(f"{line[:80]!r} is not a pattern; check its brackets.") from None
    return Pattern(compiled, keeps, folders_only)


def _expression(glob: str) -> str:
    """A glob as a regular expression."""
    parts: list[str] = []
    for match in _TOKEN.finditer(glob):
        token = match[0]
        if token == "/**/":
            parts.append("/(?:.*/)?")
        elif token == "**/":
            parts.append("(?:.*/)?")
        elif token == "/**":
            parts.append("/.*")
        elif token.startswith("*"):
            parts.append("[^/]*")
        elif token == "?":
            parts.append("[^/]")
        elif match["set"]:
            parts.append(_set(match["set"]))
        else:
            parts.append(re.escape(match["escaped"] or match["char"] or token))
    return "".join(parts)


def _set(inner: str) -> str:
    """The characters between brackets."""
    negated = inner[0] in "!^"
    members = inner[1:] if negated else inner
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", members)
    return f"(?!/)[{'^' if negated else ''}{escaped}]"
