"""The context of a pack: late-bound, frozen, with an audit trail."""

from __future__ import annotations

import dataclasses
import logging
from unittest.mock import create_autospec

import pytest

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.plugins.context import (
    KEPT_DECISIONS,
    LanguageModel,
    PackAudit,
    PackServices,
    RecordsReader,
    SearchReader,
)


def services(llm: LanguageModel | None = None) -> PackServices:
    """Services that nobody calls here."""
    records = create_autospec(RecordsReader, instance=True)
    return PackServices(records, create_autospec(SearchReader, instance=True), llm)


@pytest.mark.parametrize("service", ["records", "search", "llm"])
def test_services_used_too_early_say_so(service: str) -> None:
    with pytest.raises(PluginError, match=rf"ctx\.{service} before the deployment started"):
        getattr(PackContext("biomed"), service)


def test_bound_services_are_there() -> None:
    ctx = PackContext("biomed")
    bound = services(create_autospec(LanguageModel, instance=True))
    ctx.bind(bound)
    assert ctx.records is bound.records
    assert ctx.search is bound.search
    assert ctx.llm is bound.llm


def test_services_are_bound_once() -> None:
    ctx = PackContext("biomed")
    ctx.bind(services())
    with pytest.raises(PluginError, match="bound already"):
        ctx.bind(services())


def test_contexts_do_not_share_services() -> None:
    one, two = PackContext("one"), PackContext("two")
    one.bind(services())
    with pytest.raises(PluginError, match="'two'"):
        _ = two.records


def test_a_context_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        PackContext("biomed").namespace = "law"  # type: ignore[misc]


def test_a_pack_logs_under_its_own_name(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        PackContext("biomed").logger.info("hello")
    assert caplog.record_tuples == [("eagle_rag_core.packs.biomed", logging.INFO, "hello")]


def test_the_latest_decisions_are_kept_with_their_time() -> None:
    times = iter(range(1000))
    audit = PackAudit(clock=lambda: float(next(times)))
    for number in range(KEPT_DECISIONS + 5):
        audit.log_decision("expand", f"{number} " + "x" * 1000)
    kept = audit.recent()
    assert len(kept) == KEPT_DECISIONS
    assert kept[0].at == 5.0
    assert kept[0].kind == "expand"
    assert kept[-1].detail.startswith(f"{KEPT_DECISIONS + 4} ")
    assert len(kept[-1].detail) == 500
