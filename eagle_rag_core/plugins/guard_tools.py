"""The one entry of the guard: every text of a tool, from plain data and without running anything.

Registration raises the first finding (:func:`check_tool_texts`); a static check shows all of them
(:func:`tool_findings`, :func:`manifest_findings`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from eagle_rag_core.plugins.guard import name_findings
from eagle_rag_core.plugins.guard_findings import Finding, refuse_first
from eagle_rag_core.plugins.guard_text import (
    DESCRIPTION,
    INGEST_DESCRIPTION,
    PARAMETER,
    TITLE,
    VALUE,
    TextKind,
    ToolNames,
    text_findings,
)
from eagle_rag_core.plugins.guard_words import CONVERSATION_NAMES, SECRET_NAMES

if TYPE_CHECKING:
    from eagle_rag_core.plugins.manifest import PackManifest

_PARAMETER_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")
#: Keywords whose strings are no texts.
_STRUCTURE: Final = frozenset({"type", "format", "required", "$ref", "$schema", "$id"})
#: How deep a schema is read; deeper ones are refused.
_DEPTH: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTexts:
    """All that a model is told about a tool.

    :param name: full name, namespace first.
    :param effect: ``read``, or ``ingest`` for the core's one writer.
    :param read_only: what the tool's annotations promise, as is ``destructive``.
    """

    name: str
    namespace: str
    description: str
    title: str = ""
    effect: str = "read"
    read_only: bool = True
    destructive: bool = False
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Mapping[str, Any] = field(default_factory=dict)


def check_tool_texts(tool: ToolTexts, *, others: Collection[str] = ()) -> None:
    """Refuse a tool whose name, texts, schema or annotations break a rule.

    :raises GuardError: the first of :func:`tool_findings`.
    """
    refuse_first(_tool_findings(tool, others))


def tool_findings(tool: ToolTexts, *, others: Collection[str] = ()) -> list[Finding]:
    """Everything the guard finds in a tool.

    :param others: full names of registered tools, which only their own pack may name in texts.
    """
    return list(_tool_findings(tool, others))


def manifest_findings(manifest: PackManifest) -> list[Finding]:
    """Everything the guard finds in a manifest: names of tools, titles and summaries."""
    pack = manifest.pack
    names = ToolNames(pack.namespace)
    found = list(text_findings(pack.title, TITLE, where="title of the pack", names=names))
    for full_name, tool in zip(manifest.tool_names, manifest.tools, strict=True):
        found += name_findings(full_name, namespace=pack.namespace)
        where = f"summary of tool {full_name!r}"
        found += text_findings(tool.summary, DESCRIPTION, where=where, names=names)
    for collection in manifest.collections:
        if collection.summary:
            where = f"summary of collection {collection.name!r}"
            found += text_findings(collection.summary, DESCRIPTION, where=where, names=names)
    for service in manifest.needs.services:
        found += text_findings(service, VALUE, where="list of needed services", names=names)
    return found


def _tool_findings(tool: ToolTexts, others: Collection[str]) -> Iterator[Finding]:
    what, names = f"tool {tool.name!r}", ToolNames(tool.namespace, others)
    yield from name_findings(tool.name, namespace=tool.namespace)
    yield from _annotation_findings(tool, what)
    description = INGEST_DESCRIPTION if tool.effect == "ingest" else DESCRIPTION
    where = f"description of {what}"
    yield from text_findings(tool.description, description, where=where, names=names)
    if tool.title:
        title = TextKind(TITLE.max_length, description.rules)
        yield from text_findings(tool.title, title, where=f"title of {what}", names=names)
    for parameter, node in _properties(tool.input_schema):
        where = f"parameter {parameter!r} of {what}"
        yield from _parameter_name_findings(parameter, where)
        yield from _schema_findings(node, where, PARAMETER, names)
    yield from _schema_findings(tool.output_schema, f"result of {what}", DESCRIPTION, names)


def _annotation_findings(tool: ToolTexts, what: str) -> Iterator[Finding]:
    if tool.destructive or tool.read_only != (tool.effect == "read"):
        yield Finding(
            "annotations",
            what,
            f"The {what} has the effect {tool.effect!r} but is annotated read_only="
            f"{tool.read_only}, destructive={tool.destructive}; make them say the same.",
        )


def _parameter_name_findings(name: str, where: str) -> Iterator[Finding]:
    if not _PARAMETER_NAME.fullmatch(name):
        yield Finding(
            "parameter-name",
            where,
            f"The {where} has no plain name; use at most 40 ASCII letters, digits and underscores.",
        )
    plain = name.casefold().replace("-", "_")
    if plain in SECRET_NAMES or plain in CONVERSATION_NAMES:
        yield Finding(
            "parameter-name",
            where,
            f"The {where} asks for {'a secret' if plain in SECRET_NAMES else 'the conversation'}; "
            "a tool gets what it is asked, and nothing else.",
        )
    spoken = name.replace("_", " ").replace("-", " ")
    yield from text_findings(spoken, VALUE, where=f"name of {where}")


def _schema_findings(
    node: object, where: str, kind: TextKind, names: ToolNames, *, depth: int = 0
) -> Iterator[Finding]:
    """What is wrong with any string in a schema, whatever keyword it stands under."""
    if depth > _DEPTH:
        yield Finding("schema-depth", where, f"The {where} is nested too deeply; make it flat.")
        return
    if isinstance(node, str):
        yield from text_findings(node, VALUE, where=f"value of {where}", names=names)
    elif isinstance(node, Mapping):
        for key, value in node.items():
            if key == "description" and isinstance(value, str):
                yield from text_findings(value, kind, where=f"description of {where}", names=names)
            elif key == "properties" and isinstance(value, Mapping):
                for name, child in value.items():
                    inside = f"field {name!r} of {where}"
                    if kind is PARAMETER:
                        yield from _parameter_name_findings(name, inside)
                    yield from _schema_findings(child, inside, kind, names, depth=depth + 1)
            elif key not in _STRUCTURE:
                yield from _schema_findings(value, where, kind, names, depth=depth + 1)
    elif isinstance(node, list | tuple):
        for item in node:
            yield from _schema_findings(item, where, kind, names, depth=depth + 1)


def _properties(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        yield from properties.items()
