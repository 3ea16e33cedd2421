"""What each source of settings says, before it becomes one object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings.sources import ENV_PREFIX, aliases, merge, profile_layer, read_file

CONFIG_NAME = "eagle-rag.yaml"


@dataclass(frozen=True, slots=True)
class Layers:
    """The sources, lowest precedence first. The variables of the environment come between
    ``aliases`` and ``flags``.

    :param path: of the configuration file, if there is one.
    :param name: of the active profile.
    :param profiles: those of the file.
    :param profile: what the active one stands for.
    :param aliases: variables of the environment under names that other tools made customary.
    """

    path: Path | None
    name: str
    file: Mapping[str, Any]
    profiles: Mapping[str, Any]
    profile: Mapping[str, Any]
    aliases: Mapping[str, Any]
    flags: Mapping[str, Any]

    @property
    def below_environment(self) -> dict[str, Any]:
        """Everything that variables of the environment and flags win over."""
        return merge(merge(self.file, self.profile), self.aliases)


def read_layers(
    *,
    config: Path | None,
    profile: str,
    flags: Mapping[str, Any],
    namespaces: Iterable[str],
    environ: Mapping[str, str],
) -> Layers:
    """Read the sources; for the parameters see :func:`~eagle_rag_core.settings.load_settings`.

    :raises ConfigError: the file cannot be used, or there is no such profile.
    """
    path = config_path(config, flags, environ)
    file = read_file(path, environ) if path else {}
    profiles = file.pop("profiles", {}) or {}
    if not isinstance(profiles, Mapping):
        raise ConfigError("profiles must be a mapping from profile names to sections.")
    name = profile or environ.get(f"{ENV_PREFIX}PROFILE") or str(file.get("profile") or "core")
    return Layers(
        path=path,
        name=name,
        file=file,
        profiles=profiles,
        profile=profile_layer(name, profiles, list(namespaces)),
        aliases=aliases(environ),
        flags={**flags, "profile": name},
    )


def config_path(
    config: Path | None, flags: Mapping[str, Any], environ: Mapping[str, str]
) -> Path | None:
    """The configuration file: the one that is named, else the one that is found."""
    named = config or (Path(v) if (v := environ.get(f"{ENV_PREFIX}CONFIG")) else None)
    if named is not None:
        return named.expanduser()
    home = flags.get("home") or environ.get(f"{ENV_PREFIX}HOME") or default_home()
    for candidate in (Path(CONFIG_NAME), Path(home).expanduser() / CONFIG_NAME):
        if candidate.is_file():
            return candidate
    return None


def default_home() -> Path:
    """The folder of a deployment where no setting names one."""
    from platformdirs import user_data_path

    return user_data_path("eagle-rag")
