"""Blocks of the pages for authors of packs: manifest, hooks, and the types hooks deal in."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any, Final

from schema_words import Schema, default, kind, prose, table

from eagle_rag_core import types
from eagle_rag_core.plugins import PackManifest, hookspecs
from eagle_rag_core.plugins.context import RecordsReader, SearchReader
from eagle_rag_core.plugins.hooks import HOOKS

#: In the order in which an author meets them.
TYPES: Final[tuple[type, ...]] = (
    types.Parser,
    types.ParsedDocument,
    types.Heading,
    types.PageSpan,
    types.Enricher,
    types.EnrichmentInput,
    types.Chunk,
    types.DocumentInfo,
    types.Enrichment,
    types.NewRecord,
    types.Leg,
    types.LegRequest,
    types.Scope,
    types.ScoredNode,
    types.QueryExpander,
    types.Expansion,
    types.Condition,
    types.Reranker,
    types.Hit,
    types.EmbedderSpec,
    types.TextEmbedder,
    types.CollectionView,
    types.HealthCheck,
)
CONTEXT: Final[tuple[type, ...]] = (RecordsReader, SearchReader, types.Record)
_ROLE: Final = re.compile(r":[a-z]+:`~?(?:[\w.]+\.)?(\w+)`")


def manifest_tables() -> str:
    """One table for each table of the manifest."""
    schema = PackManifest.model_json_schema()
    return "\n\n".join(
        f"### `{name}`\n\n{table(_HEADER, _keys(node))}" for name, node in _tables(schema)
    )


_HEADER: Final = ("Key", "Type", "Default", "Meaning")


def _tables(schema: Schema) -> Iterator[tuple[str, Schema]]:
    models = schema["$defs"]
    yield "(top level)", schema
    yield "[pack]", models["PackTable"]
    yield "[[tools]]", models["ToolDeclaration"]
    yield "[[records]]", models["RecordKind"]
    yield "fields = [{ … }]", models["RecordField"]
    yield "[[collections]]", models["CollectionDeclaration"]
    yield "[needs]", models["Needs"]


def _keys(schema: Schema) -> Iterator[tuple[str, ...]]:
    for name, node in schema["properties"].items():
        required = name in schema.get("required", ())
        fallback = "*required*" if required else _default(node)
        yield f"`{name}`", _kind(node), fallback, prose(node)


def _kind(node: Schema) -> str:
    if "$ref" in node:
        return "table"
    return "list of tables" if "$ref" in node.get("items", {}) else kind(node)


def _default(node: Schema) -> str:
    return "empty" if node.get("default") in ([], {}) or "$ref" in node else default(node)


def hook_table() -> str:
    """Every hook with a link to its page and the first sentence of its docstring."""
    rows = ((f"[`{name}`](hooks/{name}.md)", _first_sentence(name)) for name in HOOKS)
    return table(("Hook", "What it does"), rows)


def _first_sentence(name: str) -> str:
    return _prose(getattr(hookspecs, name)).partition("\n")[0]


def hook_section(name: str) -> str:
    """A hook's exact signature and what its docstring says."""
    function = getattr(hookspecs, name)
    head = f"def {name}{inspect.signature(function)}: ..."
    head = head.replace("'", "")  # annotations are strings
    return f"```python\n{head}\n```\n\n{_prose(function)}"


def _prose(function: Any) -> str:
    """A docstring as Markdown: roles as code, fields as sentences."""
    text = _ROLE.sub(r"`\1`", inspect.cleandoc(function.__doc__ or ""))
    text = re.sub(r"\n*\.\. versionadded::.*", "", text)
    text = text.replace("``", "`").replace(":returns:", "**Returns** ")
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def source_of_types() -> str:
    return _source(TYPES)


def source_of_context() -> str:
    return _source(CONTEXT)


def _source(classes: tuple[type, ...]) -> str:
    return "\n\n".join(_class(item) for item in classes)


def _class(item: type) -> str:
    source = textwrap.dedent(inspect.getsource(item)).strip()
    return f"### `{item.__name__}`\n\n```python\n{source}\n```"
