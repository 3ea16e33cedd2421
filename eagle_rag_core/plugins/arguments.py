"""Arguments of a tool: their JSON schema, and strict validation with messages of our own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NotRequired, Required

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError
from typing_extensions import TypedDict

from eagle_rag_core.errors import ErrorCode, InvalidArgument, PluginError
from eagle_rag_core.plugins.schema import (
    INPUT_ADVICE,
    Schema,
    check_inputs,
    inlined,
    unsuited,
)
from eagle_rag_core.plugins.signatures import ToolParameter

#: A message repeats at most so many characters of a value.
_SHOWN: Final = 60


class ToolArguments:
    """The arguments one tool takes.

    :param parameters: of the tool's function.
    :raises PluginError: a type cannot be part of a schema, or a default breaks its own bounds;
        names tool, parameter and rule.
    """

    def __init__(self, parameters: Sequence[ToolParameter], *, tool: str) -> None:
        self._adapter, raw = _adapter(parameters, tool)
        defaults = {p.name: p.default for p in parameters if not p.required}
        self._defaults = self._json_defaults(defaults, tool)
        self.json_schema: Schema = self._schema(raw, parameters, tool)

    def validate(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """Keyword arguments for the function, with defaults filled in.

        Nothing is converted: ``"5"`` and ``true`` are no integers. ``null``, or an empty string,
        for an optional argument means that it is absent.

        :param arguments: decoded JSON.
        :raises InvalidArgument: ``unknown_argument`` with the closest known one, or
            ``invalid_argument`` with the argument's name, its bounds and what was given.
        """
        given = _without_absent(arguments, self.json_schema, ())
        try:
            text = json.dumps({**self._defaults, **given}, allow_nan=False)
            return self._adapter.validate_json(text, strict=True)
        except ValidationError as error:
            raise self._explain(error) from None
        except (TypeError, ValueError, RecursionError):
            raise _not_json() from None

    def _json_defaults(self, defaults: Mapping[str, object], tool: str) -> dict[str, Any]:
        try:
            values = self._adapter.dump_python(dict(defaults), mode="json", warnings="error")
            self._adapter.validate_json(json.dumps(values), strict=True)
        except PydanticSerializationError:
            raise PluginError(f"Tool {tool!r} has a default that is not of its type.") from None
        except ValidationError as error:
            for fault in error.errors(include_url=False):
                if fault["type"] != "missing":
                    raise PluginError(
                        f"The default of parameter {fault['loc'][0]!r} of tool {tool!r} breaks its "
                        f"own rule: {fault['msg']}."
                    ) from None
        return dict(values)

    def _schema(self, raw: Schema, parameters: Sequence[ToolParameter], tool: str) -> Schema:
        schema = inlined(raw, what=f"schema of tool {tool!r}")
        for parameter in parameters:
            node = schema["properties"].get(parameter.name)
            if node is None or "default" in node:
                raise PluginError(
                    f"The parameter {parameter.name!r} of tool {tool!r} has a default or an alias "
                    "in its Field; write the default in the signature and use no alias."
                )
            if not parameter.required:
                node["default"] = self._defaults[parameter.name]
        return check_inputs(schema, tool=tool)

    def _explain(self, error: ValidationError) -> InvalidArgument:
        fault = error.errors(include_url=False, include_context=False)[0]
        if fault["type"] == "json_invalid":
            return _not_json()
        place = _place(fault["loc"])
        if fault["type"] == "missing":
            return InvalidArgument(f"The argument {place!r} is required.")
        expected = _expected(_schema_at(self.json_schema, fault["loc"]))
        return InvalidArgument(
            f"The argument {place!r} must be {expected}, not {_shown(fault['input'])}."
        )


def _adapter(
    parameters: Sequence[ToolParameter], tool: str
) -> tuple[TypeAdapter[dict[str, object]], Schema]:
    """Validator and raw schema of the arguments as one object."""
    fields = {
        p.name: Required[p.annotation] if p.required else NotRequired[p.annotation]
        for p in parameters
    }
    # A TypedDict, not a model: its keys may have any name and may be absent.
    make: Any = TypedDict
    arguments = make("Arguments", fields)
    arguments.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)
    try:
        adapter = TypeAdapter[dict[str, object]](arguments)
        return adapter, adapter.json_schema()
    except PydanticUserError as error:
        culprit = next((p.name for p in parameters if not _supported(p.annotation)), "?")
        what = f"parameter {culprit!r} of tool {tool!r}"
        raise unsuited(error, what=what, advice=INPUT_ADVICE) from None


def _supported(annotation: Any) -> bool:
    try:
        TypeAdapter(annotation).json_schema()
    except PydanticUserError:
        return False
    return True


def _without_absent(
    values: Mapping[str, object], schema: Schema, inside: tuple[str, ...]
) -> dict[str, object]:
    """``values`` without optional ones that are null or empty.

    :raises InvalidArgument: one is unknown.
    """
    known, required = schema["properties"], schema.get("required", ())
    given: dict[str, object] = {}
    for name, value in values.items():
        node = known.get(name)
        if node is None:
            raise _unknown((*inside, name), known)
        optional = name not in required
        if optional and (value is None or (value == "" and node["type"] == "string")):
            continue
        given[name] = _nested(value, node, (*inside, name))
    return given


def _nested(value: object, node: Schema, inside: tuple[str, ...]) -> object:
    if isinstance(value, Mapping) and "properties" in node:
        return _without_absent(value, node, inside)
    if isinstance(value, list) and "properties" in node.get("items", ()):
        return [_nested(item, node["items"], inside) for item in value]
    return value


def _not_json() -> InvalidArgument:
    return InvalidArgument(
        "The arguments are not JSON: use valid Unicode text, finite numbers, true, false, lists "
        "and objects, not nested too deeply."
    )


def _unknown(path: tuple[str, ...], known: Mapping[str, Any]) -> InvalidArgument:
    from eagle_rag_core.settings.suggest import did_you_mean

    hint = did_you_mean(path[-1][:_SHOWN], known)
    return InvalidArgument(
        f"There is no argument {_place(path)!r}{hint} Known: {', '.join(known) or 'none'}.",
        code=ErrorCode.UNKNOWN_ARGUMENT,
    )


def _schema_at(schema: Schema, location: Sequence[int | str]) -> Schema:
    for part in location:
        if isinstance(part, int):
            schema = schema["items"]
        elif "properties" in schema:
            schema = schema["properties"][part]
        else:
            schema = schema["additionalProperties"]
    return schema


def _place(location: Sequence[int | str]) -> str:
    """Where in the arguments; keys of callers are cut."""
    text = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part[:_SHOWN]}" for part in location
    )
    return text.removeprefix(".")


def _expected(schema: Schema) -> str:
    """What a schema accepts, in words."""
    if "enum" in schema:
        return f"one of {', '.join(map(repr, schema['enum']))}"
    match schema["type"]:
        case "integer" | "number" as kind:
            noun = "an integer" if kind == "integer" else "a number"
            return noun + _bounds(schema.get("minimum"), schema.get("maximum"))
        case "string":
            size = _bounds(schema.get("minLength"), schema.get("maxLength"), " of", " characters")
            pattern = f" that matches {schema['pattern']}" if "pattern" in schema else ""
            return f"a string{size}{pattern}"
        case "array":
            return "a list" + _bounds(
                schema.get("minItems"), schema.get("maxItems"), " of", " items"
            )
        case "boolean":
            return "true or false"
        case _:
            size = _bounds(
                schema.get("minProperties"), schema.get("maxProperties"), " of", " entries"
            )
            return f"an object{size}"


def _bounds(low: Any, high: Any, start: str = "", unit: str = "") -> str:
    if low is not None and high is not None:
        return f"{start or ' from'} {low} to {high}{unit}"
    if low is not None:
        return f"{start} at least {low}{unit}"
    if high is not None:
        return f"{start} at most {high}{unit}"
    return ""


def _shown(value: object) -> str:
    """A value for a message: cut where it is long, without raw control characters."""
    if isinstance(value, str):
        size = f"… ({len(value)} characters)" if len(value) > _SHOWN else ""
        return f"{value[:_SHOWN]!r}{size}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
