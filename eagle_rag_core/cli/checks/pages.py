"""The check of the programs that make pages of documents without any."""

from __future__ import annotations

from typing import Final

from eagle_rag_core.cli.checks.results import Result, warning, well
from eagle_rag_core.settings import Settings

_NAMES: Final = {"office": "LibreOffice", "web": "Chromium"}
_FORMATS: Final = {"office": "Word, PowerPoint and OpenDocument files", "web": "HTML documents"}
_OPTIONS: Final = {"office": "soffice", "web": "chromium"}


def pages(settings: Settings) -> Result:
    """What was found, and what is lost without it."""
    from eagle_rag_core.assembly.rendering import page_renderer_of

    told: list[str] = []
    missing: list[str] = []
    for renderer in page_renderer_of(settings).renderers:
        formats, name = _FORMATS[renderer.kind], _NAMES[renderer.kind]
        if not renderer.wanted:
            told.append(f"{formats}: off.")
        elif renderer.program is None:
            told.append(f"{formats}: no pages, only pictures in them ({name} is not installed).")
            if getattr(settings.ingest.pages, option := _OPTIONS[renderer.kind]):
                missing.append(f"ingest.pages.{option}")
        else:
            told.append(f"{formats}: pages by {renderer.program}.")
    detail = " ".join(told)
    if missing:
        return warning(detail, f"Name a program that can be run in {' and '.join(missing)}.")
    return well(detail)
