"""The page about transports names every scenario that cannot apply."""

from __future__ import annotations

import re
from pathlib import Path

from conformance.not_applicable import CHECKS, EVERYWHERE, WITHOUT_FIXTURES

PAGE = Path(__file__).parents[2] / "docs" / "transports.md"


def test_the_page_names_the_scenarios_that_cannot_apply_and_no_others() -> None:
    conformance = PAGE.read_text("utf-8").partition("## Conformance")[2]
    named = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", conformance))
    assert named == {*EVERYWHERE, *WITHOUT_FIXTURES, *CHECKS}
