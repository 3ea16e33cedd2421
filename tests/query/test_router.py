"""Which evidence a mode leads to."""

from __future__ import annotations

import pytest

from eagle_rag_core.errors import EagleError, ErrorCode, InvalidArgument
from eagle_rag_core.query.router import choose_route


def test_text_is_text() -> None:
    decision = choose_route("text")
    assert (decision.route.mode, decision.route.synthesis) == ("text", "extractive")
    assert decision.skipped == ()


def test_auto_says_why_it_chose_text() -> None:
    decision = choose_route("auto")
    assert decision.route.mode == "text"
    assert "no visual index" in decision.route.reason
    assert decision.skipped == ()


def test_hybrid_reports_the_leg_it_cannot_have() -> None:
    decision = choose_route("hybrid")
    assert decision.route.mode == "text"
    assert [(step.name, step.status) for step in decision.skipped] == [("visual", "skipped")]


def test_visual_alone_is_refused_and_says_what_to_do() -> None:
    with pytest.raises(EagleError) as caught:
        choose_route("visual")
    assert caught.value.code == ErrorCode.MODE_UNAVAILABLE
    assert "'text'" in caught.value.message


@pytest.mark.parametrize("mode", ["", "Text", "all"])
def test_unknown_modes_are_refused_with_the_known_ones(mode: str) -> None:
    with pytest.raises(InvalidArgument, match="auto, text, visual, hybrid"):
        choose_route(mode)
