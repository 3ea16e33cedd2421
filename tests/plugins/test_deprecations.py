from __future__ import annotations

import logging
import warnings
from types import SimpleNamespace
from typing import Any

import pytest

from eagle_rag_core.plugins import hookimpl, hookspecs
from eagle_rag_core.plugins.deprecations import (
    PackApiWarning,
    RemovedInPackApi2,
    naming_the_pack,
)
from eagle_rag_core.plugins.hooks import PackHooks


def pack() -> Any:
    @hookimpl
    def register_health(ctx: object) -> list[Any]:
        return []

    return SimpleNamespace(register_health=register_health)


@pytest.fixture
def leaving(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hook for health checks is on its way out."""
    options = hookspecs.register_health.eagle_rag_spec  # type: ignore[attr-defined]
    monkeypatch.setitem(options, "warn_on_impl", RemovedInPackApi2("use register_checks"))


@pytest.mark.usefixtures("leaving")
def test_a_pack_that_uses_a_deprecated_hook_is_named(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.warns(RemovedInPackApi2), caplog.at_level(logging.WARNING):
        PackHooks().register(pack(), "standards")
    assert "Pack standards: use register_checks" in caplog.text


def test_hooks_that_stay_warn_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PackHooks().register(pack(), "standards")
    assert caplog.text == ""


def test_other_warnings_pass_without_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.warns(UserWarning, match="disk"), naming_the_pack("standards"):
        warnings.warn("the disk is slow", UserWarning, stacklevel=1)
    assert caplog.text == ""


def test_every_version_has_its_own_class() -> None:
    assert issubclass(RemovedInPackApi2, PackApiWarning)
    assert issubclass(PackApiWarning, DeprecationWarning)
