"""The core's own tools under the profile of the pack, beside the default profile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import eagle_rag_biomed
from eagle_rag_core.testing import PackLibrary

CLASSES = """\
curie,type,label,names,parents
T:1,chemical,heavy metals,heavy metal,
T:2,chemical,cadmium,,T:1
"""
TEXTS = {
    "first": "The ward was full. AMI was treated with alteplase. Nothing else was noted.",
    "second": "The soil was sandy. Cadmium damages the kidney. More was not measured.",
}
Libraries = dict[str, tuple[PackLibrary, dict[str, str]]]


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Libraries]:
    """Libraries of the same documents under two profiles, and names of the documents by id."""
    home = tmp_path_factory.mktemp("profiles")
    (home / "classes.csv").write_text(CLASSES)
    options = {"user_vocabularies": [{"path": str(home / "classes.csv")}]}
    settings = {"plugins": {"options": {"biomed": options}}}
    with (
        PackLibrary(home / "default") as default,
        PackLibrary(home / "biomed", eagle_rag_biomed, settings=settings) as biomed,
    ):
        yield {
            profile: (library, _filled(library))
            for profile, library in (("default", default), ("biomed", biomed))
        }


def _filled(library: PackLibrary) -> dict[str, str]:
    return {library.ingest_text(text, f"{name}.md"): name for name, text in TEXTS.items()}


def found(profiles: Libraries, profile: str, query: str) -> tuple[list[str], list[str]]:
    """What the core's tools find first and quote."""
    library, names = profiles[profile]
    hits: Any = library.call("core_retrieve_text", query=query)
    sources: Any = library.call("core_query", query=query)["sources"]
    return (
        [names[hit["metadata"]["document_id"]] for hit in hits][:1],
        [names[source["document_id"]] for source in sources],
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("heart attack", "first"),
        ("myocardial infarction", "first"),
        ("heavy metals", "second"),
    ],
)
def test_only_the_pack_finds_and_quotes_what_is_named_otherwise(
    profiles: Libraries, query: str, expected: str
) -> None:
    first, quoted = found(profiles, "default", query)
    assert expected not in (*first, *quoted)
    assert found(profiles, "biomed", query) == ([expected], [expected])


def test_it_quotes_the_sentence_that_has_the_concept(profiles: Libraries) -> None:
    library, _ = profiles["biomed"]
    answer = library.call("core_query", query="heart attack")
    assert answer["answer"].startswith("AMI was treated with alteplase.")


def test_words_alone_find_what_they_did(profiles: Libraries) -> None:
    for profile in profiles:
        assert found(profiles, profile, "sandy soil") == (["second"], ["second"])
