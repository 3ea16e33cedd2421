"""Variables of the environment, told from the settings they stand for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, get_args, get_origin

from pydantic import BaseModel

from eagle_rag_core.settings.sources import ENV_PREFIX, FREE_PREFIX

_SEPARATOR: Final = "__"
#: Stands for any text in an example.
_TEXT: Final = '"…"'


class Variable(NamedTuple):
    """A variable that a setting was given by.

    :param example: how its value is written.
    """

    name: str
    example: str


def our_variables(environ: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The variables that stand for settings, each with the key it names. Case does not count;
    empty ones are as good as unset."""
    for name, value in sorted(environ.items()):
        upper = name.upper()
        if value and upper.startswith(ENV_PREFIX) and not upper.startswith(FREE_PREFIX):
            yield name, tuple(upper.removeprefix(ENV_PREFIX).lower().split(_SEPARATOR))


def unreadable_variable(settings: type[BaseModel], environ: Mapping[str, str]) -> Variable | None:
    """The first variable of a list, a mapping or a section whose value is not JSON."""
    for name, key in our_variables(environ):
        annotation = _annotation(settings, key)
        example = _example(annotation)
        if example and not _is_json(environ[name]):
            return Variable(name, example)
    return None


def _annotation(model: Any, key: tuple[str, ...]) -> Any:
    """The type of a setting; None where there is no such one."""
    for part in key:
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            return None
        field = model.model_fields.get(part)
        if field is None:
            return None
        model = field.annotation
    return model


def _example(annotation: Any) -> str:
    """A value of a structured type as JSON, "" for plain types."""
    if get_origin(annotation) is list:
        (item,) = get_args(annotation)
        return f"[{_example(item) or _TEXT}]"
    is_section = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return f"{{{_TEXT}: {_TEXT}}}" if is_section or get_origin(annotation) is dict else ""


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
