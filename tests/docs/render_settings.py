"""The tables of the configuration page, from the settings models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel
from schema_words import Schema, default, kind, prose, table

from eagle_rag_core.settings import Settings

#: Settings that are accepted and that nothing reads yet. The tests hold the list to the code.
WITHOUT_EFFECT: Final[frozenset[str]] = frozenset()
_NOTE: Final = "*Accepted, without effect in this release.*"
_COMPUTED: Final = {"home": "the user's data folder"}
_HEADER: Final = ("Key", "Default", "Values", "Meaning", "Environment variable")


def settings_tables() -> str:
    """One table for the top level, then one for each section."""
    top = [name for name in Settings.model_fields if name not in _sections()]
    schema = Settings.model_json_schema()
    parts = [table(_HEADER, (_line(name, schema["properties"][name]) for name in top))]
    for name, model in _sections().items():
        parts.append(f"### `{name}`")
        parts.append(table(_HEADER, (_line(key, node) for key, node in leaves(model, name))))
    return "\n\n".join(parts)


def leaves(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, Schema]]:
    """Dotted keys of all settings of a section, those of its subsections included."""
    properties: Mapping[str, Any] = model.model_json_schema()["properties"]
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from leaves(inner, f"{prefix}.{name}")
        else:
            yield f"{prefix}.{name}", properties[name]


def all_keys() -> list[str]:
    """Dotted keys of every setting."""
    top = [name for name in Settings.model_fields if name not in _sections()]
    nested = (key for name, model in _sections().items() for key, _ in leaves(model, name))
    return [*top, *nested]


def variable(key: str) -> str:
    """The environment variable that sets ``key``."""
    return "EAGLE_RAG_" + key.upper().replace(".", "__")


def _sections() -> dict[str, type[BaseModel]]:
    return {
        name: field.annotation
        for name, field in Settings.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
    }


def _line(key: str, node: Schema) -> tuple[str, ...]:
    notes = [prose(node), _NOTE if key in WITHOUT_EFFECT else ""]
    return (
        f"`{key}`",
        _COMPUTED.get(key) or default(node),
        kind(node),
        " ".join(filter(None, notes)),
        f"`{variable(key)}`",
    )
