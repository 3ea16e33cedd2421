"""The version of the catalogs, alone and in every answer."""

from __future__ import annotations

import re
from pathlib import Path

from test_lakehouse_conformance import TestLakehouseBi as Conformance  # type: ignore[import-not-found]

import eagle_rag_lakehouse_bi
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.catalog_version import version_of

CALLS = [(f"lakehouse_bi_{name}", given) for name, given in Conformance.arguments.items()]


def source(document: str, content: str) -> Record:
    return Record("source", {}, {"hash": content}, "kb", document, "")


def test_it_is_of_the_files_and_their_contents_in_no_order() -> None:
    one, two = source("d1", "a"), source("d2", "b")
    assert version_of([one, two]) == version_of([two, one])
    others = ([one], [], [one, source("d2", "c")], [one, source("d3", "b")])
    assert len({version_of(s) for s in (*others, [one, two])}) == 5


def test_every_answer_has_it_and_it_changes_with_a_file(tmp_path: Path, examples: Path) -> None:
    with PackLibrary(tmp_path, eagle_rag_lakehouse_bi) as library:
        library.ingest(*sorted(examples.iterdir()))
        (before,) = {library.call(tool, **given)["catalog_version"] for tool, given in CALLS}
        assert re.fullmatch(r"[0-9a-f]{12}", before)
        library.ingest_text("# Not a catalog\n\nA report.\n", "report.md")
        assert library.call("lakehouse_bi_list_metrics")["catalog_version"] == before
        library.ingest_text("CREATE TABLE extra (id int);", "extra.sql")
        (after,) = {library.call(tool, **given)["catalog_version"] for tool, given in CALLS[:3]}
        assert after != before
        narrow = library.call("lakehouse_bi_list_sources", document_ids=["nothing"])
        assert narrow["catalog_version"] == "0" * 12
