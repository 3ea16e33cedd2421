"""Running tools of packs under the tripwire (``plugins.enforce_effects``)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

from eagle_rag_core.errors import EffectRefused
from eagle_rag_core.plugins.context import (
    LanguageModel,
    PackAudit,
    PackServices,
    RecordsReader,
    SearchReader,
)
from eagle_rag_core.plugins.effects.permissions import Permissions
from eagle_rag_core.plugins.effects.watch import Effect, Watch, unwatched, watching
from eagle_rag_core.plugins.specs import ToolSpec

logger = logging.getLogger(__name__)


class EffectGuard:
    """Refuses calls of packs' tools that do more than answer.

    :param permissions: per namespace of a pack; tools of other namespaces run unwatched.
    :param audits: per namespace, where refusals are noted for operators.
    """

    def __init__(
        self, permissions: Mapping[str, Permissions], audits: Mapping[str, PackAudit]
    ) -> None:
        self._permissions = permissions
        self._audits = audits

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any]) -> Any:
        """What the tool returns.

        :raises EffectRefused: it tried an effect, whether or not it went on without it.
        """
        permitted = self._permissions.get(spec.namespace)
        if permitted is None:
            return spec.function(**arguments)
        watch = Watch(permitted, partial(self._report, spec))
        cause: BaseException | None = None
        with watching(watch):
            try:
                result = spec.function(**arguments)
            except BaseException as error:
                if not watch.effects:
                    raise
                cause = error
        if watch.effects:
            raise EffectRefused(
                f"The call was stopped: the tool tried to {watch.effects[0].kind.phrase}, which "
                "tools of packs must not. The server's log names the place; tell its operator."
            ) from cause
        return result

    def _report(self, spec: ToolSpec, effect: Effect) -> None:
        logger.error("Refused in tool %s: %s", spec.name, effect)
        # Without the target, which may be a path: /health/plugins shows decisions.
        place = f" at {effect.place}" if effect.place else ""
        self._audits[spec.namespace].log_decision(
            "effect-refused", f"{spec.name}: {effect.kind} ({effect.event}){place}"
        )


def unwatched_services(services: PackServices) -> PackServices:
    """The services as the core's own work, which reads databases and writes logs as it needs."""
    return PackServices(
        records=cast(RecordsReader, _unwatched(services.records)),
        search=cast(SearchReader, _unwatched(services.search)),
        llm=cast(LanguageModel, _unwatched(services.llm)) if services.llm else None,
    )


def _unwatched(service: object) -> SimpleNamespace:
    """The public methods of a service and nothing else of it."""
    return SimpleNamespace(
        **{
            name: unwatched(getattr(service, name))
            for name in dir(service)
            if not name.startswith("_")
        }
    )
