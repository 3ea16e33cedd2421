"""JSON schemas inside the subset that every client and model accepts.

No ``$ref``, no unions, no null, nothing but the keywords below; objects are closed. Clients differ
in what else they understand, and one tool outside of what a client understands can hide all the
others from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import PydanticUserError

from eagle_rag_core.errors import PluginError

Schema = dict[str, Any]

#: What to write instead of a type without a place in the subset.
INPUT_ADVICE: Final = (
    "say str, int, float, bool, Literal[…], list[…], dict[str, …] or a TypedDict or dataclass of "
    "these"
)
OUTPUT_ADVICE: Final = (
    "return a TypedDict, a dataclass, a pydantic model or a list of one of these, so that clients "
    "know its fields"
)

_KEYWORDS: Final = frozenset(
    {
        "type",
        "description",
        "enum",
        "default",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "pattern",
    }
)
_TYPES: Final = frozenset({"string", "integer", "number", "boolean", "array", "object"})
_UNIONS: Final = ("anyOf", "oneOf", "allOf")


def inlined(schema: Mapping[str, Any], *, what: str) -> Schema:
    """``schema`` with its definitions in place of references, without titles.

    Descriptions that definitions bring are docstrings of their classes, written for programmers;
    they are left out. Those of fields and parameters stay.

    :param what: names the schema in messages.
    :raises PluginError: a type refers to itself, which cannot be written without references.
    """
    definitions = schema.get("$defs", {})

    def inline(node: Any, inside: tuple[str, ...]) -> Any:
        if isinstance(node, list):
            return [inline(item, inside) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" not in node:
            return {
                key: inline_value(key, value, inside)
                for key, value in node.items()
                if key != "title"
            }
        name = node["$ref"].rpartition("/")[2]
        if name in inside:
            raise PluginError(f"The {what} contains itself ({name}); use a flat list instead.")
        target = {k: v for k, v in definitions[name].items() if k != "description"}
        beside = {key: value for key, value in node.items() if key != "$ref"}
        merged = inline({**target, **beside}, (*inside, name))
        assert isinstance(merged, dict)
        return merged

    def inline_value(key: str, value: Any, inside: tuple[str, ...]) -> Any:
        if key == "properties":
            return {name: inline(field, inside) for name, field in value.items()}
        if key in ("default", "enum"):
            return value
        return inline(value, inside)

    root = {key: value for key, value in schema.items() if key not in ("$defs", "description")}
    result = inline(root, ())
    assert isinstance(result, dict)
    return _constants_as_enums(result)


def unsuited(error: PydanticUserError, *, what: str, advice: str) -> PluginError:
    """What to say about a type that pydantic has no JSON schema for."""
    if error.code == "typed-dict-version":
        return PluginError(
            f"The {what} uses typing.TypedDict; import TypedDict from typing_extensions, since "
            "the one of Python before 3.12 does not keep enough."
        )
    return PluginError(f"The {what} has a type without a JSON form; {advice}.")


def check_inputs(schema: Schema, *, tool: str) -> Schema:
    """Close the objects of an input schema and hold it to the subset.

    :raises PluginError: names tool, parameter and rule.
    """
    for name, parameter in schema.get("properties", {}).items():
        what = f"parameter {name!r} of tool {tool!r}"
        if not parameter.get("description"):
            raise PluginError(
                f"The {what} has no description; write "
                "Annotated[…, Field(description=…)] in the function's signature."
            )
        for node in _nodes(parameter):
            _check_node(node, what)
            if "properties" in node:
                node["additionalProperties"] = False
    return {"type": "object", "additionalProperties": False, "properties": {}, **schema}


def check_outputs(schema: Schema, *, tool: str) -> None:
    """Refuse unions and null in an output schema.

    :raises PluginError: names tool and rule.
    """
    for node in _nodes(schema):
        _check_unions(node, f"result of tool {tool!r}")


def _check_node(node: Schema, what: str) -> None:
    _check_unions(node, what)
    if node.get("type") not in _TYPES:
        raise PluginError(f"The {what} allows values of any type; {INPUT_ADVICE}.")
    if node.get("additionalProperties") is True:
        raise PluginError(f"The {what} is a mapping to anything; say the type of its values.")
    if unknown := sorted(set(node) - _KEYWORDS):
        raise PluginError(
            f"The {what} uses {', '.join(unknown)}, which not every client understands; allowed "
            "are bounds (ge, le, min_length, max_length), pattern, Literal and default."
        )


def _check_unions(node: Schema, what: str) -> None:
    if any(union in node for union in _UNIONS) or node.get("type") == "null":
        raise PluginError(
            f"The {what} is a union of types (or may be None), which some clients refuse; give it "
            'one type and a plain default such as "" or 0.'
        )


def _nodes(node: Schema) -> Iterator[Schema]:
    """A schema and all schemas inside it."""
    yield node
    for child in node.get("properties", {}).values():
        yield from _nodes(child)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield from _nodes(node[key])


def _constants_as_enums(schema: Schema) -> Schema:
    for node in _nodes(schema):
        if "const" in node:
            node["enum"] = [node.pop("const")]
    return schema
