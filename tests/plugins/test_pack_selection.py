"""Which packs a deployment loads, and how wrong settings are explained."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.plugins.selection import check_settings, select
from eagle_rag_core.plugins.sources import PackSource
from eagle_rag_core.plugins.states import PackRecord, PackState
from eagle_rag_core.settings.sections import PluginSettings


def pack(namespace: str, version: str = "1.0", **changes: Any) -> PackSource:
    distribution = f"eagle-rag-{namespace.replace('_', '-')}"
    record = replace(PackRecord(namespace, distribution, version), **changes)
    return PackSource(record, package=f"eagle_rag_{namespace}")


INSTALLED = (pack("biomed"), pack("lakehouse_bi"), pack("law"))


def states(settings: PluginSettings, *packs: PackSource) -> dict[str, PackState]:
    selection = select(settings, packs or INSTALLED)
    return {source.record.namespace: source.record.state for source in selection.sources}


def chosen(settings: PluginSettings, *packs: PackSource) -> list[str]:
    return [s.record.namespace for s in select(settings, packs or INSTALLED).chosen]


def test_nothing_is_loaded_that_is_not_enabled() -> None:
    """Reported as gptme/gptme#3193."""
    settings = PluginSettings(enabled=["law"])
    assert chosen(settings) == ["law"]
    assert states(settings) == {
        "biomed": PackState.NOT_IN_PROFILE,
        "lakehouse_bi": PackState.NOT_IN_PROFILE,
        "law": PackState.DISCOVERED,
    }
    assert chosen(PluginSettings()) == []


def test_the_order_is_that_of_the_settings() -> None:
    """Reported as pytest-dev/pluggy#64."""
    assert chosen(PluginSettings(enabled=["law", "biomed"])) == ["law", "biomed"]
    assert chosen(PluginSettings(enabled=["biomed", "law"])) == ["biomed", "law"]


def test_the_default_namespace_enables_its_pack() -> None:
    settings = PluginSettings(enabled=["law"], default_namespace="biomed")
    assert chosen(settings) == ["law", "biomed"]


def test_hyphens_and_underscores_are_the_same() -> None:
    settings = PluginSettings(enabled=["Lakehouse-BI", "core"], default_namespace="lakehouse-bi")
    assert chosen(settings) == ["lakehouse_bi"]
    check_settings(settings, INSTALLED)


def test_a_disabled_pack_is_not_loaded_whatever_enables_it() -> None:
    settings = PluginSettings(
        enabled=["lakehouse_bi", "law"], disabled=["lakehouse-bi", "not-installed"]
    )
    assert chosen(settings) == ["law"]
    assert states(settings)["lakehouse_bi"] is PackState.DISABLED
    check_settings(settings, INSTALLED)


@pytest.mark.parametrize(
    ("required", "state"),
    [
        (">=1.0,<2", PackState.DISCOVERED),
        (">=0.9rc1", PackState.DISCOVERED),
        (">=1.1", PackState.INCOMPATIBLE),
    ],
)
def test_a_required_version_is_enforced(required: str, state: PackState) -> None:
    settings = PluginSettings(enabled=["biomed"], require={"biomed": required})
    assert states(settings)["biomed"] is state


def test_a_requirement_on_a_pack_that_is_not_enabled_changes_nothing() -> None:
    settings = PluginSettings(require={"biomed": ">=9"})
    assert states(settings)["biomed"] is PackState.NOT_IN_PROFILE


def test_packs_that_are_broken_already_keep_their_state() -> None:
    broken = pack("biomed", state=PackState.INVALID, reason="No manifest.")
    settings = PluginSettings(enabled=["biomed"])
    assert chosen(settings, broken) == []
    assert states(settings, broken) == {"biomed": PackState.INVALID}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"enabled": ["biomd"]}, "did you mean 'biomed', from eagle-rag-biomed?"),
        ({"enabled": ["eagle-rag-biomed"]}, "did you mean 'biomed', from eagle-rag-biomed?"),
        ({"enabled": ["eagle_rag_law"]}, "did you mean 'law', from eagle-rag-law?"),
        ({"enabled": ["zzz"]}, "is installed in this environment. Installed: biomed (eagle-rag"),
        ({"default_namespace": "bio-med"}, "plugins.default_namespace names 'bio-med'"),
        ({"require": {"biomd": ">=1"}}, "plugins.require names 'biomd'"),
        ({"options": {"biomd": {}}}, "plugins.options names 'biomd'"),
        ({"options": {"core": {"a": 1}}}, "plugins.options names 'core'"),
        ({"require": {"biomed": "newest"}}, "must be a version specifier"),
    ],
)
def test_wrong_names_are_explained(settings: dict[str, Any], message: str) -> None:
    """Reported as pytest-dev/pytest#14135."""
    with pytest.raises(ConfigError) as refused:
        check_settings(PluginSettings(**settings), INSTALLED)
    assert message in refused.value.message


def test_the_message_says_so_when_nothing_is_installed() -> None:
    """Reported as vllm-project/vllm#43987."""
    with pytest.raises(ConfigError, match="No packs are installed"):
        check_settings(PluginSettings(enabled=["biomed"]), ())
