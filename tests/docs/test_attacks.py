"""The page about attacks has every class, and names tests that there are."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "attacks.md"
STATUSES = {"refused", "contained", "detected", "out of scope"}
OUT_OF_SCOPE = "out of scope"


@dataclass(frozen=True)
class Row:
    """A class of attack as the page has it; tests as ``path::name``."""

    number: int
    attack: str
    status: str
    how: str
    tests: tuple[str, ...]


def _rows() -> list[Row]:
    rows = []
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[0].isdigit():
            tests = tuple(re.findall(r"`(tests/[^`]+)`", cells[4]))
            rows.append(Row(int(cells[0]), cells[1], cells[2], cells[3], tests))
    return rows


ROWS = _rows()


def test_every_class_has_a_row() -> None:
    assert [row.number for row in ROWS] == list(range(1, 46))
    assert len({row.attack for row in ROWS}) == 45


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.number))
def test_a_row_says_what_happens_and_which_tests_try_it(row: Row) -> None:
    assert row.status in STATUSES
    assert row.how, "how, or why not"
    assert row.tests or row.status == OUT_OF_SCOPE
    for named in row.tests:
        path, _, test = named.partition("::")
        assert test in _functions(path), named


def _functions(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, functions)}


def test_the_classes_of_each_status_are_counted() -> None:
    said = re.findall(r"^\| ([a-z ]+) \| (\d+) \| ", PAGE.read_text("utf-8"), re.MULTILINE)
    assert {status: int(count) for status, count in said} == Counter(row.status for row in ROWS)


def test_there_are_as_many_cases_as_the_page_says(request: pytest.FixtureRequest) -> None:
    said = re.search(r"at least (\d+) cases", PAGE.read_text("utf-8"))
    assert said is not None and int(said[1]) >= 150
    named = {test for row in ROWS for test in row.tests}
    cases = [_test_of(item.nodeid) for item in request.session.items]
    if not named <= set(cases):  # a part of the tests is run
        cases = _collected({test.partition("::")[0] for test in named})
    assert sum(case in named for case in cases) >= int(said[1])


def _test_of(case: str) -> str:
    """``path::name`` of a case, without its class and its parameters."""
    path, *_, name = case.partition("[")[0].split("::")
    return f"{path}::{name}"


def _collected(paths: Collection[str]) -> list[str]:
    """The tests of all cases in the files, as often as each has cases."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [*command, *sorted(paths)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    return [_test_of(line) for line in ran.stdout.splitlines() if "::" in line]
