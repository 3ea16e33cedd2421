"""Checks of a deployment as it is put together: its packs, its index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.catalog.scopes import resolve
from eagle_rag_core.cli.checks.results import Check, Result, Status, failed, warning, well
from eagle_rag_core.plugins.diagnosis import Severity, diagnose
from eagle_rag_core.types import COMMAND_LINE, ScopeRequest
from eagle_rag_core.vectors.collections import as_collection

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp

#: The whole index is read into memory.
_INDEX_SECONDS: Final = 120.0
_STATUS: Final = {
    "ok": Status.OK,
    "degraded": Status.WARNING,
    "failed": Status.FAILED,
}


def installed_packs(start: Start) -> Result:
    """The packs as they are installed; none is imported."""
    selection = start.selection()
    findings = [
        finding
        for finding in diagnose(start.settings().plugins, selection, start.installed)
        if finding.severity is Severity.PROBLEM or finding.subject in selection.enabled
    ]
    if not findings:
        return well(f"{len(selection.records)} installed, {len(selection.enabled)} enabled.")
    first = findings[0]
    more = f" And {len(findings) - 1} more." if len(findings) > 1 else ""
    remedy = first.remedy or "`eagle-rag packs doctor` says more."
    report = failed if first.severity is Severity.PROBLEM else warning
    return report(f"{first.subject}: {first.what}{more}", remedy)


def app_checks(app: EagleApp) -> Sequence[Check]:
    """Checks of an app whose engine is built."""
    return (
        Check("packs.loaded", lambda: loaded_packs(app)),
        Check("index", lambda: index(app), _INDEX_SECONDS),
    )


def loaded_packs(app: EagleApp) -> Result:
    enabled = app.settings.plugins.enabled
    broken = [
        pack
        for pack in app.plugins_report()["packs"]
        if pack["namespace"] in enabled and pack["state"].endswith("-failed")
    ]
    if not broken:
        return well("Every pack that was chosen works.")
    first = broken[0]
    return failed(
        f"{first['namespace']} is {first['state']}: {first['reason']}",
        "`eagle-rag packs doctor` says more.",
    )


def index(app: EagleApp) -> Result:
    """Whether searches have an index; how many passages it has."""
    engine = app.engine()
    info = engine.active_collection()
    if info is None:
        return well("Empty.")
    with engine.catalog.read() as conn:
        everything = resolve(conn, engine.catalog.namespace, COMMAND_LINE, ScopeRequest())
    count = engine.store.count(as_collection(info), everything)
    return well(f"{count} passages ({engine.store.name}).")


def health_of_packs(app: EagleApp) -> dict[str, Result]:
    """What packs say of themselves; those that hang are not waited for."""
    report = app.engine().packs.report()
    return {
        f"pack.{name}": Result(_STATUS[part["status"]], part["detail"] or "It is well.")
        for name, part in report.items()
    }
