"""reStructuredText. The text is the source itself; titles are found by their underlines.

docutils is not used: it needs eight seconds for a megabyte, and its directives read files. A
title in reStructuredText is a line of text at the margin above a line of punctuation, which a scan
of the lines tells as well (reStructuredText Markup Specification, "Sections").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final, NamedTuple

from eagle_rag_core.ingest.parsers.charset import decode, looks_binary
from eagle_rag_core.ingest.parsers.declared import Declared, fields, iso_date, keywords
from eagle_rag_core.ingest.parsers.failures import empty_document, parse_failed, refuse_empty
from eagle_rag_core.ingest.parsers.normalise import has_words, normalise, one_line
from eagle_rag_core.types.documents import Heading, ParsedDocument

_SUFFIXES: Final = (".rst", ".rest", ".restx", ".rst.txt")
_DIRECTIVE = re.compile(rb"^\.\. [a-z][a-z0-9:_-]{1,40}::(?:\s|$)", re.M)
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*")
#: What begins like a title but is a list item, a comment, a directive, a field or a table.
_NO_TITLE = re.compile(r"[-*+•‣⁃][ \t]|\.\.(?:[ \t]|$)|:[^:`\s][^:`]*:(?:[ \t]|$)|[+|][-=| ]")
_SHORTEST = 4
_FIELD = re.compile(r"[ \t]*:([A-Za-z][A-Za-z ]{0,30}):[ \t]+(\S.*)")
#: Lines at the top in which bibliographic fields are looked for.
_TOP = 60
_ROLE = re.compile(r":[A-Za-z][\w:+.-]{0,60}:(?=`)")
_TARGET = re.compile(r"[ \t]*<[^<>`]{1,500}>(?=`)")
_MARKS = re.compile(r"``|\*\*|`__?|(?<!\w)[*`|](?=\S)|(?<=\S)[*`|](?!\w)")


class RstParser:
    """Reads reStructuredText, that of Sphinx included."""

    name = "rst"
    version = "1"

    def sniff(self, head: bytes, name: str) -> float:
        if looks_binary(head):
            return 0.0
        if name.lower().endswith(_SUFFIXES):
            return 0.9
        return 0.4 if _DIRECTIVE.search(head) else 0.0

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        source = decode(data)
        if source is None:
            raise parse_failed(name, "is not a text file, so it cannot be reStructuredText.")
        text = normalise(source).strip("\n")
        if not has_words(text):
            raise empty_document(name, "has no letters or digits.")
        headings = tuple(_headings(text))
        declared = _declared(text)
        return ParsedDocument(
            text=text,
            media_type="text/x-rst",
            headings=headings,
            title=next((h.title for h in headings if h.level == 1), ""),
            language=declared.language,
            keywords=declared.keywords,
            metadata=declared.metadata,
        )


class _Title(NamedTuple):
    """A title found: where its text begins, and by which marks it is set off."""

    start: int
    text: str
    style: tuple[str, bool]


def _headings(text: str) -> Iterator[Heading]:
    """Levels follow from the order in which the styles of titles first occur."""
    levels: dict[tuple[str, bool], int] = {}
    for title in _titles(text):
        level = levels.setdefault(title.style, len(levels) + 1)
        if plain := _plain(title.text):
            yield Heading(plain, level, title.start)


def _titles(text: str) -> Iterator[_Title]:
    lines = [*text.split("\n"), "", ""]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    position = 0
    while position < len(lines) - 2:
        first, second, third = lines[position : position + 3]
        begins = position == 0 or _ends_paragraph(lines[position - 1])
        mark = _adornment(first)
        if begins and mark and second.strip() and first == third:
            indent = len(second) - len(second.lstrip())
            yield _Title(starts[position + 1] + indent, second.strip(), (mark, True))
            position += 3
        elif begins and not mark and _is_underlined(first, second):
            yield _Title(starts[position], first, (second[0], False))
            position += 2
        else:
            position += 1


def _ends_paragraph(line: str) -> bool:
    """Whether what comes next begins anew: blank, indented, or explicit markup."""
    return not line or line[0] in " \t" or line.startswith("..") or bool(_adornment(line))


def _adornment(line: str) -> str:
    """The character a line of punctuation repeats, "" for other lines."""
    match = _ADORNMENT.fullmatch(line)
    return match[1] if match else ""


def _is_underlined(title: str, line: str) -> bool:
    if not title or title[0] in " \t" or not _adornment(line) or _NO_TITLE.match(title):
        return False
    return len(line) >= _SHORTEST or len(line) >= _columns(title)


def _columns(text: str) -> int:
    """Width on screen: ideographs take two columns, combining marks none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _declared(text: str) -> Declared:
    """The fields above the first section's text and those of the ``meta`` directive."""
    found: dict[str, str] = {}
    for line in text.split("\n", _TOP)[:_TOP]:
        if match := _FIELD.fullmatch(line):
            found.setdefault(match[1].lower(), match[2])
    return Declared(
        language=found.get("language", "") or found.get("lang", ""),
        keywords=keywords([found.get("keywords", ""), found.get("tags", "")]),
        metadata=fields(
            author=found.get("author") or found.get("authors"),
            description=found.get("description") or found.get("abstract"),
            published=iso_date(found.get("date", "")),
        ),
    )


def _plain(title: str) -> str:
    """The visible text of a title, without roles, targets and marks."""
    return one_line(_MARKS.sub("", _TARGET.sub("", _ROLE.sub("", title))))
