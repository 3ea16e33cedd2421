"""A library with figures and tables that the tests of this folder search."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from visual_library import SETTINGS, Seen
from visual_samples import draw_report

from eagle_rag_core.testing import PackLibrary


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    folder = tmp_path_factory.mktemp("visual")
    places = draw_report(folder / "report.pdf")
    with PackLibrary(folder / "home", settings=SETTINGS) as library:
        (report,) = library.ingest(folder / "report.pdf", kb_name="town")
        library.ingest_text("# Milk\n\nThe dairies meet in May.\n", "milk.md", kb_name="other")
        yield Seen(library, report, places)
