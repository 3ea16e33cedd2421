"""The pack a test run is about: which one it is, and how fixtures open it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Protocol

from eagle_rag_core.errors import PluginError
from eagle_rag_core.testing.fake_embedder import EMBEDDER_NAME, embedder_pack
from eagle_rag_core.testing.fake_llm import ScriptedModel
from eagle_rag_core.testing.library import PackLibrary, pack_from
from eagle_rag_core.types import TextEmbedder

if TYPE_CHECKING:
    from eagle_rag_core.plugins import PluginManager
    from eagle_rag_core.plugins.sources import PackSource

#: The option of pytest's configuration that names the package.
INI: Final = "eagle_rag_pack"
_GROUP: Final = "eagle_rag.packs"


class OpenLibrary(Protocol):
    """The fixture ``pack_library``."""

    def __call__(
        self,
        *beside: ModuleType | PackSource,
        options: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        embedder: TextEmbedder | None = None,
        llm: ScriptedModel | None = None,
    ) -> PackLibrary:
        """A library of its own with the pack under test, open until the test ends.

        :param beside: further packs, enabled after it.
        :param options: of the pack.
        :param settings: nested by section, as in the configuration file.
        :param embedder: searches by meaning, too; by default words alone count.
        :param llm: the deployment's language model; by default there is none.
        """


class LoadPack(Protocol):
    """The fixture ``pack_harness``."""

    def __call__(self, **options: Any) -> PluginManager:
        """The pack under test, loaded and registered, without an engine.

        :param options: of the pack.
        """


def package_under_test(named: str, root: Path) -> ModuleType:
    """The package of the pack under test.

    :param named: what the configuration names, "" for the one pack of ``pyproject.toml``.
    :param root: folder of the configuration.
    :raises PluginError: it is not said which one, or it is not installed.
    """
    name = named or _package_of_project(root / "pyproject.toml")
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise PluginError(
            f"The package {name} cannot be imported; install the pack first: pip install -e ."
        ) from None


def open_library(
    home: Path,
    pack: ModuleType,
    *beside: ModuleType | PackSource,
    options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    embedder: TextEmbedder | None = None,
    llm: ScriptedModel | None = None,
) -> PackLibrary:
    """A library with ``pack``; see :class:`OpenLibrary`.

    :raises EagleError: as :class:`PackLibrary` does.
    """
    from eagle_rag_core.settings.sources import merge

    chosen: dict[str, Any] = {}
    packs = [pack_from(pack), *beside]
    if options:
        chosen["plugins"] = {"options": {packs[0].record.namespace: dict(options)}}
    if embedder is not None:
        packs.append(embedder_pack(embedder))
        chosen = dict(merge(chosen, {"models": {"text_embedder": EMBEDDER_NAME}}))
    if llm is not None:
        chosen = dict(merge(chosen, {"models": {"llm": llm.settings}}))
    return PackLibrary(home, *packs, settings=merge(chosen, settings or {}))


def load_pack(pack: ModuleType, options: Mapping[str, Any]) -> PluginManager:
    """``pack`` loaded and registered, without looking for installed ones.

    :raises ConfigError: an option is wrong.
    :raises PluginError: it cannot be loaded; says why.
    """
    from eagle_rag_core.plugins import PluginManager
    from eagle_rag_core.settings.sections import PluginSettings

    source = pack_from(pack)
    namespace = source.record.namespace
    settings = PluginSettings(
        enabled=[namespace],
        default_namespace=namespace,
        options={namespace: dict(options)} if options else {},
    )
    manager = PluginManager(settings, packs=[source])
    manager.load()
    return manager


def _package_of_project(pyproject: Path) -> str:
    """The package of the one pack a project has.

    :raises PluginError: there is none, or more than one.
    """
    try:
        project = tomllib.loads(pyproject.read_text("utf-8")).get("project", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        project = {}
    entries = project.get("entry-points", {}).get(_GROUP, {})
    packages = sorted({str(value).partition(":")[0] for value in entries.values()})
    if len(packages) != 1:
        found = f"names {', '.join(packages)}" if packages else "names no pack"
        raise PluginError(
            f'It is not clear which pack is under test: {pyproject.name} {found} in "{_GROUP}". '
            f'Write {INI} = "the_package" under [tool.pytest.ini_options].'
        )
    return packages[0]
