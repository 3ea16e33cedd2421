"""The reference pages say what the code says.

Regenerate them with::

    UPDATE_DOCS=1 python -m pytest tests/docs/test_reference_pages.py
"""

from __future__ import annotations

import os
import re

import pytest
from reference_pages import BLOCKS, ROOT, with_block
from render_settings import WITHOUT_EFFECT, all_keys

_HOW = "run: UPDATE_DOCS=1 python -m pytest tests/docs/test_reference_pages.py"


@pytest.mark.parametrize("name", BLOCKS)
def test_block_is_up_to_date(name: str) -> None:
    page, render = BLOCKS[name]
    text = page.read_text("utf-8")
    wanted = with_block(text, name, render())
    if os.environ.get("UPDATE_DOCS"):
        page.write_text(wanted, "utf-8")
        return
    assert text == wanted, f"{page.relative_to(ROOT)} is out of date; {_HOW}"


@pytest.mark.parametrize(
    "text", ["no marks", "<!-- end x --><!-- block x -->", "<!-- block x -->" * 2]
)
def test_a_page_without_its_marks_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="each once"):
        with_block(text, "x", "content")


def test_settings_said_to_be_without_effect_exist_and_are_read_nowhere() -> None:
    assert set(all_keys()) >= WITHOUT_EFFECT
    code = "\n".join(
        path.read_text("utf-8")
        for path in (ROOT / "eagle_rag_core").rglob("*.py")
        if path.parent.name != "settings"
    )
    read = [
        key
        for key in sorted(WITHOUT_EFFECT)
        if re.search(rf"\b{re.escape('.'.join(key.split('.')[-2:]))}\b", code)
    ]
    assert read == [], "take them out of WITHOUT_EFFECT and regenerate docs/configuration.md"
