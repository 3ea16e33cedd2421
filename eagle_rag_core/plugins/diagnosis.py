"""What is wrong with the installed packs, and what to do about it. No pack is imported."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.plugins.discovery import Discovery, copies
from eagle_rag_core.plugins.namespaces import CORE, CORE_DISTRIBUTION
from eagle_rag_core.plugins.selection import Selection, check_settings
from eagle_rag_core.plugins.states import PackRecord, PackState

if TYPE_CHECKING:
    from eagle_rag_core.settings.sections import PluginSettings


class Severity(StrEnum):
    """How much a finding matters."""

    #: The deployment does not work as it is configured.
    PROBLEM = "problem"
    #: Worth knowing.
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or worth knowing.

    :param subject: a namespace, a distribution, or a file.
    :param remedy: what to do, "" where there is nothing to do.
    """

    severity: Severity
    subject: str
    what: str
    remedy: str = ""


#: What to do about a pack by its state; ``{dist}`` and ``{ns}`` stand for its names.
_REMEDIES: Final = {
    PackState.SHADOWED: "pip uninstall {dist} until no copy is left, then install it again.",
    PackState.CONFLICT: "pip uninstall the one you do not use.",
    PackState.INVALID: "pip install --force-reinstall {dist}. If that does not help, the pack "
    "itself is wrong: `eagle-rag packs doctor PATH` checks a checkout or a wheel of it.",
    PackState.INCOMPATIBLE: "Install versions of {dist} and eagle-rag-core that fit each other.",
    PackState.DISABLED: "Take {ns} out of plugins.disabled, or out of plugins.enabled.",
}


def diagnose(settings: PluginSettings, selection: Selection, found: Discovery) -> list[Finding]:
    """Look for what keeps packs from loading, problems first.

    :param selection: ``settings`` applied to what was found.
    """
    findings = [
        *_wrong_settings(settings, selection),
        *(finding for record in selection.records for finding in _of_pack(record, selection)),
        *_copies(selection),
        *(
            Finding(
                Severity.NOTE,
                path,
                "Its entry points cannot be read; if it is a pack, it is not seen.",
                "Reinstall or remove that distribution.",
            )
            for path in found.unreadable
        ),
    ]
    return sorted(findings, key=lambda finding: finding.severity is not Severity.PROBLEM)


def _wrong_settings(settings: PluginSettings, selection: Selection) -> Iterator[Finding]:
    try:
        check_settings(settings, selection.sources)
    except ConfigError as error:
        yield Finding(Severity.PROBLEM, "settings", error.message)


def _of_pack(record: PackRecord, selection: Selection) -> Iterator[Finding]:
    enabled = record.namespace in selection.enabled
    if record.state in _REMEDIES and (enabled or record.state is not PackState.DISABLED):
        yield Finding(
            Severity.PROBLEM if enabled and _missed(record, selection) else Severity.NOTE,
            record.namespace,
            f"{record.state}. {record.reason} {record.error}".strip(),
            _REMEDIES[record.state].format(dist=record.distribution, ns=record.namespace),
        )
    if enabled and (missing := [name for name in record.needs_env if not os.environ.get(name)]):
        yield Finding(
            Severity.NOTE,
            record.namespace,
            f"It reads environment variables that are not set: {', '.join(missing)}.",
            "Set them where the server is started.",
        )
    yield from long_names(record.namespace, record.tools)


def _missed(record: PackRecord, selection: Selection) -> bool:
    """Whether an enabled pack is not what was wished for: another copy may be loadable, and
    ``plugins.disabled`` is a wish, save for the default namespace's pack.
    """
    if any(source.record.namespace == record.namespace for source in selection.chosen):
        return False
    return record.state is not PackState.DISABLED or _is_default(record, selection)


def _is_default(record: PackRecord, selection: Selection) -> bool:
    return record.namespace == selection.default_namespace != CORE


def long_names(namespace: str, tools: Iterable[str]) -> Iterator[Finding]:
    """Tool names that some clients do not take."""
    from eagle_rag_core.plugins.mcp_registry import length_problem

    for name in tools:
        if problem := length_problem(name):
            yield Finding(
                Severity.NOTE,
                namespace,
                problem,
                "Nothing, unless your client does; its maker may choose a shorter name.",
            )


def _copies(selection: Selection) -> Iterator[Finding]:
    """The core and packs of which there is more than one copy on the path."""
    names = {source.record.distribution for source in selection.sources}
    for name in sorted(names | {CORE_DISTRIBUTION}):
        installed = copies(name)
        if len(installed) > 1:
            listed = ", ".join(f"{version} in {folder}" for folder, version in installed)
            yield Finding(
                Severity.NOTE,
                name,
                f"Found {len(installed)} times on sys.path: {listed}. The first one counts.",
                f"pip uninstall {name} until no copy is left, then install it again.",
            )
