"""A file of every format, through the whole engine: added, searched, found with its place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from format_samples import SAMPLES

from eagle_rag_core.models import rapid_ocr
from eagle_rag_core.testing import PackLibrary

#: Pictures are read where OCR is installed.
FOUND = {
    name: sample for name, sample in SAMPLES.items() if name != "image" or rapid_ocr.installed()
}
#: Formats with pages, and the page the word stands on.
PAGES = {"pdf": 2, "pptx": 2}
#: Where the word stands in documents with headings.
PATHS = {
    "pdf": "Chapter 2",
    "docx": "Chapter",
    "pptx": "Slide title 2",
    "xlsx": "Stock",
    "odt": "Top",
    "epub": "Two",
    "html": "Page",
    "markdown": "Title",
    "rst": "Guide",
    "notebook": "Study",
    "source-code": "class Tool (lines 1-3) > def run (lines 2-3)",
    "mail": "News of the day",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackLibrary]:
    folder = tmp_path_factory.mktemp("formats")
    paths = []
    for name, data in FOUND.values():
        path = folder / f"a 文件 of {name}"
        path.write_bytes(data)
        paths.append(path)
    with PackLibrary(folder / "home") as library:
        library.ingest(*paths)
        yield library


@pytest.mark.parametrize("format_name", FOUND)
def test_a_word_of_every_format_is_found_where_it_stands(
    library: PackLibrary, format_name: str
) -> None:
    word = f"{format_name.replace('-', '')}word"
    hits = library.call("core_retrieve_text", query=word)
    assert word in hits[0]["text"]
    place = hits[0]["metadata"]
    assert place["source_uri"].endswith(SAMPLES[format_name][0])
    assert place["page"] == PAGES.get(format_name, 0)
    assert place["path"] == PATHS.get(format_name, "")
