"""Finding figures, tables and pages."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from visual_library import SETTINGS, Seen
from visual_samples import draw_report
from visual_set import SHARED, by_text, fill, iou, measure, visually

from eagle_rag_core.catalog import collections
from eagle_rag_core.errors import EagleError, ErrorCode, NotFound
from eagle_rag_core.retrieval.visual import VisualRetriever
from eagle_rag_core.service.visual import VisualOutcome
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import (
    COMMAND_LINE,
    LOCAL,
    Box,
    Caller,
    Condition,
    Expansion,
    FilterOp,
    QueryExpander,
    Scope,
    ScopeRequest,
)

REMOTE = Caller("remote", kbs=frozenset({"other"}))


def search(
    library: PackLibrary, query: str, caller: Caller = LOCAL, top_k: int = 5, **scope: object
) -> VisualOutcome:
    request = ScopeRequest(**scope)  # type: ignore[arg-type]
    return library.app.services().visual.search(caller, query, top_k=top_k, request=request)


@pytest.mark.parametrize("shared", [False, True])
def test_questions_find_their_page_and_region(tmp_path: Path, shared: bool) -> None:
    if shared and not SHARED.is_dir():
        pytest.skip("the shared documents are not here")
    with PackLibrary(tmp_path / "home", settings=SETTINGS) as library:
        questions = fill(library, tmp_path / "drawn", shared=shared)
        found = measure(questions, visually(library))
        text = measure(questions, by_text(library))
    assert found.questions >= (60 if shared else 40)
    assert found.at_5 >= 0.9
    assert found.at_5 >= text.at_5
    assert found.region_at_1 >= 0.9, "pages hide what is on them"
    assert found.overlap >= 0.8


def test_a_hit_says_what_it_is_and_where(seen: Seen) -> None:
    (hit, *others) = search(seen.library, "pigment malachite").hits
    place = seen.places["paint"]
    assert (hit.document_id, hit.kb_name, hit.page) == (seen.report, "town", place.page)
    assert iou(Box.parse(hit.position), place.box) > 0.5
    assert (hit.kind, hit.matched_by, hit.score) == ("table", "text", 1.0)
    assert "Urals" in hit.text and hit.caption.startswith("Table 6")
    assert all(hit.score >= other.score for other in others)
    assert len({other.image_id for other in (hit, *others)}) == len(others) + 1


def test_a_picture_without_words_is_found_by_its_caption(seen: Seen) -> None:
    (hit, *_) = search(seen.library, "rings of the antenna dish").hits
    assert (hit.kind, hit.matched_by) == ("figure", "caption")
    assert hit.page == seen.places["dish"].page


def test_scope_and_filter_and_rights_hold(seen: Seen) -> None:
    library = seen.library
    assert search(library, "dairies", kb_name="town").hits
    assert search(library, "dairies", kb_name="other").hits == (), "a text has no tiles"
    assert search(library, "dairies", documents=(seen.report,)).hits
    assert search(library, "dairies", filter=(Condition("title", FilterOp.EQ, "no"),)).hits == ()
    assert search(library, "dairies", REMOTE).hits == ()
    with pytest.raises(NotFound):
        search(library, "dairies", REMOTE, kb_name="town")
    assert len(search(library, "the", top_k=2).hits) <= 2


def test_a_picture_is_refused_where_pixels_are_not_compared(seen: Seen) -> None:
    service = seen.library.app.services().visual
    with pytest.raises(EagleError) as caught:
        service.search(LOCAL, "x", top_k=1, request=ScopeRequest(), image=b"png")
    assert caught.value.code is ErrorCode.MODE_UNAVAILABLE


def test_what_is_deleted_is_found_no_more(tmp_path: Path) -> None:
    draw_report(tmp_path / "report.pdf")
    with PackLibrary(tmp_path / "home", settings=SETTINGS) as library:
        (report,) = library.ingest(tmp_path / "report.pdf")
        assert search(library, "antenna dish").hits
        library.app.services().kbs.create(LOCAL, "copy")
        copied = library.app.services().upkeep.kb_copy.copy(LOCAL, "default", "copy")
        assert copied.copied == 1
        assert search(library, "antenna dish", kb_name="copy").hits
        library.app.services().documents.delete(COMMAND_LINE, report)
        assert {hit.kb_name for hit in search(library, "antenna dish").hits} == {"copy"}


def test_another_text_embedder_takes_the_regions_along(tmp_path: Path) -> None:
    draw_report(tmp_path / "report.pdf")
    home = tmp_path / "home"
    with PackLibrary(home, settings=SETTINGS) as library:
        library.ingest(tmp_path / "report.pdf")
        library.app.services().upkeep.embedders.run("minilm-int8")
        assert search(library, "antenna dish").hits, "by words"
    settings = {**SETTINGS, "models": {"text_embedder": "minilm-int8", "ocr": "none"}}
    with PackLibrary(home, settings=settings) as library:
        engine = library.app.engine()
        assert library.app.services().upkeep.embedders.outdated() == []
        with engine.catalog.read() as conn:
            active = collections.active_collection(conn, engine.catalog.namespace, "visual")
        assert active is not None and active.embedder == "minilm-int8"
        outcome = search(library, "something that listens to satellites")
        assert ("dense", "ok") in {(step.name, step.status) for step in outcome.steps}
        library.ingest(tmp_path / "report.pdf", kb_name="again")


def test_expanders_of_packs_add_words_weights_and_filters(seen: Seen) -> None:
    def found(**expansion: object) -> VisualOutcome:
        expander = QueryExpander("words", lambda query: Expansion(**expansion))  # type: ignore[arg-type]
        parts = replace(seen.library.app.engine().visual._parts, expanders=(expander,))
        with closing(VisualRetriever(parts)) as retriever:
            return retriever.search("zzz", Scope(kbs=frozenset({"town"})), 1)

    assert found().hits == ()
    (hit,) = found(terms=["malachite"]).hits
    assert hit.page == seen.places["paint"].page
    assert found(terms=["malachite"]).steps[0].name == "expand:words"
    assert found(terms=["malachite"], leg_weights={"lexical": 0.0}).hits == ()
    nothing = Condition("title", FilterOp.EQ, "no such title")
    assert found(terms=["malachite"], filters=[nothing]).hits == ()
