"""The parameters of a tool's function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, get_args, get_type_hints

from eagle_rag_core.errors import PluginError

#: Stands for the default of a required parameter.
REQUIRED: Final = inspect.Parameter.empty
_FRAMEWORKS: Final = frozenset({"fastmcp", "mcp"})


@dataclass(frozen=True, slots=True)
class ToolParameter:
    """A parameter with its resolved annotation. ``default`` is :data:`REQUIRED` if it has none."""

    name: str
    annotation: Any
    default: Any

    @property
    def required(self) -> bool:
        return self.default is REQUIRED


def signature_of(
    function: Callable[..., Any], *, tool: str
) -> tuple[tuple[ToolParameter, ...], Any]:
    """Parameters and return annotation of a tool's function.

    :raises PluginError: it is not a plain typed function, or its annotations cannot be resolved.
    """
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise PluginError(
            f"Tool {tool!r} is an async function; write a plain one, it runs in a worker thread."
        )
    if inspect.isgeneratorfunction(function):
        raise PluginError(f"Tool {tool!r} is a generator; return the whole result.")
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise PluginError(
            f"Tool {tool!r}: the annotation {error.name!r} cannot be resolved; define the type at "
            "the top of the module, outside of functions and of TYPE_CHECKING blocks."
        ) from error
    parameters = inspect.signature(function).parameters.values()
    checked = tuple(_checked(parameter, hints, tool) for parameter in parameters)
    if hints.get("return") in (None, type(None)):
        raise PluginError(
            f"Tool {tool!r} does not say what it returns; annotate its result as a TypedDict, a "
            "dataclass, a pydantic model or a list of one of these."
        )
    return checked, hints["return"]


def _checked(parameter: inspect.Parameter, hints: dict[str, Any], tool: str) -> ToolParameter:
    what = f"parameter {parameter.name!r} of tool {tool!r}"
    if parameter.name in ("self", "cls") and parameter.name not in hints:
        raise PluginError(f"The {what} is not bound; return the bound method or a plain function.")
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise PluginError(f"The {what} takes any number of arguments; name each one.")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise PluginError(f"The {what} is positional only; arguments are passed by name.")
    if parameter.name not in hints:
        raise PluginError(f"The {what} has no type annotation.")
    annotation, default = hints[parameter.name], parameter.default
    if _of_framework(annotation):
        raise PluginError(
            f"The {what} is an object of the MCP server, which tools do not get; use the pack's "
            "context, which every hook receives."
        )
    if default is None:
        raise PluginError(
            f"The {what} has the default None; give it a plain one such as "
            '"", 0 or () and one type.'
        )
    if type(default).__name__ == "FieldInfo":
        raise PluginError(f"The {what} has a Field as default; write Annotated[…, Field(…)] = ….")
    return ToolParameter(parameter.name, annotation, default)


def _of_framework(annotation: Any) -> bool:
    return any(
        str(getattr(part, "__module__", "")).partition(".")[0] in _FRAMEWORKS
        for part in _parts(annotation)
    )


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in get_args(annotation):
        yield from _parts(part)
