"""Where settings come from: the YAML file with its profiles, and the environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings.suggest import did_you_mean

ENV_PREFIX = "EAGLE_RAG_"
#: Variables of test suites and benchmarks, which are not settings.
FREE_PREFIX = "EAGLE_RAG_TEST_"
_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")


def read_file(path: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """Read a YAML configuration and fill in ``${VAR}`` and ``${VAR:-default}``.

    :raises ConfigError: the file is missing, is not YAML, says something twice, or names an unset
        variable.
    """
    import yaml

    from eagle_rag_core.settings.yaml_text import parse

    try:
        raw = parse(path.read_text("utf-8"), path)
    except FileNotFoundError:
        raise ConfigError(f"The configuration file {path} does not exist.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The configuration file {path} cannot be read.") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(f"The configuration file {path} is not valid YAML{where}.") from error
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise ConfigError(f"The configuration file {path} must be a mapping of sections.")
    try:
        expanded = _expand(raw, environ)
    except RecursionError:
        raise ConfigError(f"The configuration file {path} contains itself by an alias.") from None
    assert isinstance(expanded, dict)
    # A section whose every key is commented out says nothing.
    return {section: values for section, values in expanded.items() if values is not None}


def _expand(value: Any, environ: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {str(key): _expand(item, environ) for key, item in value.items()}
    if isinstance(value, list):
        return [_expand(item, environ) for item in value]
    if not isinstance(value, str) or "${" not in value:
        return value

    def replace(match: re.Match[str]) -> str:
        found = environ.get(match["name"]) or match["default"]
        if found is None:
            raise ConfigError(
                f"The configuration uses ${{{match['name']}}}, which is not set; "
                f"set it or write ${{{match['name']}:-default}}."
            )
        return found

    return _VARIABLE.sub(replace, value)


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Deep-merge two mappings; lists and scalars of ``over`` replace those of ``base``."""
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        nested = isinstance(below, Mapping) and isinstance(value, Mapping)
        result[key] = merge(below, value) if nested else value  # type: ignore[arg-type]
    return result


def profile_layer(
    name: str, profiles: Mapping[str, Any], namespaces: Iterable[str]
) -> dict[str, Any]:
    """The settings a profile stands for.

    Every installed pack has an implicit profile of its own name (``-`` and ``_`` are the same);
    a written profile of that name is merged over it.

    :raises ConfigError: neither written nor implied; suggests the closest.
    """
    folded = name.replace("-", "_")
    layer: dict[str, Any] = {}
    known = {"core", *(str(key) for key in profiles), *namespaces}
    if folded in set(namespaces):
        layer = {"plugins": {"enabled": [folded], "default_namespace": folded}}
    written = profiles.get(name, profiles.get(folded))
    if written is None and not layer and name != "core":
        raise ConfigError(
            f"There is no profile {name!r}{did_you_mean(name, known)} "
            f"Known profiles: {', '.join(sorted(known))}."
        )
    if written is not None and not isinstance(written, Mapping):
        raise ConfigError(f"profiles.{name} must be a mapping of sections.")
    return merge(layer, written or {})


class MappingSource(PydanticBaseSettingsSource):
    """A settings source over a mapping that was read already."""

    def __init__(self, settings_cls: type[BaseSettings], values: Mapping[str, Any]) -> None:
        super().__init__(settings_cls)
        self._values = dict(values)

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return self._values.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        return self._values


def reject_unknown_variables(sections: Iterable[str], environ: Mapping[str, str]) -> None:
    """Refuse variables with our prefix that name no setting; ``EAGLE_RAG_TEST_…`` is free.

    :raises ConfigError: with the closest name.
    """
    known = {*sections, "config"}
    for variable in environ:
        if not variable.startswith(ENV_PREFIX) or variable.startswith(FREE_PREFIX):
            continue
        section = variable.removeprefix(ENV_PREFIX).split("__", 1)[0].lower()
        if section not in known:
            raise ConfigError(
                f"The environment variable {variable} names no setting"
                f"{did_you_mean(section, known)}"
            )


#: Settings under names that other tools made customary.
ALIASES: Final = {
    "AUTH_API_KEY": ("auth", "api_key"),
    "FASTMCP_STATELESS_HTTP": ("mcp", "stateless_http"),
}


def aliases(environ: Mapping[str, str]) -> dict[str, Any]:
    """The settings that are given under customary names."""
    layer: dict[str, Any] = {}
    for variable, (section, key) in ALIASES.items():
        if value := environ.get(variable):
            layer[section] = {key: value}
    return layer
