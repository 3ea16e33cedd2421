"""The fenced code blocks of a Markdown page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FENCE: Final = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class CodeBlock:
    """One block. Words after the language are notes to the tests, invisible when rendered.

    :param notes: ``tested`` → "", ``file=pack.py`` → "pack.py".
    """

    language: str
    notes: Mapping[str, str]
    code: str


def code_blocks(page: Path) -> list[CodeBlock]:
    blocks = []
    for match in _FENCE.finditer(page.read_text("utf-8")):
        language, *words = match["info"].split() or [""]
        pairs = (word.partition("=") for word in words)
        blocks.append(CodeBlock(language, {key: value for key, _, value in pairs}, match["code"]))
    return blocks


def marked_blocks(page: Path, language: str) -> list[str]:
    """Code of the blocks of ``language`` that are marked ``tested``; there is at least one."""
    found = [
        block.code
        for block in code_blocks(page)
        if block.language == language and "tested" in block.notes
    ]
    assert found, f"{page.name} has no {language} block that is marked as tested"
    return found
