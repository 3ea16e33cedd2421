"""Which namespaces packs may have."""

from __future__ import annotations

import pytest

from eagle_rag_core.plugins.namespaces import fold, namespace_problem, prefix_clashes


@pytest.mark.parametrize("name", ["biomed", "lakehouse_bi", "a", "law2", "x_9"])
def test_good_namespaces(name: str) -> None:
    assert namespace_problem(name) == ""


@pytest.mark.parametrize(
    "name", ["", "Biomed", "9lives", "a__b", "_a", "a_", "a-b", "bio med", "bio\n", "bіomed"]
)
def test_bad_namespaces(name: str) -> None:
    assert "not valid" in namespace_problem(name)


@pytest.mark.parametrize("name", ["core", "eagle", "mcp", "core_tools", "mcp_extra"])
def test_reserved_namespaces_and_those_that_begin_like_them(name: str) -> None:
    assert "reserved" in namespace_problem(name)


def test_the_spelling_that_was_meant_is_suggested() -> None:
    assert "'lakehouse_bi'" in namespace_problem("Lakehouse-BI")


def test_folding() -> None:
    assert fold(" Lakehouse-BI ") == "lakehouse_bi"


def test_a_namespace_that_begins_another_clashes_with_it() -> None:
    names = ["bio", "bio_med", "biomed", "bio_med_x"]
    assert list(prefix_clashes(names)) == [
        ("bio", "bio_med"),
        ("bio", "bio_med_x"),
        ("bio_med", "bio_med_x"),
    ]
