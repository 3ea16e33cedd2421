"""What makes pages of documents without any, as the settings say."""

from __future__ import annotations

from eagle_rag_core.ingest.renditions.confined import Bounds
from eagle_rag_core.ingest.renditions.renderer import PageRenderer, page_renderer
from eagle_rag_core.settings import Settings


def page_renderer_of(settings: Settings) -> PageRenderer:
    """The programs of this machine that the settings want."""
    pages = settings.ingest.pages
    return page_renderer(
        office_pages=pages.office,
        web_pages=pages.web,
        soffice=pages.soffice,
        chromium=pages.chromium,
        bounds=Bounds(
            seconds=pages.timeout,
            memory_mb=pages.max_memory_mb,
            pages=settings.ingest.max_pages,
        ),
    )
