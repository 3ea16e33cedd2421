"""Where each setting of a deployment comes from, for people who wonder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from pydantic_settings import EnvSettingsSource

from eagle_rag_core.settings.environment import our_variables
from eagle_rag_core.settings.layers import Layers, read_layers
from eagle_rag_core.settings.loading import Settings, settings_of
from eagle_rag_core.settings.masking import shown
from eagle_rag_core.settings.sources import ALIASES, reject_unknown_variables

Key = tuple[str, ...]


class Origin(StrEnum):
    """The kinds of sources, lowest precedence first."""

    DEFAULT = "default"
    FILE = "file"
    PROFILE = "profile"
    ENVIRONMENT = "environment"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as it is in force.

    :param value: JSON, with secrets masked.
    :param where: the file, the profile or the variable; "" for defaults and flags.
    """

    key: str
    value: Any
    origin: Origin
    where: str = ""


#: A profile, or ``default_namespace`` alone, enables the pack without naming it in the list.
_ENABLED: Final = ("plugins", "enabled")
_BOUND: Final = ("plugins", "default_namespace")


def effective_settings(
    *,
    config: Path | None = None,
    profile: str = "",
    overrides: Mapping[str, Any] | None = None,
    namespaces: Iterable[str] = (),
) -> list[Setting]:
    """Every setting with its value and where that comes from; the parameters are those of
    :func:`~eagle_rag_core.settings.load_settings`.

    :raises ConfigError: the settings cannot be used.
    """
    environ = os.environ
    reject_unknown_variables(Settings.model_fields, environ)
    layers = read_layers(
        config=config,
        profile=profile,
        flags=overrides or {},
        namespaces=namespaces,
        environ=environ,
    )
    settings = settings_of(layers, environ)
    origins = _Origins(layers, environ)
    found = []
    for key, value in _leaves(settings, ()):
        origin, where = origins.of(key)
        if key == _ENABLED and value and origin is Origin.DEFAULT:
            origin, where = origins.of(_BOUND)
        found.append(Setting(".".join(key), shown(key[-1], value), origin, where))
    return found


class _Origins:
    """Tells which source has the last word on a setting."""

    def __init__(self, layers: Layers, environ: Mapping[str, str]) -> None:
        self._variables = [*our_variables(environ), *ALIASES.items()]
        self._layers: tuple[tuple[Origin, str, Mapping[str, Any]], ...] = (
            (Origin.FLAG, "", layers.flags),
            (Origin.ENVIRONMENT, "", EnvSettingsSource(Settings)()),
            (Origin.ENVIRONMENT, "", layers.aliases),
            (Origin.PROFILE, layers.name, layers.profile),
            (Origin.FILE, str(layers.path or ""), layers.file),
        )

    def of(self, key: Key) -> tuple[Origin, str]:
        """The source, and its name."""
        for origin, where, values in self._layers:
            if _has(values, key):
                return origin, self._variable(key) if origin is Origin.ENVIRONMENT else where
        return Origin.DEFAULT, ""

    def _variable(self, key: Key) -> str:
        """The variable that gives a setting, or the section that it is in."""
        named = [name for name, of in self._variables if key[: len(of)] == of]
        return max(named, key=len)


def _has(values: Any, key: Key) -> bool:
    for part in key:
        if not isinstance(values, Mapping) or part not in values:
            return False
        values = values[part]
    return True


def _leaves(value: Any, key: Key) -> Iterator[tuple[Key, Any]]:
    """The settings below a key, sections and mappings taken apart."""
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _leaves(getattr(value, name), (*key, name))
    elif isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, (*key, str(name)))
    else:
        yield key, value
