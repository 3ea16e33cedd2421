"""Which of the installed packs a deployment loads, and in which order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.plugins.namespaces import CORE, fold
from eagle_rag_core.plugins.sources import PackSource
from eagle_rag_core.plugins.states import PackRecord, PackState

if TYPE_CHECKING:
    from eagle_rag_core.settings.sections import PluginSettings


@dataclass(frozen=True, slots=True)
class Selection:
    """The settings applied to the installed packs.

    :param enabled: namespaces in hook order; the default namespace's is among them.
    :param sources: all packs, with states that tell enabled ones (``discovered``) from the rest.
    """

    default_namespace: str
    enabled: tuple[str, ...]
    sources: tuple[PackSource, ...]

    @property
    def chosen(self) -> tuple[PackSource, ...]:
        """The packs to load, in hook order."""
        loadable = {
            source.record.namespace: source
            for source in self.sources
            if source.record.state is PackState.DISCOVERED
        }
        return tuple(loadable[name] for name in self.enabled if name in loadable)

    @property
    def records(self) -> list[PackRecord]:
        """Every pack with its state."""
        return [source.record for source in self.sources]

    def fingerprint(self) -> str:
        """The :func:`pack_set_fingerprint` of a process in which all chosen packs load."""
        chosen = [source.record for source in self.chosen]
        return pack_set_fingerprint(self.default_namespace, chosen)


def select(
    settings: PluginSettings, sources: Sequence[PackSource], *, no_packs: bool = False
) -> Selection:
    """Apply settings to packs. Wrong settings are found by :func:`check_settings`.

    :param no_packs: load none, whatever the settings enable; the namespace stays.
    """
    default = fold(settings.default_namespace)
    names = [] if no_packs else [fold(name) for name in (*settings.enabled, default)]
    enabled = tuple(name for name in dict.fromkeys(names) if name != CORE)
    required = {fold(name): wanted for name, wanted in settings.require.items()}
    disabled = {fold(name) for name in settings.disabled}
    decided = []
    for source in sources:
        record = source.record
        if record.state is not PackState.DISCOVERED:
            pass
        elif no_packs:
            record = replace(record, state=PackState.DISABLED, reason="--no-packs is given.")
        else:
            record = _decide(source, enabled, disabled, required.get(record.namespace, ""))
        decided.append(replace(source, record=record))
    return Selection(default, enabled, tuple(decided))


def pack_set_fingerprint(default_namespace: str, packs: Sequence[PackRecord]) -> str:
    """Identifies a namespace served with these packs: their order, names and versions.

    :param packs: in hook order.
    """
    named = [(pack.namespace, pack.distribution, pack.version) for pack in packs]
    text = json.dumps([default_namespace, named])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _decide(
    source: PackSource, enabled: Sequence[str], disabled: set[str], required: str
) -> PackRecord:
    record = source.record
    if record.namespace in disabled:
        return replace(record, state=PackState.DISABLED, reason="plugins.disabled names it.")
    if record.namespace not in enabled:
        return replace(record, state=PackState.NOT_IN_PROFILE)
    if required and not _satisfies(record.version, required):
        reason = f"plugins.require asks for {required}; {record.version} is installed."
        return replace(record, state=PackState.INCOMPATIBLE, reason=reason)
    return _held_to_guard(source)


def _held_to_guard(source: PackSource) -> PackRecord:
    """The record of a pack that is to be loaded, once its manifest has passed the guard."""
    from eagle_rag_core.errors import GuardError
    from eagle_rag_core.plugins.guard_findings import refuse_first
    from eagle_rag_core.plugins.guard_tools import manifest_findings

    try:
        refuse_first(manifest_findings(source.manifest) if source.manifest else ())
    except GuardError as error:
        return replace(source.record, state=PackState.INVALID, reason=error.message)
    return source.record


def _satisfies(version: str, specifier: str) -> bool:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except InvalidSpecifier:
        return False


def check_settings(settings: PluginSettings, sources: Sequence[PackSource]) -> None:
    """Refuse settings that name packs which are not installed.

    :raises ConfigError: names the setting, what is installed, and what was probably meant.
    """
    installed = {source.record.namespace for source in sources}
    bound = [("plugins.default_namespace", settings.default_namespace)]
    bound += [("plugins.enabled", name) for name in settings.enabled]
    named = [(setting, name) for setting, name in bound if fold(name) != CORE]
    named += [("plugins.require", name) for name in settings.require]
    named += [("plugins.options", name) for name in settings.options]
    for setting, name in named:
        if fold(name) not in installed:
            raise ConfigError(_not_installed(setting, name, sources))
    for name, specifier in settings.require.items():
        _check_specifier(name, specifier)


def _check_specifier(name: str, specifier: str) -> None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet(specifier)
    except InvalidSpecifier:
        raise ConfigError(
            f'plugins.require.{name} must be a version specifier such as ">=1.2", '
            f"not {specifier!r}."
        ) from None


def _not_installed(setting: str, name: str, sources: Sequence[PackSource]) -> str:
    return (
        f"{setting} names {name!r}, but no pack with that namespace is installed in this "
        f"environment{_meant(name, sources)} {_installed(sources)}"
    )


def _meant(name: str, sources: Sequence[PackSource]) -> str:
    """The pack whose distribution or package is called ``name``, or the closest namespace."""
    from eagle_rag_core.settings.suggest import did_you_mean

    for source in sources:
        record = source.record
        if fold(name) in (fold(record.distribution), fold(source.package)):
            return f"; did you mean {record.namespace!r}, from {record.distribution}?"
    by_namespace = {source.record.namespace: source.record for source in sources}
    hint = did_you_mean(fold(name), by_namespace)
    for namespace, record in by_namespace.items():
        if hint.endswith(f"{namespace!r}?"):
            return f"{hint.removesuffix('?')}, from {record.distribution}?"
    return hint


def _installed(sources: Sequence[PackSource]) -> str:
    names = sorted({f"{s.record.namespace} ({s.record.distribution})" for s in sources})
    return f"Installed: {', '.join(names)}." if names else "No packs are installed."
