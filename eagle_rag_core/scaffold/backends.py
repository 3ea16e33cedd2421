"""What each build backend has to be told, so that the manifest is in the wheel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Backend:
    """A build backend.

    :param requires: what an installer needs for building.
    :param module: its hooks.
    :param settings: template of its part of ``pyproject.toml``.
    """

    requires: str
    module: str
    settings: str


BACKENDS: Final[Mapping[str, Backend]] = {
    "hatchling": Backend(
        "hatchling>=1.25",
        "hatchling.build",
        '[tool.hatch.build.targets.wheel]\npackages = ["$package"]',
    ),
    "setuptools": Backend(
        "setuptools>=77",
        "setuptools.build_meta",
        '[tool.setuptools]\npackages = ["$package"]\n\n'
        "# Files beside the code are left out of the wheel unless they are named.\n"
        '[tool.setuptools.package-data]\n$package = ["eagle-pack.toml", "py.typed"]',
    ),
    "uv": Backend(
        "uv_build>=0.7,<1",
        "uv_build",
        '[tool.uv.build-backend]\nmodule-name = "$package"\nmodule-root = ""',
    ),
}
