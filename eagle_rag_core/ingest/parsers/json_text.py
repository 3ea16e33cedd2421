"""Writes JSON values as text: records below headings, values behind their paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.normalise import has_words, one_line

#: Data is nested ten levels deep at most; more is made to break readers.
MAX_DEPTH: Final = 100
#: Objects become sections down to this level; below, they are paths.
_MAX_LEVEL = 3
#: Characters an object has at least to be a section of its own.
_MIN_SECTION = 500
_MAX_TITLE = 200
#: Keys, best first, that name a record. Compared in lower case.
_TITLE_KEYS: Final = ("title", "name", "headline", "subject", "heading", "label", "question")
#: Keys whose text is the record's content, not one of its properties.
_TEXT_KEYS: Final = frozenset(
    {"text", "body", "content", "abstract", "description", "summary", "answer", "message"}
)


class Pairs(list[tuple[str, Any]]):
    """An object of JSON, in order; a key that occurs twice keeps both values."""


class JsonWriter:
    """Writes values into a document."""

    def __init__(self, builder: DocumentBuilder) -> None:
        self.builder = builder
        #: Records of a list of records; 0 for other documents.
        self.records = 0

    def document(self, value: Any) -> str:
        """Write one document. A list of objects at its top is a list of records.

        :returns: what the document names itself, "" when it does not.
        """
        if isinstance(value, Pairs):
            title = title_of(value)
            self._object(value, title, 0)
            return title
        if holds_objects(value):
            self.record_list(value)
        else:
            self.builder.block("\n".join(_paths(value, "")))
        return ""

    def record_list(self, values: Sequence[Any]) -> None:
        """Write records, each in a block or, when it has a name, in a section of its own."""
        self.records = len(values)
        self._elements(values, 1)

    def _elements(self, values: Sequence[Any], level: int) -> None:
        for value in values:
            if isinstance(value, Pairs):
                title = title_of(value) if level <= _MAX_LEVEL else ""
                if title:
                    self.builder.heading(title, level)
                self._object(value, title, level if title else level - 1)
            else:
                self.builder.block("\n".join(_paths(value, "")))

    def _object(self, pairs: Pairs, title: str, level: int) -> None:
        """Write the text of an object, its properties, then the larger objects it holds.

        :param level: of the heading it stands below.
        """
        properties: list[str] = []
        sections: list[tuple[str, Any]] = []
        for key, value in pairs:
            if _is_text(key, value):
                self.builder.block(value if one_line(value) != title else "")
            elif level < _MAX_LEVEL and holds_objects(value) and _is_large(value):
                sections.append((key, value))
            elif not (isinstance(value, str) and one_line(value) == title):
                properties += _paths(value, key)
        self.builder.block("\n".join(properties))
        for key, value in sections:
            self.builder.heading(key, level + 1)
            if isinstance(value, Pairs):
                self._object(value, "", level + 1)
            else:
                self._elements(value, level + 2)


def check_depth(value: Any) -> bool:
    """Whether no value lies more than :data:`MAX_DEPTH` levels deep."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _inner(outer) if isinstance(inner, list)]
        if not level:
            return True
    return False


def holds_objects(value: Any) -> bool:
    """Whether the value is an object or a list of objects, and not empty."""
    if isinstance(value, Pairs):
        return len(value) > 0
    return isinstance(value, list) and any(isinstance(element, Pairs) for element in value)


def _inner(value: Any) -> Iterator[Any]:
    if isinstance(value, Pairs):
        yield from (inner for _, inner in value)
    elif isinstance(value, list):
        yield from value


def _is_large(value: Any) -> bool:
    size = 0
    rest = [value]
    while rest and size < _MIN_SECTION:
        current = rest.pop()
        size += len(current) if isinstance(current, str) else 8
        rest += _inner(current)
    return size >= _MIN_SECTION


def _paths(value: Any, path: str) -> Iterator[str]:
    """``path: value`` for every value below; lists of plain values on one line."""
    if isinstance(value, Pairs):
        for key, inner in value:
            yield from _paths(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        if any(isinstance(element, list) for element in value):
            for position, element in enumerate(value):
                yield from _paths(element, f"{path}[{position}]")
        elif joined := ", ".join(text for element in value if (text := _scalar(element))):
            yield _line(path, joined)
    elif text := _scalar(value):
        yield _line(path, text)


def title_of(pairs: Pairs) -> str:
    """What an object calls itself: the best of its naming keys with a short text."""
    named = {key.lower(): value for key, value in reversed(pairs) if isinstance(value, str)}
    candidates = (one_line(named.get(key, "")) for key in _TITLE_KEYS)
    return next((t for t in candidates if has_words(t) and len(t) <= _MAX_TITLE), "")


def _is_text(key: str, value: Any) -> bool:
    return isinstance(value, str) and key.lower() in _TEXT_KEYS and has_words(value)


def _scalar(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _line(path: str, text: str) -> str:
    return f"{path}: {text}" if path else text
