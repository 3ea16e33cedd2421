"""How well the guard tells corpora apart; both halves are held to the same bar."""

from __future__ import annotations

import re
from pathlib import Path

import guard_corpora as corpora
import pytest
from guard_corpora import Figures

from eagle_rag_core.plugins.guard import name_findings
from eagle_rag_core.plugins.guard_tools import tool_findings

PAGE = Path(__file__).parents[2] / "docs" / "guard.md"


def both(halves: tuple[Figures, Figures]) -> Figures:
    tuning, test = halves
    return Figures(tuning.refused + test.refused, tuning.total + test.total)


def test_the_corpora_are_as_large_as_they_are_said_to_be() -> None:
    assert both(corpora.name_figures("side_effect")).total >= 120
    assert both(corpora.name_figures("read_only")).total >= 120
    assert both(corpora.tool_figures("poisoned")).total >= 60
    assert both(corpora.tool_figures("honest")).total >= 200
    servers = {*corpora.names("side_effect").values(), *corpora.names("read_only").values()}
    assert len(servers) >= 20


@pytest.mark.parametrize("half", [0, 1], ids=["tuning", "held-out"])
class TestHalves:
    def test_no_name_with_a_side_effect_passes(self, half: int) -> None:
        figures = corpora.name_figures("side_effect")[half]
        assert figures.refused == figures.total

    def test_names_that_read_pass(self, half: int) -> None:
        assert corpora.name_figures("read_only")[half].share <= 0.03

    def test_poisoned_tools_are_found(self, half: int) -> None:
        assert corpora.tool_figures("poisoned")[half].share >= 0.95

    def test_honest_tools_pass(self, half: int) -> None:
        assert corpora.tool_figures("honest")[half].share <= 0.02


@pytest.mark.parametrize(
    ("name", "trick"), corpora.attacks().items(), ids=lambda value: ascii(value)
)
def test_names_written_to_pass_are_refused(name: str, trick: str) -> None:
    assert corpora.name_is_refused(name), trick


@pytest.mark.parametrize("trick", sorted({tool["class"] for tool in corpora.tools("poisoned")}))
def test_every_class_of_poison_is_found_more_often_than_not(trick: str) -> None:
    poisoned = [tool for tool in corpora.tools("poisoned") if tool["class"] == trick]
    found = list(map(corpora.tool_is_refused, poisoned))
    assert 2 * sum(found) > len(found)


def test_the_page_has_the_figures() -> None:
    rows = {
        "Names with a side effect": corpora.name_figures("side_effect"),
        "Names that read": corpora.name_figures("read_only"),
        "Names of readers without a reading verb": corpora.name_figures("no_reading_verb"),
        "Names that hide what the tool does": corpora.name_figures("disguised"),
        "Poisoned tools": corpora.tool_figures("poisoned"),
        "Honest tools": corpora.tool_figures("honest"),
    }
    wanted = {
        name: [f"{half.refused} of {half.total}" for half in (*halves, both(halves))]
        for name, halves in rows.items()
    }
    text = PAGE.read_text("utf-8")
    row = r"^\| ([^|]+)" + r" \| (\d+ of \d+)" * 3 + r" \|$"
    written = re.findall(row, text, re.MULTILINE)
    assert {name: list(figures) for name, *figures in written} == wanted
    assert f"All of {len(corpora.attacks())} names written to pass" in text


def test_the_page_explains_every_rule_that_the_corpora_break() -> None:
    poison = [
        finding.rule
        for tool in corpora.tools("poisoned")
        for finding in tool_findings(corpora.texts_of(tool))
    ]
    tricks = [
        finding.rule
        for name in corpora.attacks()
        for finding in name_findings(f"pack_{name}", namespace="pack")
    ]
    cells = re.findall(r"^\| (`[^|]*) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    explained = set(re.findall(r"`([a-z-]+)`", "".join(cells)))
    broken = {*poison, *tricks}
    assert len(broken) >= 15
    assert broken - explained == set()
