"""Options of a pack: ``plugins.options.<namespace>``, checked by the pack's own model."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ValidationError

from eagle_rag_core.errors import ConfigError, PluginError
from eagle_rag_core.plugins.sources import PackSource


def options_model(source: PackSource) -> type[BaseModel] | None:
    """The model the manifest names, ``None`` if it names none. Imports the pack's code.

    :raises PluginError: it is not a pydantic model inside the pack.
    """
    target = source.manifest.pack.options if source.manifest else ""
    if not target:
        return None
    module, _, attribute = target.partition(":")
    if module.partition(".")[0] != source.package:
        raise PluginError(f"options = {target!r} is outside of the pack's package.")
    model = getattr(import_module(module), attribute, None)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise PluginError(f"options = {target!r} is not a pydantic model.")
    return model


def read_options(
    model: type[BaseModel] | None, values: Mapping[str, Any], namespace: str
) -> BaseModel | Mapping[str, Any]:
    """The options of a pack, as an instance of its model or, without one, an empty mapping.

    :raises ConfigError: names the option and says what is wrong with it.
    """
    where = f"plugins.options.{namespace}"
    if model is None:
        if values:
            raise ConfigError(f"{where}: this pack takes no options.")
        return MappingProxyType({})
    _refuse_unknown(model, values, where)
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = ".".join((where, *map(str, first["loc"])))
        raise ConfigError(f"Setting {key!r} is not valid: {first['msg']}.") from None


def _refuse_unknown(model: type[BaseModel], values: Mapping[str, Any], where: str) -> None:
    """A mistyped option is an error, also where the model would ignore it."""
    from eagle_rag_core.settings.suggest import did_you_mean

    if model.model_config.get("extra") == "allow":
        return
    known = {field.alias or name for name, field in model.model_fields.items()}
    for key in values:
        if key not in known and key not in model.model_fields:
            raise ConfigError(f"Unknown setting '{where}.{key}'{did_you_mean(key, known)}")
