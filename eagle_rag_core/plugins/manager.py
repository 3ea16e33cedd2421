"""The plugin manager of one app: which packs there are, and what the active ones contribute."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins.context import Decision, PackContext, PackServices
from eagle_rag_core.plugins.contributions import Contribution, extensions_of
from eagle_rag_core.plugins.discovery import Discovery, discover
from eagle_rag_core.plugins.hooks import PackHooks
from eagle_rag_core.plugins.loading import LoadFailed, load_pack
from eagle_rag_core.plugins.manifest import RecordKind
from eagle_rag_core.plugins.mcp_registry import ToolRegistry
from eagle_rag_core.plugins.namespaces import CORE, fold
from eagle_rag_core.plugins.selection import check_settings, pack_set_fingerprint, select
from eagle_rag_core.plugins.sources import PackSource
from eagle_rag_core.plugins.starting import refusing, watched
from eagle_rag_core.plugins.states import PackRecord, PackState, brief
from eagle_rag_core.types.extensions import Extensions
from eagle_rag_core.types.records import RecordFieldRule

if TYPE_CHECKING:
    from eagle_rag_core.plugins.effects.guard import EffectGuard
    from eagle_rag_core.settings.sections import PluginSettings

logger = logging.getLogger(__name__)


class PluginManager:
    """Selects, loads and registers the packs of one deployment.

    Building it imports no pack; :meth:`load` does. A pack that fails is left out as a whole and
    shown in :attr:`records`; the others load.

    :param discovered: the installed packs, if they are known already.
    :param packs: use these packs and look for no installed ones (frozen apps, tests).
    :param no_packs: load none, whatever the settings enable; the namespace stays.
    :param clock: seconds since the epoch, for the packs.
    """

    def __init__(
        self,
        settings: PluginSettings,
        *,
        discovered: Discovery | None = None,
        packs: Sequence[PackSource] | None = None,
        no_packs: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._clock = clock
        if packs is None:
            packs = (discovered or discover()).packs
        self._no_packs = no_packs
        self._selection = select(settings, packs, no_packs=no_packs)
        self._records = self._selection.records
        self._hooks = PackHooks()
        self._contexts: dict[str, PackContext] = {}
        self._contributions: dict[str, Contribution] = {}
        self._stopped: dict[str, Contribution] = {}
        self.registry = ToolRegistry(
            {s.record.namespace: s.record.distribution for s in self._selection.chosen}
        )

    @property
    def default_namespace(self) -> str:
        return self._selection.default_namespace

    @property
    def records(self) -> list[PackRecord]:
        """Every installed pack with its state, sorted by namespace."""
        return list(self._records)

    @property
    def chosen(self) -> tuple[PackSource, ...]:
        """The packs that :meth:`load` loads, in hook order; known before any is imported."""
        return self._selection.chosen

    @property
    def active_packs(self) -> tuple[tuple[str, str], ...]:
        """Namespace and version of the active packs, in hook order."""
        return tuple((c.namespace, c.version) for c in self._contributions.values())

    @property
    def extensions(self) -> Extensions:
        """What the active packs contribute to the engine, in the order of ``plugins.enabled``.

        An embedder whose factory fails makes its pack ``start-failed``. Packs in that state
        contribute nothing but the names of their embedders, so that whoever asks for one is told.
        """
        rules = {
            (namespace, kind.kind): {
                field.name: RecordFieldRule(field.type, field.many) for field in kind.fields
            }
            for namespace, kinds in self.record_kinds.items()
            for kind in kinds
        }
        working = [
            watched(spec, partial(self._start_failed, contribution.namespace))
            for contribution in self._contributions.values()
            for spec in contribution.embedders
        ]
        stopped = [
            refusing(spec, self._why_inactive(contribution.namespace))
            for contribution in self._stopped.values()
            for spec in contribution.embedders
        ]
        return replace(
            extensions_of(list(self._contributions.values())),
            embedders=(*working, *stopped),
            record_rules=rules,
        )

    def load(self) -> None:
        """Import and register the enabled packs, in their order.

        :raises ConfigError: settings name a pack that is not installed, or a pack's options are
            wrong.
        :raises PluginError: the default namespace's pack is not active, and
            ``plugins.allow_degraded`` is off.
        """
        if self._no_packs:
            return
        check_settings(self._settings, self._selection.sources)
        self._log_unusable()
        for source in self._selection.chosen:
            self._load(source)
        self.require_default()
        if self.default_namespace != CORE and self.default_namespace not in self._contributions:
            logger.error("%s Serving without it.", self._why_inactive(self.default_namespace))

    def bind(self, services_for: Callable[[str], PackServices]) -> None:
        """Give every active pack its services.

        :param services_for: the services of a namespace.
        """
        for namespace in self._contributions:
            services = services_for(namespace)
            if self._settings.enforce_effects:
                from eagle_rag_core.plugins.effects.guard import unwatched_services

                services = unwatched_services(services)
            self._contexts[namespace].bind(services)

    def effect_guard(self, private: Sequence[Path]) -> EffectGuard:
        """What runs the tools of the active packs and refuses effects besides their answers.

        :param private: files and folders of the library, which packs read through their context.
        """
        from eagle_rag_core.plugins.effects.guard import EffectGuard
        from eagle_rag_core.plugins.effects.permissions import Permissions

        permissions = {
            source.record.namespace: Permissions(
                source.manifest.needs.network,
                private=private,
                package=source.package,
                variables=source.manifest.needs.env,
            )
            for source in self._selection.chosen
            if source.manifest and source.record.namespace in self._contributions
        }
        audits = {namespace: self._contexts[namespace].audit for namespace in permissions}
        return EffectGuard(permissions, audits)

    def decisions(self) -> dict[str, tuple[Decision, ...]]:
        """Recent decisions per active pack."""
        return {name: self._contexts[name].audit.recent() for name in list(self._contributions)}

    @property
    def record_kinds(self) -> dict[str, tuple[RecordKind, ...]]:
        """Kinds of records the active packs declare, per namespace."""
        return {
            source.record.namespace: source.manifest.records
            for source in self._selection.chosen
            if source.manifest and source.record.namespace in self._contributions
        }

    def fingerprint(self) -> str:
        """Identifies the default namespace and the active packs with their order and versions."""
        active = {record.namespace: record for record in self._records if record.active}
        return pack_set_fingerprint(
            self.default_namespace, [active[namespace] for namespace, _ in self.active_packs]
        )

    def require_default(self) -> None:
        """Refuse to serve a namespace whose pack is not active.

        :raises PluginError: says why it is not; never with ``plugins.allow_degraded``.
        """
        namespace = self.default_namespace
        if self._no_packs or self._settings.allow_degraded:
            return
        if namespace != CORE and namespace not in self._contributions:
            raise PluginError(
                f"{self._why_inactive(namespace)} Repair or reinstall it, choose another profile, "
                "or set plugins.allow_degraded to serve without it."
            )

    def require_active(self, namespace: str) -> None:
        """Refuse to use what belongs to a pack that is not active, say a tool of it.

        :raises PluginError: says why it is not.
        """
        if namespace != CORE and namespace not in self._contributions:
            raise PluginError(self._why_inactive(namespace))

    def _log_unusable(self) -> None:
        chosen = {source.record.namespace for source in self._selection.chosen}
        for record in self._records:
            if record.namespace in self._selection.enabled and record.namespace not in chosen:
                logger.warning("Pack %s: %s. %s", record.namespace, record.state, record.reason)

    def _load(self, source: PackSource) -> None:
        namespace, started = source.record.namespace, time.perf_counter()
        try:
            context, contribution = load_pack(
                source,
                self._hooks,
                self.registry,
                options=self._options(namespace),
                clock=self._clock,
            )
        except LoadFailed as failed:
            changes = self._failure(namespace, failed.state, failed.reason, failed.error)
        else:
            self._contexts[namespace] = context
            self._contributions[namespace] = contribution
            changes = {
                "state": PackState.ACTIVE,
                "tools": tuple(sorted(tool.name for tool in contribution.tools)),
            }
        self._update(source.record, elapsed_ms=_since(started), **changes)

    def _options(self, namespace: str) -> Mapping[str, Any]:
        for name, options in self._settings.options.items():
            if fold(name) == namespace:
                return options
        return {}

    def _start_failed(self, namespace: str, reason: str, error: BaseException | None) -> None:
        """Take back everything a pack contributes that is active so far."""
        contribution = self._contributions.pop(namespace, None)
        if contribution is None:
            return
        self._stopped[namespace] = contribution
        self._hooks.unregister(namespace)
        (record,) = [r for r in self._records if r.namespace == namespace and r.active]
        self._update(record, **self._failure(namespace, PackState.START_FAILED, reason, error))

    def _failure(
        self, namespace: str, state: PackState, reason: str, error: BaseException | None
    ) -> dict[str, Any]:
        """What a record says about a failure, which is logged in one line."""
        text = brief(error) if error else ""
        logger.warning("Pack %s: %s. %s %s", namespace, state, reason, text)
        logger.debug("Traceback of pack %s", namespace, exc_info=error)
        return {"state": state, "reason": reason, "error": text}

    def _update(self, record: PackRecord, **changes: Any) -> None:
        place = self._records.index(record)
        self._records[place] = replace(record, **changes)

    def _why_inactive(self, namespace: str) -> str:
        """Sentences on a pack that is not active; it is the default namespace's, or was active."""
        found = [record for record in self._records if record.namespace == namespace]
        found.sort(key=lambda record: record.state is PackState.SHADOWED)
        bound = " of the default namespace" if namespace == self.default_namespace else ""
        reason = f"{found[0].state}. {found[0].reason}".strip()
        return f"Pack {namespace!r}{bound} is not active: {reason}"


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
