"""JSON schemas in words, for the tables of the reference pages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]


def rows(schema: Schema, prefix: str = "") -> Iterator[tuple[str, Schema, bool]]:
    """Every property of an object, those of nested objects and lists included.

    :returns: dotted name (``filter[].op``), schema, and whether it must be given.
    """
    required = schema.get("required", ())
    for name, node in schema.get("properties", {}).items():
        yield prefix + name, node, name in required
        yield from rows(node, f"{prefix}{name}.")
        yield from rows(node.get("items", {}), f"{prefix}{name}[].")


def kind(node: Schema) -> str:
    """Type and bounds of a value, e.g. ``integer 1..100`` or ``list of strings``."""
    if "enum" in node:
        return " ".join(f"`{value}`" for value in node["enum"])
    if "const" in node:
        return f"`{node['const']}`"
    match node.get("type"):
        case "array":
            inner = node["items"].get("type", "object")
            return f"list of {inner}s" + _bounds(node, "minItems", "maxItems")
        case "object" if isinstance(node.get("additionalProperties"), Mapping):
            inner = node["additionalProperties"].get("type", "object")
            return f"object of {inner}s" + _bounds(node, "minProperties", "maxProperties")
        case "string":
            return "string" + _bounds(node, "minLength", "maxLength")
        case "integer" | "number" as number:
            positive = " > 0" if node.get("exclusiveMinimum") == 0 else ""
            return f"{number}{positive}" + _bounds(node, "minimum", "maximum")
        case other:
            return str(other)


def default(node: Schema) -> str:
    """The default as JSON, in a code span."""
    return f"`{json.dumps(node['default'])}`" if "default" in node else ""


def prose(node: Schema) -> str:
    """The description, with placeholders such as <home> kept from becoming HTML."""
    return str(node.get("description", "")).replace("<", "\\<")


def table(header: tuple[str, ...], lines: Iterator[tuple[str, ...]]) -> str:
    """A Markdown table."""
    cells = [header, tuple("---" for _ in header), *lines]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells
    )


def _bounds(node: Schema, low: str, high: str) -> str:
    least, most = node.get(low), node.get(high)
    if least is not None and most is not None:
        return f" {least}..{most}"
    if least is not None:
        return f" ≥ {least}"
    return f" ≤ {most}" if most is not None else ""
