"""Arguments for a tool, made from its input schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

Schema = Mapping[str, Any]

#: Texts that callers send sooner or later.
ODD_TEXTS: Final[Mapping[str, str]] = {
    "blank": " \t\n",
    "emoji": "👩🏽‍🔬🧬 fl🦠",
    "cjk": "心肌梗死 心筋梗塞 심근경색",
    "right-to-left": "احتشاء ‮txt‬ ​",
    "decomposed": "e\u0301a\u0300n\u0303",
    "NUL": "a\x00b",
    "quotes": "'\"`; DROP TABLE x; --",
    "wildcards": "%_*?[a-z]\\",
    "operators": 'AND OR NOT NEAR ( "" ) ^ :',
    "pattern": "((((((a+)+)+)+)+$",
    "template": "{0} {x} ${y} %s %(z)d",
    "path": "../../etc/passwd",
    "long": "word " * 1600,
}
_SOME_TEXT: Final = "example words"


class MustBeGiven(Exception):
    """No value can be made up for the parameter it names."""


def usual_arguments(schema: Schema, given: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` with values for the other required parameters.

    :raises MustBeGiven: a text has to match a pattern.
    """
    made = {
        name: _usual(name, schema["properties"][name])
        for name in schema.get("required", ())
        if name not in given
    }
    return {**made, **given}


def largest_arguments(schema: Schema, usual: Mapping[str, Any]) -> dict[str, Any]:
    """``usual`` with every number at its maximum, which asks for the longest answer."""
    largest = {
        name: parameter["maximum"]
        for name, parameter in schema["properties"].items()
        if "maximum" in parameter
    }
    return {**usual, **largest}


def odd_arguments(schema: Schema, usual: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls within the schema that an author may not have thought of, each with its name."""
    for name, parameter in schema["properties"].items():
        if parameter["type"] == "string" and not parameter.keys() & {"enum", "pattern"}:
            for kind, text in ODD_TEXTS.items():
                value = text[: parameter.get("maxLength", len(text))]
                if len(value) >= parameter.get("minLength", 0):
                    yield f"{name} is {kind}", {**usual, name: value}
        for bound in ("minimum", "maximum"):
            if bound in parameter:
                yield f"{name} at its {bound}", {**usual, name: parameter[bound]}


def bad_arguments(schema: Schema, usual: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls outside of the schema, each with its name."""
    yield "an unknown argument", {**usual, "no_such_argument": 1}
    for name in schema.get("required", ()):
        yield f"{name} is missing", {k: v for k, v in usual.items() if k != name}
    for name, parameter in schema["properties"].items():
        for kind, value in _bad_values(parameter):
            yield f"{name} is {kind}", {**usual, name: value}
        if "default" not in parameter:  # for the others null means absent
            yield f"{name} is null", {**usual, name: None}


def _bad_values(parameter: Schema) -> Iterator[tuple[str, Any]]:
    yield "of another type", [] if parameter["type"] == "object" else {}
    if "enum" in parameter:
        yield "no value of the list", "no such value"
    if "minimum" in parameter:
        yield "too small", parameter["minimum"] - 1
    if "maximum" in parameter:
        yield "too large", parameter["maximum"] + 1
    if "maxLength" in parameter:
        yield "too long", "x" * (parameter["maxLength"] + 1)
    if parameter.get("minLength", 0) > 0:
        yield "too short", ""


def _usual(name: str, schema: Schema) -> Any:
    if "default" in schema:
        return schema["default"]
    if "enum" in schema:
        return schema["enum"][0]
    match schema["type"]:
        case "string":
            return _text(name, schema)
        case "integer" | "number":
            return schema.get("minimum", min(1, schema.get("maximum", 1)))
        case "boolean":
            return False
        case "array":
            return [_usual(name, schema["items"])] * schema.get("minItems", 0)
        case _:
            if schema.get("minProperties"):
                raise MustBeGiven(name)
            inner = schema.get("properties", {})
            return {key: _usual(name, inner[key]) for key in schema.get("required", ())}


def _text(name: str, schema: Schema) -> str:
    if "pattern" in schema:
        raise MustBeGiven(name)
    text = _SOME_TEXT.ljust(schema.get("minLength", 0), "x")
    return text[: schema.get("maxLength", len(text))]
