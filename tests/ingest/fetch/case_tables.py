"""The tables of hostile sources: one case a line, JSON escapes for what no file holds well."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent


class UrlCase(NamedTuple):
    """
    :param via: how it reaches the fetcher: as the ``url`` itself, as the target of a
        ``redirect``, or as what a harmless name resolves to (``dns``, separated by spaces).
    """

    group: str
    via: str
    case: str
    code: str
    reason: str


class PathCase(NamedTuple):
    group: str
    case: str
    code: str
    reason: str


def url_cases() -> list[UrlCase]:
    return [UrlCase(*cells) for cells in _cells("url_cases.tsv", case=2)]


def path_cases() -> list[PathCase]:
    return [PathCase(*cells) for cells in _cells("path_cases.tsv", case=1)]


def counts(cases: list[UrlCase] | list[PathCase]) -> dict[str, int]:
    """How many cases each class has, in the order of the table."""
    return dict(Counter(case.group for case in cases))


def _cells(name: str, *, case: int) -> list[list[str]]:
    lines = (_FOLDER / name).read_text("ascii").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    for row in rows:
        row[case] = json.loads(f'"{row[case]}"')
    return rows
