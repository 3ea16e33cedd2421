"""Jupyter notebooks (.ipynb): Markdown cells with their headings, code and its printed output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from eagle_rag_core.ingest.parsers.charset import decode, looks_binary
from eagle_rag_core.ingest.parsers.declared import fields
from eagle_rag_core.ingest.parsers.failures import empty_document, parse_failed, refuse_empty
from eagle_rag_core.ingest.parsers.markdown import markdown_headings
from eagle_rag_core.ingest.parsers.normalise import has_words, normalise
from eagle_rag_core.ingest.parsers.tables import repeat_table_headers
from eagle_rag_core.types.documents import ParsedDocument

_KEYS = re.compile(rb'"(?:cells|nbformat|worksheets)"\s*:')
_ESCAPES = re.compile("\x1b\\[[0-9;?]*[ -/]*[@-~]")
_FENCE = re.compile("`{3,}")


class NotebookParser:
    """Reads notebooks of format 3 and 4 (nbformat). Nothing in them is run."""

    name = "notebook"
    version = "1"

    def sniff(self, head: bytes, name: str) -> float:
        named = name.lower().endswith(".ipynb")
        if looks_binary(head) or not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return 0.0
        return 0.9 if named else 0.6 if len(set(_KEYS.findall(head))) > 1 else 0.0

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        notebook = _load(data, name)
        language = _language(notebook)
        try:
            parts = [part for cell in _cells(notebook) for part in _written(cell, language)]
        except (AttributeError, KeyError, TypeError) as error:
            raise parse_failed(
                name, "is a damaged notebook: its cells are not as the format demands."
            ) from error
        text = repeat_table_headers(normalise("\n\n".join(parts)).strip("\n"))
        if not has_words(text):
            raise empty_document(name, "has no cells with text or code.")
        headings = tuple(markdown_headings(text))
        return ParsedDocument(
            text=text,
            media_type="application/x-ipynb+json",
            headings=headings,
            title=next((heading.title for heading in headings if heading.level == 1), ""),
            metadata=fields(programming_language=language),
        )


def _load(data: bytes, name: str) -> dict[str, Any]:
    text = decode(data)
    try:
        notebook = json.loads(text or "", parse_int=str, strict=False)
    except json.JSONDecodeError as error:
        raise parse_failed(
            name, f"is a damaged or cut-off notebook: line {error.lineno} is not valid JSON."
        ) from error
    except RecursionError as error:
        raise parse_failed(name, "nests its values too deep for a notebook.") from error
    if not isinstance(notebook, dict) or not ("cells" in notebook or "worksheets" in notebook):
        raise parse_failed(name, "is JSON but not a notebook: it has no cells.")
    return notebook


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    described = metadata if isinstance(metadata, dict) else {}
    for place, key in (("language_info", "name"), ("kernelspec", "language")):
        value = described.get(place)
        if isinstance(value, dict) and isinstance(value.get(key), str):
            return re.sub("[^A-Za-z0-9+#_-]", "", value[key]).lower()
    return ""


def _cells(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "cells" in notebook:
        yield from notebook["cells"]
    else:
        for sheet in notebook["worksheets"]:
            yield from sheet["cells"]


def _written(cell: dict[str, Any], language: str) -> Iterator[str]:
    """A cell as Markdown: its text, or its code and what the code printed."""
    source = _joined(cell.get("source", cell.get("input", "")))
    kind = cell.get("cell_type", "")
    if kind == "heading":  # format 3
        yield f"{'#' * int(cell.get('level', 1))} {source}"
    elif kind == "code":
        if source.strip():
            yield _fenced(source, language)
        for output in cell.get("outputs", ()):
            if printed := _ESCAPES.sub("", _printed(output)).strip("\n"):
                yield _fenced(printed, "")
    elif source.strip():
        yield source


def _printed(output: dict[str, Any]) -> str:
    """The plain text of an output; pictures and pages have none."""
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    data = output.get("data")
    return _joined(data.get("text/plain", "") if data else output.get("text", ""))


def _joined(source: Any) -> str:
    """Multi-line text comes whole or as a list of lines."""
    return source if isinstance(source, str) else "".join(source)


def _fenced(code: str, language: str) -> str:
    longest = max((len(marks) for marks in _FENCE.findall(code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"
