"""The hooks of the loaded packs: pluggy, held to the rules of this framework."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, Final

import pluggy

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins import hookspecs
from eagle_rag_core.plugins.context import PackContext
from eagle_rag_core.plugins.deprecations import naming_the_pack

#: Names of the hooks, in the order in which those of one pack are called.
HOOKS: Final = tuple(name for name in vars(hookspecs) if name.startswith("register_"))


class HookFailed(Exception):
    """A pack's hook raised; ``__cause__`` is what it raised."""

    def __init__(self, hook: str) -> None:
        super().__init__(hook)
        self.hook = hook


class PackHooks:
    """Hook implementations by namespace. Each app has its own."""

    def __init__(self) -> None:
        self._pluggy = pluggy.PluginManager(hookspecs.PROJECT)
        self._pluggy.add_hookspecs(hookspecs)

    def register(self, pack: object, namespace: str) -> None:
        """Take the hooks of a pack, or none of them.

        :raises PluginError: the pack is not an object with plain hook implementations.
        """
        if pack is None or isinstance(pack, type):
            raise PluginError(
                "The pack's entry point must name an object with hooks: an instance or a module, "
                f"not {'None' if pack is None else f'the class {pack.__name__}'}."
            )
        for name in dir(pack):
            self._check(pack, name)
        try:
            with naming_the_pack(namespace):
                self._pluggy.register(pack, name=namespace)
        except pluggy.PluginValidationError:
            raise PluginError("A hook of the pack takes arguments other than ctx.") from None
        except ValueError:
            raise PluginError("The pack is registered already.") from None

    def unregister(self, namespace: str) -> None:
        """Forget the hooks of a pack."""
        if self._pluggy.has_plugin(namespace):
            self._pluggy.unregister(name=namespace)

    def call_each(self, namespace: str, ctx: PackContext) -> Iterator[tuple[str, Any]]:
        """Call the hooks a pack implements, one after the other.

        :returns: name of the hook and what it returned.
        :raises HookFailed: a hook raised.
        """
        for hook in HOOKS:
            for implementation in getattr(self._pluggy.hook, hook).get_hookimpls():
                if implementation.plugin_name != namespace:
                    continue
                arguments = {"ctx": ctx} if implementation.argnames else {}
                try:
                    value = implementation.function(**arguments)
                except KeyboardInterrupt:
                    raise
                except BaseException as error:
                    raise HookFailed(hook) from error
                yield hook, value

    def _check(self, pack: object, name: str) -> None:
        options = self._pluggy.parse_hookimpl_opts(pack, name)
        if options is None:
            if name in HOOKS:
                raise PluginError(f"The hook {name} is not marked; put @hookimpl above it.")
            return
        if name not in HOOKS:
            from eagle_rag_core.settings.suggest import did_you_mean

            raise PluginError(f"There is no hook {name!r}{did_you_mean(name, HOOKS)}")
        if used := sorted(option for option, value in options.items() if value):
            raise PluginError(
                f"The hook {name} uses {', '.join(used)}; mark it with a bare @hookimpl."
            )
        function = inspect.unwrap(inspect.getattr_static(pack, name))
        if inspect.iscoroutinefunction(getattr(function, "__func__", function)):
            raise PluginError(f"The hook {name} is a coroutine; hooks are plain functions.")
