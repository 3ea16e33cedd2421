"""Source code: the text is the source itself, line by line; definitions are its sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from eagle_rag_core.ingest.parsers.charset import decode, looks_binary
from eagle_rag_core.ingest.parsers.code_languages import Language, compiled, language_of
from eagle_rag_core.ingest.parsers.declared import fields
from eagle_rag_core.ingest.parsers.failures import empty_document, parse_failed, refuse_empty
from eagle_rag_core.ingest.parsers.normalise import has_words, normalise, one_line
from eagle_rag_core.types.documents import Heading, ParsedDocument

#: Lines are longer only in generated and minified files, which define nothing for readers.
_MAX_LINE = 400
_TAB = 4
#: How comments of several lines begin; strings of several lines belong to what stands above them.
_COMMENTS = ("/*", "--[[")


class SourceCodeParser:
    """Reads program sources and configuration files. Nothing in them is run."""

    name = "source-code"
    version = "1"

    def sniff(self, head: bytes, name: str) -> float:
        if not head or looks_binary(head) or language_of(head, name) is None:
            return 0.0
        return 0.65

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        language = language_of(data, name)
        text = decode(data)
        if text is None or language is None:
            raise parse_failed(name, "is not a source file of a known language.")
        # Line numbers are those of an editor, where a form feed ends no line.
        text = normalise(text.replace("\f", "").replace("\v", ""), keep_lines=True).rstrip("\n")
        if not has_words(text):
            raise empty_document(name, "has no letters or digits.")
        return ParsedDocument(
            text=text,
            media_type=f"text/x-{language.name}",
            headings=tuple(_headings(text, language)),
            metadata=fields(programming_language=language.name),
        )


@dataclass(frozen=True, slots=True)
class _Definition:
    """A definition, its comments and decorators included. Lines count from 1."""

    title: str
    level: int
    first_line: int
    start: int


def _headings(text: str, language: Language) -> Iterator[Heading]:
    lines = text.split("\n")
    found = list(_definitions(text, lines, language))
    for definition, end in zip(found, _last_lines(found, len(lines)), strict=True):
        while end > definition.first_line and not lines[end - 1].strip():
            end -= 1
        title = f"{definition.title} (lines {definition.first_line}-{end})"
        yield Heading(title, definition.level, definition.start)


def _last_lines(found: Sequence[_Definition], last: int) -> list[int]:
    """A definition ends where the next one beside or above it begins."""
    ends = [last] * len(found)
    open_ones: list[int] = []
    for position, definition in enumerate(found):
        while open_ones and found[open_ones[-1]].level >= definition.level:
            ends[open_ones.pop()] = definition.first_line - 1
        open_ones.append(position)
    return ends


def _definitions(text: str, lines: Sequence[str], language: Language) -> Iterator[_Definition]:
    quoted, commented = _quoted_lines(text, language)
    #: Indentation of the definitions around the line, and whether they may hold further ones.
    around: list[tuple[int, bool]] = []
    offset = 0
    offsets = []
    for number, line in enumerate(lines):
        offsets.append(offset)
        offset += len(line) + 1
        if number in quoted or not line or len(line) > _MAX_LINE:
            continue
        title, holds, indent = _match(*_statement(lines, number), language)
        if not title:
            continue
        while around and around[-1][0] >= indent:
            around.pop()
        if around and not around[-1][1]:
            continue  # inside of a function
        around.append((indent, holds))
        first = _first_attached(lines, number, commented, language)
        yield _Definition(title, len(around), first + 1, offsets[first])


def _statement(lines: Sequence[str], number: int) -> tuple[str, str]:
    """A line, with those its parentheses go on in, and the line below."""
    text = lines[number]
    while text.count("(") > text.count(")") and len(text) < _MAX_LINE and number + 1 < len(lines):
        number += 1
        text += " " + lines[number].strip()
    return text[: 2 * _MAX_LINE], lines[number + 1] if number + 1 < len(lines) else ""


def _match(line: str, below: str, language: Language) -> tuple[str, bool, int]:
    """Title, whether it is a container, and indentation of what a line defines."""
    for holds, pattern in compiled(language).definitions:
        match = pattern.match(line)
        # Where braces alone tell a function from a call, the next line may open them.
        if match and (
            "opening" not in pattern.groupindex
            or match["opening"] is None
            or below.lstrip().startswith("{")
        ):
            return one_line(match["title"]), holds, len(match["indent"].expandtabs(_TAB))
    return "", False, 0


def _quoted_lines(text: str, language: Language) -> tuple[set[int], set[int]]:
    """Numbers of the lines that begin inside of a string or comment, and of those in comments."""
    inside: set[int] = set()
    commented: set[int] = set()
    line, position = 0, 0
    for match in compiled(language).quoted.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.end()
        inner = text.count("\n", match.start(), position)
        if inner:
            lines = range(line + 1, line + inner + 1)
            inside.update(lines)
            if match[0].startswith(_COMMENTS):
                commented.update(lines)
        line += inner
    return inside, commented


def _first_attached(
    lines: Sequence[str], number: int, comments: Set[int], language: Language
) -> int:
    """The first of the comment and decorator lines right above a definition."""
    first = number
    while first and (
        first - 1 in comments or lines[first - 1].lstrip().startswith(language.attached)
    ):
        first -= 1
    return first
