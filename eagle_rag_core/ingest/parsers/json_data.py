"""JSON and JSON Lines: every value stands with the path that leads to it."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.charset import decode, looks_binary
from eagle_rag_core.ingest.parsers.declared import fields
from eagle_rag_core.ingest.parsers.failures import empty_document, parse_failed, refuse_empty
from eagle_rag_core.ingest.parsers.json_text import MAX_DEPTH, JsonWriter, Pairs, check_depth
from eagle_rag_core.ingest.parsers.normalise import has_words
from eagle_rag_core.types.documents import ParsedDocument

_SUFFIXES: Final = (".json", ".geojson", ".jsonld", ".json5", ".jsonc", ".webmanifest")
_LINES_SUFFIXES: Final = (".jsonl", ".ndjson", ".jsonlines")
#: A name with another suffix says that the source wants to be read as what it names.
_HAS_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}\Z")
_START = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:\{\s*[\"}]|\[\s*\{\s*[\"}])")
#: Comments, and commas before a closing bracket, as configuration files have them; strings are
#: matched first, so that nothing inside of them counts. What is never closed goes to the end.
_RELAXED = re.compile(
    r'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)|,(?=\s*[}\]])', re.S
)


class _NotJson(Exception):
    """The text breaks the grammar, at ``line``."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


class JsonParser:
    """Reads JSON documents and files with one JSON record a line."""

    name = "json"
    version = "1"

    def sniff(self, head: bytes, name: str) -> float:
        if looks_binary(head):
            return 0.0
        if name.lower().endswith((*_SUFFIXES, *_LINES_SUFFIXES)):
            return 0.7
        return 0.5 if _START.match(head) and not _HAS_SUFFIX.search(name) else 0.0

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        text = decode(data)
        if text is None:
            raise parse_failed(name, "is not a text file, so it cannot be JSON.")
        lines_first = name.lower().endswith(_LINES_SUFFIXES)
        records, is_lines = _load(text, lines_first, name)
        if not check_depth(records):
            raise parse_failed(name, f"nests its values more than {MAX_DEPTH} levels deep.")
        writer = JsonWriter(DocumentBuilder())
        title = ""
        if is_lines:
            writer.record_list(records)
        else:
            title = writer.document(records[0])
        if not has_words(writer.builder.text()):
            raise empty_document(name, "holds no values with letters or digits.")
        return writer.builder.build(
            "application/jsonl" if is_lines else "application/json",
            title=title,
            metadata=fields(records=writer.records),
        )


def _load(text: str, lines_first: bool, name: str) -> tuple[list[Any], bool]:
    """The values, and whether each has a line of its own. Files of either kind go by the names of
    the other, so both are tried; the error is that of the kind the name promises."""
    attempts = (_lines, _document) if lines_first else (_document, _lines)
    failures = []
    for attempt in attempts:
        try:
            return attempt(text), attempt is _lines
        except _NotJson as failure:
            failures.append(failure)
        except RecursionError as error:
            raise parse_failed(
                name, f"nests its values more than {MAX_DEPTH} levels deep."
            ) from error
    raise parse_failed(name, f"is not valid JSON: line {failures[0].line}, {failures[0].reason}.")


def _document(text: str) -> list[Any]:
    try:
        return [_decoder().decode(text.strip())]
    except json.JSONDecodeError as error:
        relaxed = _RELAXED.sub(lambda match: match[1] or "", text)
        if relaxed != text:
            try:
                return [_decoder().decode(relaxed.strip())]
            except json.JSONDecodeError:
                pass
        line = text[: len(text) - len(text.lstrip())].count("\n") + error.lineno
        raise _NotJson(line, _reason(error)) from error


def _lines(text: str) -> list[Any]:
    decoder = _decoder()
    values = []
    for number, line in enumerate(re.split("\r?\n", text), start=1):
        if line.strip():
            try:
                values.append(decoder.decode(line.strip()))
            except json.JSONDecodeError as error:
                raise _NotJson(number, _reason(error)) from error
    if len(values) < 2 and not any(isinstance(value, Pairs) for value in values):
        raise _NotJson(1, "there are no records")
    return values


def _reason(error: json.JSONDecodeError) -> str:
    at_end = error.pos >= len(error.doc.rstrip())
    return "the end is missing" if at_end else f"column {error.colno}"


def _decoder() -> json.JSONDecoder:
    """Keeps numbers as they are written and all values of keys that occur twice."""
    return json.JSONDecoder(
        object_pairs_hook=Pairs, parse_float=str, parse_int=str, parse_constant=str, strict=False
    )
