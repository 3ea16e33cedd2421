"""Results of a tool: their JSON schema, and the JSON form of a returned value."""

from __future__ import annotations

from typing import Any

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, from_json

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins.schema import (
    OUTPUT_ADVICE,
    Schema,
    check_outputs,
    inlined,
    unsuited,
)


class ToolResult:
    """What one tool returns: an object, or a list of objects.

    :param annotation: the function's return annotation.
    :raises PluginError: it is something else, or has no JSON schema inside the subset.
    """

    def __init__(self, annotation: Any, *, tool: str) -> None:
        self._tool = tool
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(annotation)
            raw = self._adapter.json_schema(mode="serialization")
        except PydanticUserError as error:
            raise unsuited(error, what=f"result of tool {tool!r}", advice=OUTPUT_ADVICE) from None
        schema = inlined(raw, what=f"result of tool {tool!r}")
        check_outputs(schema, tool=tool)
        #: Whether the value is a list, which travels as ``{"result": [...]}``.
        self.wraps_list = schema.get("type") == "array"
        if "properties" not in (schema.get("items", {}) if self.wraps_list else schema):
            raise PluginError(f"The result of tool {tool!r} is no object; {OUTPUT_ADVICE}.")
        self.json_schema: Schema = _wrapped(schema) if self.wraps_list else schema

    def dump(self, value: object) -> Any:
        """The JSON form of a returned value: a dict, or a list of dicts (not wrapped).

        :raises PluginError: the value does not match the annotation.
        """
        try:
            text = self._adapter.dump_json(value, warnings="error")
            self._adapter.validate_json(text)
        except (PydanticSerializationError, ValidationError) as error:
            raise PluginError(
                f"Tool {self._tool!r} returned something else than its return annotation says."
            ) from error
        return from_json(text)


def _wrapped(array: Schema) -> Schema:
    return {"type": "object", "properties": {"result": array}, "required": ["result"]}
