"""The settings object, built from all sources in order of precedence."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings import sections as s
from eagle_rag_core.settings.environment import unreadable_variable
from eagle_rag_core.settings.layers import Layers, default_home, read_layers
from eagle_rag_core.settings.sources import ENV_PREFIX, MappingSource, reject_unknown_variables
from eagle_rag_core.settings.suggest import did_you_mean

_NAMESPACE = re.compile(r"[a-z][a-z0-9_]*")


class Settings(BaseSettings):
    """Everything a deployment can decide. Frozen after loading."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        validate_default=True,
    )

    profile: str = Field("core", description="Name of the active profile.")
    home: Path = Field(Path(), description="Folder of everything this deployment keeps.")
    plugins: s.PluginSettings = s.PluginSettings()
    server: s.ServerSettings = s.ServerSettings()
    milvus: s.MilvusSettings = s.MilvusSettings()
    database: s.DatabaseSettings = s.DatabaseSettings()
    blobs: s.BlobSettings = s.BlobSettings()
    celery: s.CelerySettings = s.CelerySettings()
    ingest: s.IngestSettings = s.IngestSettings()
    models: s.ModelSettings = s.ModelSettings()
    mcp: s.McpSettings = s.McpSettings()
    auth: s.AuthSettings = s.AuthSettings()
    retrieval: s.RetrievalSettings = s.RetrievalSettings()
    query: s.QuerySettings = s.QuerySettings()
    telemetry: s.TelemetrySettings = s.TelemetrySettings()

    _file_layer: ClassVar[Mapping[str, Any]] = {}

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, MappingSource(settings_cls, cls._file_layer)

    @property
    def allowed_roots(self) -> tuple[Path, ...]:
        return tuple(self.ingest.allowed_roots) or (self.home / "inbox",)

    @property
    def namespace(self) -> str:
        """The namespace this deployment is bound to."""
        return self.plugins.default_namespace


def load_settings(
    *,
    config: Path | None = None,
    profile: str = "",
    overrides: Mapping[str, Any] | None = None,
    namespaces: Iterable[str] = (),
) -> Settings:
    """Load settings; precedence: default < file < profile < environment < ``overrides``.

    :param config: configuration file; else ``EAGLE_RAG_CONFIG``, else ``./eagle-rag.yaml``,
        else ``<home>/eagle-rag.yaml``, where they exist.
    :param overrides: nested mapping of command-line flags.
    :param namespaces: namespaces of the installed packs, each an implicit profile.
    :raises ConfigError: unknown key, bad value or unknown profile, with what to do.
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
    return settings_of(layers, environ)


def settings_of(layers: Layers, environ: Mapping[str, str]) -> Settings:
    """The settings that ``layers`` and the variables of the environment amount to.

    :param environ: of this process; named in messages.
    :raises ConfigError: unknown key or bad value, with what to do.
    """
    return _finish(_validate(layers, environ))


def _validate(layers: Layers, environ: Mapping[str, str]) -> Settings:
    below = layers.below_environment
    bound = type("Settings", (Settings,), {"_file_layer": below, "__module__": __name__})
    try:
        settings = bound(**layers.flags)
    except ValidationError as error:
        raise ConfigError(_explain(error, layers.path)) from None
    except SettingsError as error:
        variable = unreadable_variable(Settings, environ)
        if variable is None:
            raise ConfigError("A variable of the environment cannot be read.") from error
        raise ConfigError(
            f"The environment variable {variable.name} is not JSON, as lists and mappings are "
            f"written: {variable.name}='{variable.example}'."
        ) from None
    assert isinstance(settings, Settings)
    return settings


def _explain(error: ValidationError, path: Path | None) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    source = f" ({path})" if path else ""
    if first["type"] == "extra_forbidden":
        return f"Unknown setting {key!r}{source}{did_you_mean(key, _known_keys())}"
    return f"Setting {key!r}{source} is not valid: {first['msg']}."


def _known_keys() -> list[str]:
    keys: list[str] = []
    for name, field in Settings.model_fields.items():
        keys.append(name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, s.Section):
            keys.extend(f"{name}.{inner}" for inner in field.annotation.model_fields)
    return keys


def _absolute_root(root: Path) -> Path:
    """:raises ConfigError: relative to what? Servers are started in folders of all kinds."""
    expanded = root.expanduser()
    if not expanded.is_absolute():
        raise ConfigError(f"ingest.allowed_roots: {str(root)!r} is not an absolute path.")
    return expanded


def _finish(settings: Settings) -> Settings:
    """Resolve the home and the rules that span several settings."""
    # Given or not decides, not the value: the working folder is a home like any other.
    home = settings.home if "home" in settings.model_fields_set else default_home()
    plugins = settings.plugins
    namespace = plugins.default_namespace.replace("-", "_")
    enabled = [name.replace("-", "_") for name in plugins.enabled]
    if namespace != "core" and namespace not in enabled:
        enabled.append(namespace)
    if not _NAMESPACE.fullmatch(namespace):
        raise ConfigError(
            f"plugins.default_namespace is {plugins.default_namespace!r}; a namespace has small "
            "letters, digits and underscores."
        )
    roots = [_absolute_root(root) for root in settings.ingest.allowed_roots]
    return settings.model_copy(
        update={
            "home": home.expanduser().absolute(),
            "ingest": settings.ingest.model_copy(update={"allowed_roots": roots}),
            "plugins": plugins.model_copy(
                update={"enabled": enabled, "default_namespace": namespace}
            ),
        }
    )
