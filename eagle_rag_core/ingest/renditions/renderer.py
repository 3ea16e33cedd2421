"""Which programs of this machine make pages, and the PDF that one makes of a document."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from eagle_rag_core.ingest.progress import parsed as progressed
from eagle_rag_core.ingest.renditions import office, web
from eagle_rag_core.ingest.renditions.confined import Bounds, ConversionFailed
from eagle_rag_core.ingest.tiles.pdf_pages import PdfPages

if TYPE_CHECKING:
    from eagle_rag_core.types import ParsedDocument

logger = logging.getLogger(__name__)

#: Changes when the same document gets other pages by the same program.
_VERSION: Final = "1"
#: One at a time: each takes a processor and half a gigabyte.
_ONE: Final = threading.Lock()
Choice = Literal["auto", "off"]


@dataclass(frozen=True, slots=True)
class Rendition:
    """What came of making pages.

    :param pdf: the pages; b"" when there are none.
    :param note: why there are none, for those who look at the document.
    :param passing: another attempt may go better.
    """

    pdf: bytes = b""
    note: str = ""
    passing: bool = False

    @property
    def key(self) -> str:
        """Under which the PDF is stored: its SHA-256, "" when there is none."""
        return hashlib.sha256(self.pdf).hexdigest() if self.pdf else ""


@dataclass(frozen=True, slots=True)
class Renderer:
    """Makes pages of some formats.

    :param kind: ``office`` or ``web``.
    :param program: absolute path; None when there is none on this machine.
    :param wanted: whether the settings want pages of these formats at all.
    """

    kind: str
    media_types: frozenset[str]
    program: Path | None
    wanted: bool = True

    @property
    def works(self) -> bool:
        return self.wanted and self.program is not None


@dataclass(frozen=True, slots=True)
class PageRenderer:
    """Makes pages of documents that have none. Safe to share between threads."""

    renderers: Sequence[Renderer] = ()
    bounds: Bounds = field(default_factory=Bounds)

    def media_types(self) -> frozenset[str]:
        """The formats that may get pages."""
        return frozenset().union(*(each.media_types for each in self.renderers))

    def recipe(self, media_type: str) -> str:
        """What decides the pages of a format besides the document; "" when it never gets any.

        Not whether the program is there, and not its version: documents need not be made anew
        whenever one is updated.
        """
        renderer = self._of(media_type)
        return f"pages-{_VERSION}+{renderer.kind}" if renderer else ""

    def render(self, data: bytes, document: ParsedDocument) -> Rendition | None:
        """Pages of a document; None when its format gets none here.

        A converter that fails takes nothing away but the pages.
        """
        renderer = self._of(document.media_type)
        if renderer is None or not renderer.works or renderer.program is None:
            return None
        progressed(0.0)
        try:
            with _ONE, tempfile.TemporaryDirectory(prefix="eagle-rag-pages-") as folder:
                pdf = self._converted(renderer.program, data, document.media_type, Path(folder))
            self._check(pdf, document)
        except ConversionFailed as error:
            logger.warning("no pages were made of a document: %s", error)
            return Rendition(note=f"No pages were made of it: {error}.", passing=error.passing)
        except OSError:
            logger.warning("no pages were made of a document", exc_info=True)
            return Rendition(note="No pages were made of it: no room or no rights.", passing=True)
        finally:
            progressed(1.0)
        return Rendition(pdf)

    def _of(self, media_type: str) -> Renderer | None:
        return next((each for each in self.renderers if media_type in each.media_types), None)

    def _converted(self, program: Path, data: bytes, media_type: str, folder: Path) -> bytes:
        folder = folder.resolve()
        if media_type in web.MEDIA_TYPES:
            return web.web_pdf(program, data, folder, self.bounds)
        return office.office_pdf(program, data, media_type, folder, self.bounds)

    def _check(self, pdf: bytes, document: ParsedDocument) -> None:
        if len(pdf) > self.bounds.bytes:
            raise ConversionFailed("its pages are too large")
        try:
            with PdfPages(pdf) as pages:
                count = pages.count
        except ValueError as error:
            raise ConversionFailed("its pages cannot be read") from error
        if not 1 <= count <= self.bounds.pages:
            raise ConversionFailed(f"it has {count} pages; at most {self.bounds.pages} are made")
        if document.media_type == office.PPTX and count != int(document.metadata["pages"]):
            raise ConversionFailed("its pages are not its slides")


def page_renderer(
    *,
    office_pages: Choice = "auto",
    web_pages: Choice = "auto",
    soffice: str = "",
    chromium: str = "",
    bounds: Bounds | None = None,
) -> PageRenderer:
    """What this machine has of what the settings want.

    :param soffice: LibreOffice; "" to look for it.
    :param chromium: likewise.
    """
    return PageRenderer(
        (
            Renderer(
                "office",
                office.MEDIA_TYPES,
                _program(soffice, office.PROGRAMS),
                wanted=office_pages == "auto",
            ),
            Renderer(
                "web",
                web.MEDIA_TYPES,
                _program(chromium, web.PROGRAMS),
                wanted=web_pages == "auto",
            ),
        ),
        bounds or Bounds(),
    )


def _program(named: str, names: Sequence[str]) -> Path | None:
    if os.name != "posix":  # what bounds a converter is not there elsewhere
        return None
    candidates = [named] if named else names
    found = next((path for name in candidates if (path := shutil.which(name))), None)
    return Path(found).absolute() if found else None
