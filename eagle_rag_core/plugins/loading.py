"""Loading one pack: import it, give it a context, call its hooks. All of it, or nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins.context import PackAudit, PackContext, is_bound
from eagle_rag_core.plugins.contributions import Contribution, contribution_of
from eagle_rag_core.plugins.hooks import HookFailed, PackHooks
from eagle_rag_core.plugins.mcp_registry import ToolRegistry
from eagle_rag_core.plugins.options import options_model, read_options
from eagle_rag_core.plugins.sources import PackSource
from eagle_rag_core.plugins.states import PackState


class LoadFailed(Exception):
    """A pack could not be loaded.

    :param reason: our sentence on why.
    :param error: the pack's own exception, ``None`` where it only broke a rule.
    """

    def __init__(self, state: PackState, reason: str, error: BaseException | None) -> None:
        super().__init__(reason)
        self.state = state
        self.reason = reason
        self.error = error


def load_pack(
    source: PackSource,
    hooks: PackHooks,
    registry: ToolRegistry,
    *,
    options: Mapping[str, Any],
    clock: Callable[[], float],
) -> tuple[PackContext, Contribution]:
    """Import a pack and register it with ``hooks`` and ``registry``.

    What the pack prints goes to stderr, since stdout may be a protocol's.

    :raises ConfigError: its options are wrong.
    :raises LoadFailed: anything else; nothing of the pack stays registered.
    """
    namespace = source.record.namespace
    with redirect_stdout(sys.stderr):
        with _failing_as(PackState.IMPORT_FAILED, "Importing it"):
            pack = source.load()
            model = options_model(source)
        given = read_options(model, options, namespace)
        context = PackContext(namespace, given, clock, PackAudit(clock))
        try:
            with _failing_as(PackState.REGISTER_FAILED, "Registering it"):
                hooks.register(pack, namespace)
                contribution = _collect(source, hooks, context)
                registry.extend(contribution.tools)
        except LoadFailed:
            hooks.unregister(namespace)
            raise
    return context, contribution


def _collect(source: PackSource, hooks: PackHooks, context: PackContext) -> Contribution:
    record = source.record
    if source.manifest is None:
        raise PluginError("The pack has no manifest.")
    contribution = contribution_of(
        hooks.call_each(record.namespace, context),
        source.manifest,
        owner=record.distribution,
        version=record.version,
    )
    if is_bound(context):
        raise PluginError("A hook of the pack called ctx.bind, which is the deployment's to call.")
    return contribution


@contextmanager
def _failing_as(state: PackState, what: str) -> Iterator[None]:
    """Turn whatever a pack's code raises into :class:`LoadFailed`; only Ctrl-C passes."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except PluginError as error:
        raise LoadFailed(state, error.message, None) from error
    except HookFailed as error:
        cause = error.__cause__
        if isinstance(cause, PluginError):
            raise LoadFailed(state, f"{error.hook}: {cause.message}", None) from error
        raise LoadFailed(state, f"{error.hook} raised {type(cause).__name__}.", cause) from error
    except BaseException as error:
        raise LoadFailed(state, f"{what} raised {type(error).__name__}.", error) from error
