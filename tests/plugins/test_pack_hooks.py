"""Hooks: plain functions with known names, one set per app, results attributed."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import pytest

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins import PackContext, hookimpl
from eagle_rag_core.plugins import hookspecs as specs
from eagle_rag_core.plugins.hooks import HOOKS, HookFailed, PackHooks


def pack_of(**functions: Any) -> object:
    """An object whose methods are these functions."""
    return type("Pack", (), functions)()


def call(pack: object) -> list[tuple[str, Any]]:
    hooks = PackHooks()
    hooks.register(pack, "demo")
    return list(hooks.call_each("demo", PackContext("demo")))


def test_the_hooks_of_version_1() -> None:
    assert HOOKS == (
        "register_tools",
        "register_parsers",
        "register_enrichers",
        "register_embedders",
        "register_collections",
        "register_retrievers",
        "register_query_expanders",
        "register_rerankers",
        "register_health",
    )
    assert specs.PACK_API_VERSION == "1.1"


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_documented(hook: str) -> None:
    doc = inspect.getdoc(getattr(specs, hook)) or ""
    assert ":returns:" in doc
    assert ".. versionadded:: 1.0" in doc
    assert list(inspect.signature(getattr(specs, hook)).parameters) == ["ctx"]


def test_results_come_with_the_name_of_the_hook() -> None:
    class Pack:
        @hookimpl
        def register_health(self, ctx: PackContext) -> list[str]:
            return [ctx.namespace]

        @hookimpl
        def register_tools(self) -> list[str]:
            return ["tool"]

    assert call(Pack()) == [("register_tools", ["tool"]), ("register_health", ["demo"])]


def test_a_module_may_be_a_pack() -> None:
    module = ModuleType("a_pack")

    @hookimpl
    def register_tools(ctx: PackContext) -> list[str]:
        return ["tool"]

    module.register_tools = register_tools  # type: ignore[attr-defined]
    assert call(module) == [("register_tools", ["tool"])]


def test_a_hook_that_raises_is_named() -> None:
    """Reported as pytest-dev/pluggy#485."""

    @hookimpl
    def register_tools(self: object, ctx: PackContext) -> list[str]:
        raise ImportError("no torch")

    with pytest.raises(HookFailed) as failed:
        call(pack_of(register_tools=register_tools))
    assert failed.value.hook == "register_tools"
    assert isinstance(failed.value.__cause__, ImportError)


def _refused() -> dict[str, tuple[object, str]]:
    @hookimpl
    def register_toolz(self: object, ctx: object) -> list[str]:
        return []

    def register_tools(self: object, ctx: object) -> list[str]:
        return []

    @hookimpl(tryfirst=True)
    def first(self: object, ctx: object) -> list[str]:
        return []

    @hookimpl(trylast=True)
    def last(self: object, ctx: object) -> list[str]:
        return []

    @hookimpl(wrapper=True)
    def wrapper(self: object, ctx: object) -> Any:
        return (yield)

    @hookimpl(optionalhook=True)
    def optional(self: object, ctx: object) -> list[str]:
        return []

    @hookimpl(specname="register_tools")
    def other(self: object, ctx: object) -> list[str]:
        return []

    @hookimpl
    async def coroutine(self: object, ctx: object) -> list[str]:
        return []

    @hookimpl
    def context(self: object, context: object) -> list[str]:
        return []

    return {
        "unknown hook": (
            pack_of(register_toolz=register_toolz),
            "no hook 'register_toolz'; did you mean 'register_tools'?",
        ),
        "unmarked": (pack_of(register_tools=register_tools), "register_tools is not marked"),
        "tryfirst": (pack_of(register_tools=first), "uses tryfirst"),
        "trylast": (pack_of(register_tools=last), "uses trylast"),
        "wrapper": (pack_of(register_tools=wrapper), "uses wrapper"),
        "optional": (pack_of(register_tools=optional), "uses optionalhook"),
        "specname": (pack_of(register_health=other), "uses specname"),
        "coroutine": (pack_of(register_tools=coroutine), "is a coroutine"),
        "static": (pack_of(register_tools=staticmethod(coroutine)), "is a coroutine"),
        "arguments": (pack_of(register_tools=context), "arguments other than ctx"),
        "class": (type("Pack", (), {}), "not the class Pack"),
        "none": (None, "not None"),
    }


@pytest.mark.parametrize("case", _refused())
def test_hooks_that_bend_the_rules_are_refused_as_a_whole(case: str) -> None:
    pack, message = _refused()[case]
    hooks = PackHooks()
    with pytest.raises(PluginError, match=message.replace("?", r"\?")):
        hooks.register(pack, "demo")
    assert list(hooks.call_each("demo", PackContext("demo"))) == []


def test_registering_evaluates_no_property() -> None:
    class Pack:
        @property
        def trap(self) -> str:
            raise AssertionError("evaluated")

        @hookimpl
        def register_tools(self, ctx: PackContext) -> list[str]:
            return []

    assert call(Pack()) == [("register_tools", [])]


def test_the_same_pack_is_not_registered_twice() -> None:
    hooks, pack = PackHooks(), pack_of()
    hooks.register(pack, "one")
    with pytest.raises(PluginError, match="already"):
        hooks.register(pack, "two")


def test_an_unregistered_pack_leaves_no_trace() -> None:
    @hookimpl
    def register_tools(self: object, ctx: object) -> list[str]:
        return []

    hooks = PackHooks()
    hooks.register(pack_of(register_tools=register_tools), "demo")
    hooks.unregister("demo")
    assert list(hooks.call_each("demo", PackContext("demo"))) == []
    hooks.register(pack_of(register_tools=register_tools), "demo")
    assert len(list(hooks.call_each("demo", PackContext("demo")))) == 1
