"""The generated blocks of the documentation.

A page marks where a block goes with ``<!-- block NAME -->`` and ``<!-- end NAME -->``; the rest of
the page is written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from render_packs import (
    hook_section,
    hook_table,
    manifest_tables,
    source_of_context,
    source_of_types,
)
from render_settings import settings_tables
from render_tools import tool_sections

from eagle_rag_core.plugins.hooks import HOOKS

ROOT: Final = Path(__file__).resolve().parents[2]
DOCS: Final = ROOT / "docs"

#: Block → the page it stands on, and what makes it.
BLOCKS: Final[Mapping[str, tuple[Path, Callable[[], str]]]] = {
    "settings": (DOCS / "configuration.md", settings_tables),
    "tools": (DOCS / "tools.md", tool_sections),
    "manifest": (DOCS / "manifest.md", manifest_tables),
    "hooks": (DOCS / "hooks.md", hook_table),
    "context": (DOCS / "hooks.md", source_of_context),
    "types": (DOCS / "hooks.md", source_of_types),
    **{
        f"hook {name}": (DOCS / "hooks" / f"{name}.md", partial(hook_section, name))
        for name in HOOKS
    },
}


def with_block(text: str, name: str, content: str) -> str:
    """``text`` with ``content`` between the marks of a block.

    :raises ValueError: the page does not have the marks, once and in order.
    """
    opening, closing = f"<!-- block {name} -->", f"<!-- end {name} -->"
    before, *rest = text.split(opening)
    if len(rest) != 1 or rest[0].count(closing) != 1:
        raise ValueError(f"the page needs {opening} and, after it, {closing}, each once")
    after = rest[0].partition(closing)[2]
    return f"{before}{opening}\n\n{content}\n\n{closing}{after}"
