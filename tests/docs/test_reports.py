"""The page of reports names tests that there are, each of which tries what was reported."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest
from reference_pages import DOCS, ROOT

PAGE = DOCS / "reports.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text("utf-8").splitlines()
    if re.match(r"\| \d+ \|", line)
]


def test_every_row_is_whole_and_stands_once() -> None:
    assert all(len(row) == 5 and all(row) for row in ROWS)
    numbers = [int(row[0]) for row in ROWS]
    assert numbers == sorted(set(numbers))
    assert {*range(1, 5), *range(18, 35)} <= set(numbers)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_leads_to_tests(row: list[str]) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row[4])
    assert named
    for path, test in named:
        assert test in _functions(path), f"{path}::{test}"


def test_a_test_of_a_report_says_so_and_is_on_the_page() -> None:
    path = "tests/tools/test_tool_reports.py"
    text = PAGE.read_text("utf-8")
    for name, said in _functions(path).items():
        if name.startswith("test_"):
            assert said.startswith("Reported as "), name
            assert f"`{path}::{name}`" in text, name


@cache
def _functions(path: str) -> dict[str, str]:
    """The functions of a file with their docstrings."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        node.name: ast.get_docstring(node) or ""
        for node in ast.walk(tree)
        if isinstance(node, functions)
    }
