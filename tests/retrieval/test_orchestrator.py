"""Searches over a real catalog and the local vector store."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from small_library import SmallLibrary, WordEmbedder

from eagle_rag_core.catalog import documents, passages
from eagle_rag_core.errors import CallTimeout, ConfigError, InvalidArgument, StorageError
from eagle_rag_core.types import (
    COMMAND_LINE,
    Caller,
    Condition,
    Expansion,
    FilterOp,
    Hit,
    Leg,
    LegRequest,
    QueryExpander,
    Reranker,
    Scope,
    ScoredNode,
    acting_for,
    current_caller,
)

WINGS = """# Wings

A wing deflects air downwards and so creates lift.

The stall angle of a thin wing is small.

# Engines

A turbojet compresses air, burns fuel and ejects the gas.

# Tails

The tail keeps the aeroplane steady in pitch.
"""


def node_ids(library: SmallLibrary, document_id: str) -> list[str]:
    """Ids of the document's visible chunks in reading order."""
    with library.catalog.read() as conn:
        found = [
            chunk
            for section in passages.document_sections(conn, document_id)
            for chunk in passages.section_chunks(
                conn, [(version_of(library, document_id), section.ordinal)]
            )[version_of(library, document_id), section.ordinal]
        ]
    return [chunk.node_id for chunk in found]


def version_of(library: SmallLibrary, document_id: str) -> str:
    with library.catalog.read() as conn:
        visible = documents.visible_version(conn, document_id)
    assert visible is not None
    return visible.version_id


def step(outcome: Any, name: str) -> Any:
    (found,) = [one for one in outcome.steps if one.name == name]
    return found


def giving(*nodes: str) -> Any:
    return lambda request: [ScoredNode(node_id, 1.0) for node_id in nodes]


# -- the plain search --------------------------------------------------------------------------


def test_a_hit_says_all_about_its_passage(library: SmallLibrary) -> None:
    document_id = library.add("file:///wings.md", WINGS, source_type="manual")
    hit = library.orchestrator().search("what creates lift", library.everything(), 1).hits[0]
    assert hit.text == WINGS[hit.start : hit.end]
    assert hit.text.startswith("# Wings") and hit.text.endswith("is small.")
    assert replace(hit, text="", start=0, end=0) == Hit(
        node_id=hit.node_id,
        document_id=document_id,
        kb_name="default",
        text="",
        score=1.0,
        start=0,
        end=0,
        path="Wings",
        level=1,
        summary="About Wings.",
        title="Title of file:///wings.md",
        source_uri="file:///wings.md",
        source_type="manual",
        page=1,
        why={"dense": 1, "lexical": 1},
    )


def test_steps_say_what_each_part_did(library: SmallLibrary) -> None:
    library.add("a", WINGS)
    outcome = library.orchestrator().search("wing", library.everything(), 2)
    assert [(one.name, one.status) for one in outcome.steps] == [
        ("dense", "ok"),
        ("lexical", "ok"),
        ("select", "ok"),
    ]
    assert step(outcome, "select").count == len(outcome.hits) == 2
    assert outcome.terms == ("wing",)
    assert outcome.similarity is not None and 0 < outcome.similarity <= 1


def test_expansion_never_leaves_the_section_and_text_is_exact(library: SmallLibrary) -> None:
    text = "Preface about air.\n\n \n\nMore   air.\n" + WINGS
    library.add("a", text)
    outcome = library.orchestrator(expand_chars=100_000).search(
        "air wing tail turbojet preface", library.everything(), 10
    )
    assert [hit.text for hit in sorted(outcome.hits, key=lambda hit: hit.start)] == [
        "Preface about air.\n\n \n\nMore   air.",
        WINGS[: WINGS.index("\n\n# Engines")],
        WINGS[WINGS.index("# Engines") : WINGS.index("\n\n# Tails")],
        WINGS[WINGS.index("# Tails") :].rstrip(),
    ]
    assert all(text[hit.start : hit.end] == hit.text for hit in outcome.hits)


def test_pages_are_known_inside_a_widened_hit(library: SmallLibrary) -> None:
    text = "First page on flutter.\n\n\f\n\nSecond page on flutter too."
    library.add("a", text)
    outcome = library.orchestrator().search("flutter", library.everything(), 1)
    (hit,) = outcome.hits
    assert (hit.start, hit.end) == (0, len(text))
    assert outcome.page_at(hit.node_id, 3) == 1
    assert outcome.page_at(hit.node_id, text.index("Second")) == 2
    assert outcome.page_at("unknown", 3) == 0


def test_chinese_is_found_by_words_although_the_embedder_does_not_know_it(
    library: SmallLibrary,
) -> None:
    library.add("zh", "黑豹队的防守只丢了308分。")
    library.add("zh2", "飞机的机翼产生升力。")
    outcome = library.orchestrator().search("防守丢了多少分", library.everything(), 5)
    assert outcome.hits[0].source_uri == "zh"
    assert step(outcome, "dense").status == "skipped"
    assert outcome.similarity is None


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_is_refused(library: SmallLibrary, query: str) -> None:
    with pytest.raises(InvalidArgument):
        library.orchestrator().search(query, library.everything(), 5)


def test_top_k_below_one_is_refused(library: SmallLibrary) -> None:
    with pytest.raises(InvalidArgument):
        library.orchestrator().search("wing", library.everything(), 0)


@pytest.mark.parametrize(
    "query", ["'; DROP TABLE chunks; --", "\x00\ud800", "a" * 8000, "😀", "() AND OR NOT *", "%_\\"]
)
def test_every_query_is_data(library: SmallLibrary, query: str) -> None:
    library.add("a", WINGS)
    outcome = library.orchestrator().search(query, library.everything(), 3)
    assert all(hit.source_uri == "a" for hit in outcome.hits)


def test_nothing_ingested_is_said(library: SmallLibrary) -> None:
    index = library.index(active=lambda: None)
    outcome = library.orchestrator(index=index).search("wing", library.everything(), 3)
    assert outcome.hits == ()
    assert "ingested" in step(outcome, "lexical").detail


def test_many_threads_get_the_same_answer(library: SmallLibrary) -> None:
    for number in range(20):
        library.add(f"{number}", f"{WINGS}\n\nNumber {number} wing")
    search = library.orchestrator(legs=(Leg("pack", giving()),)).search
    expected = search("wing lift", library.everything(), 10).hits
    with ThreadPoolExecutor(8) as pool:
        found = [pool.submit(search, "wing lift", library.everything(), 10) for _ in range(80)]
        assert all(future.result().hits == expected for future in found)


# -- scope ------------------------------------------------------------------------------------


def test_an_empty_scope_holds_nothing_and_says_so(library: SmallLibrary) -> None:
    library.add("a", WINGS)
    outcome = library.orchestrator().search("wing", Scope(), 5)
    assert outcome.hits == ()
    assert step(outcome, "scope").status == "skipped"


def test_only_the_scope_is_searched(library: SmallLibrary) -> None:
    library.add("mine", WINGS, kb="mine")
    theirs = library.add("theirs", WINGS, kb="theirs")
    search = library.orchestrator().search
    assert {hit.kb_name for hit in search("wing", library.everything("mine"), 9).hits} == {"mine"}
    one = Scope(documents=frozenset({theirs}))
    assert {hit.document_id for hit in search("wing", one, 9).hits} == {theirs}
    both = Scope(frozenset({"mine"}), frozenset({theirs}))
    assert {hit.kb_name for hit in search("wing", both, 9).hits} == {"mine", "theirs"}


def test_a_packs_leg_cannot_bring_in_what_the_scope_does_not_hold(library: SmallLibrary) -> None:
    library.add("mine", WINGS, kb="mine")
    secret = library.add("secret", WINGS, kb="secret")
    invented = ["f" * 32, "", "'; --", "\ud800", "\x00"]
    stolen = node_ids(library, secret)
    outcome = library.orchestrator(legs=(Leg("thief", giving(*stolen, *invented)),)).search(
        "wing", library.everything("mine"), 10
    )
    assert {hit.kb_name for hit in outcome.hits} == {"mine"}
    assert all("thief" not in hit.why for hit in outcome.hits)
    thief = step(outcome, "thief")
    assert thief.count == 0
    assert f"{len(stolen) + len(invented)} passages outside the scope" in thief.detail


def test_dropped_nodes_leave_no_trace_in_ranks_and_scores(library: SmallLibrary) -> None:
    mine = library.add("mine", WINGS, kb="mine")
    secret = library.add("secret", WINGS, kb="secret")
    tail = node_ids(library, mine)[-1]
    leg = Leg("mixed", giving(*node_ids(library, secret), tail), weight=10.0)
    outcome = library.orchestrator(legs=(leg,)).search(
        "aeroplane steady in pitch", library.everything("mine"), 1
    )
    assert outcome.hits[0].why["mixed"] == 1
    assert outcome.hits[0].score == 1.0


# -- versions ---------------------------------------------------------------------------------


class Lagging:
    """A store that still finds the nodes of versions nobody sees any more, ahead of the rest."""

    def __init__(self, store: Any, ghosts: Sequence[str]) -> None:
        self._store = store
        self._ghosts = [ScoredNode(node_id, 9.0) for node_id in ghosts]
        self.limits: list[int] = []

    def search_dense(self, collection: Any, vector: Any, scope: Any, limit: int) -> Any:
        self.limits.append(limit)
        return [*self._ghosts, *self._store.search_dense(collection, vector, scope, limit)][:limit]

    def search_lexical(self, collection: Any, tokens: Any, scope: Any, limit: int) -> Any:
        return [*self._ghosts, *self._store.search_lexical(collection, tokens, scope, limit)][
            :limit
        ]


def test_a_replaced_version_is_never_seen_and_its_place_is_refilled(library: SmallLibrary) -> None:
    document_id = library.add("a", "wing " * 9)
    old = node_ids(library, document_id)
    library.add("a", "wing and tail")
    for number in range(4):
        library.add(f"b{number}", f"wing {number}")
    ghosts = [*old, *(f"{number:032x}" for number in range(70))]
    lagging = Lagging(library.store, ghosts)
    outcome = library.orchestrator(
        index=library.index(store=lagging), min_candidates=10, overfetch=1
    ).search("wing", library.everything(), 5)
    assert len(outcome.hits) == 5
    assert not {hit.node_id for hit in outcome.hits} & set(ghosts)
    assert lagging.limits == [10, 20, 40, 80]
    assert min(rank for hit in outcome.hits for rank in hit.why.values()) == 1
    assert "dropped" in step(outcome, "dense").detail


def test_refilling_is_bounded(library: SmallLibrary) -> None:
    library.add("a", "wing")
    lagging = Lagging(library.store, [f"{number:032x}" for number in range(10_000)])
    outcome = library.orchestrator(
        index=library.index(store=lagging), min_candidates=10, overfetch=1
    ).search("wing", library.everything(), 5)
    assert outcome.hits == ()
    assert lagging.limits == [10, 20, 40, 80]


def test_a_version_switched_in_the_middle_of_a_search_is_found_anew(library: SmallLibrary) -> None:
    library.add("a", "wing one")
    store = library.store

    class Switching:
        """Publishes another version right after the first answer of each kind."""

        switched = False

        def search_lexical(self, *query: Any) -> Any:
            found = store.search_lexical(*query)
            if not self.switched:
                self.switched = True
                library.add("a", "wing two")
            return found

        def search_dense(self, *query: Any) -> Any:
            return [] if not self.switched else store.search_dense(*query)

    index = library.index(store=Switching())
    outcome = library.orchestrator(index=index).search("wing", library.everything(), 5)
    assert [hit.text for hit in outcome.hits] == ["wing two"]


def test_a_full_leg_is_asked_for_more_when_its_nodes_share_windows(library: SmallLibrary) -> None:
    library.add("long", "\n\n".join(["wing wing wing"] * 12))
    for number in range(3):
        library.add(f"short{number}", f"wing with many other words around it {number}")
    outcome = library.orchestrator(min_candidates=4, overfetch=1).search(
        "wing", library.everything(), 4
    )
    assert len({hit.source_uri for hit in outcome.hits}) == 4


# -- legs that fail ---------------------------------------------------------------------------


def test_a_failing_leg_is_skipped_and_reported_without_its_words(library: SmallLibrary) -> None:
    library.add("a", WINGS)

    def fail(request: LegRequest) -> Any:
        raise RuntimeError("password=hunter2")

    outcome = library.orchestrator(legs=(Leg("bad", fail),)).search("wing", library.everything(), 2)
    assert len(outcome.hits) == 2
    assert step(outcome, "bad").status == "failed"
    assert "hunter2" not in repr(outcome)


def test_a_hanging_leg_costs_its_own_time_only(library: SmallLibrary) -> None:
    library.add("a", WINGS)
    release = threading.Event()
    orchestrator = library.orchestrator(
        legs=(Leg("hangs", lambda request: release.wait()),), leg_timeout=0.05
    )
    outcomes = [orchestrator.search("wing", library.everything(), 2) for _ in range(3)]
    assert orchestrator.stuck() == {"hangs": 2}
    release.set()
    assert all(len(outcome.hits) == 2 for outcome in outcomes)
    details = [step(outcome, "hangs").detail for outcome in outcomes]
    assert "in time" in details[0] and "still hang" in details[2]
    orchestrator.close()


def test_a_hanging_store_is_given_up_when_it_is_not_in_process(library: SmallLibrary) -> None:
    release = threading.Event()

    class Hanging:
        def search_dense(self, *query: Any) -> Any:
            release.wait()

        def search_lexical(self, *query: Any) -> Any:
            release.wait()

    index = library.index(store=Hanging(), in_process=False)
    with pytest.raises(CallTimeout):
        library.orchestrator(index=index, leg_timeout=0.05).search("wing", library.everything(), 2)
    release.set()


def test_an_embedder_that_fails_leaves_the_lexical_search(library: SmallLibrary) -> None:
    library.add("a", WINGS)

    class Broken(WordEmbedder):
        def embed_query(self, text: str) -> Any:
            raise OSError("no route to host")

    index = library.index(embedder=Broken())
    outcome = library.orchestrator(index=index).search("wing", library.everything(), 2)
    assert step(outcome, "dense").status == "failed"
    assert outcome.hits and all(set(hit.why) == {"lexical"} for hit in outcome.hits)


def test_when_every_leg_fails_the_search_fails_instead_of_finding_nothing(
    library: SmallLibrary,
) -> None:
    class Broken:
        def search_dense(self, *query: Any) -> Any:
            raise OSError("10.0.0.7 refused")

        search_lexical = search_dense

    index = library.index(store=Broken())
    with pytest.raises(StorageError) as caught:
        library.orchestrator(index=index).search("wing", library.everything(), 2)
    assert "10.0.0.7" not in caught.value.message and "OSError" in caught.value.message


def test_a_call_whose_time_is_up_says_so(library: SmallLibrary) -> None:
    library.add("a", WINGS)
    with pytest.raises(CallTimeout):
        library.orchestrator().search(
            "wing", library.everything(), 2, deadline=time.monotonic() - 1
        )


def test_legs_know_the_caller(library: SmallLibrary) -> None:
    library.add("a", WINGS)
    seen: list[Caller] = []

    def note(request: LegRequest) -> Any:
        seen.append(current_caller())
        return []

    with acting_for(COMMAND_LINE):
        library.orchestrator(legs=(Leg("pack", note),)).search("wing", library.everything(), 2)
    assert seen == [COMMAND_LINE]


@pytest.mark.parametrize("names", [["dense"], ["lexical"], ["pack", "pack"]])
def test_legs_with_the_same_name_are_refused(library: SmallLibrary, names: list[str]) -> None:
    with pytest.raises(ConfigError):
        library.orchestrator(legs=tuple(Leg(name, giving()) for name in names))


def test_a_packs_leg_counts_by_rank_and_weight(library: SmallLibrary) -> None:
    document_id = library.add("a", WINGS)
    tail = node_ids(library, document_id)[-1]
    leg = Leg("pack", lambda request: [ScoredNode(tail, -1e9)], weight=5.0)
    outcome = library.orchestrator(legs=(leg,)).search("lift", library.everything(), 1)
    assert outcome.hits[0].node_id == tail
    assert outcome.hits[0].why["pack"] == 1


# -- expanders --------------------------------------------------------------------------------


def expanding(**fields: Any) -> tuple[QueryExpander, ...]:
    return (QueryExpander("pack", lambda query: Expansion(**fields)),)


def test_terms_of_an_expander_are_looked_up(library: SmallLibrary) -> None:
    library.add("a", "myocardial infarction")
    library.add("b", "something else")
    outcome = library.orchestrator(
        expanders=expanding(terms=["myocardial infarction"]), index=library.index(embedder=_none())
    ).search("heart attack", library.everything(), 5)
    assert [hit.source_uri for hit in outcome.hits] == ["a"]
    assert outcome.terms == ("heart", "attack", "myocardi", "infarct")
    assert step(outcome, "expand:pack").count == 1


def _none() -> Any:
    embedder = WordEmbedder()
    embedder.dim = 0
    return embedder


def test_an_expander_weighs_legs(library: SmallLibrary) -> None:
    library.add("a", WINGS)
    outcome = library.orchestrator(expanders=expanding(leg_weights={"dense": 0.0})).search(
        "wing", library.everything(), 2
    )
    assert step(outcome, "dense").status == "skipped"
    assert all(set(hit.why) == {"lexical"} for hit in outcome.hits)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), 11.0, "much"])
def test_an_impossible_weight_is_ignored_and_reported(library: SmallLibrary, weight: Any) -> None:
    library.add("a", WINGS)
    outcome = library.orchestrator(expanders=expanding(leg_weights={"dense": weight})).search(
        "wing", library.everything(), 2
    )
    assert step(outcome, "expand:pack").status == "failed"
    assert outcome.hits[0].why == {"dense": 1, "lexical": 1}


def test_filters_of_an_expander_narrow_the_scope_and_never_widen_it(library: SmallLibrary) -> None:
    library.add("a", WINGS, source_type="manual")
    library.add("b", WINGS, source_type="paper")
    library.add("c", WINGS, source_type="paper", kb="other")
    paper = Condition("source_type", FilterOp.EQ, "paper")
    outcome = library.orchestrator(expanders=expanding(filters=[paper])).search(
        "wing", library.everything(), 9
    )
    assert {hit.source_uri for hit in outcome.hits} == {"b"}


def test_filters_that_leave_nothing_are_reported(library: SmallLibrary) -> None:
    library.add("a", WINGS)
    never = Condition("source_type", FilterOp.EQ, "never")
    outcome = library.orchestrator(expanders=expanding(filters=[never])).search(
        "wing", library.everything(), 9
    )
    assert outcome.hits == ()
    assert step(outcome, "scope").status == "skipped"


def test_a_bad_filter_of_an_expander_is_ignored_and_reported(library: SmallLibrary) -> None:
    library.add("a", WINGS)
    bad = Condition("password", FilterOp.EQ, "x")
    outcome = library.orchestrator(expanders=expanding(filters=[bad], terms=["tail"])).search(
        "wing", library.everything(), 9
    )
    assert outcome.hits
    assert step(outcome, "expand:pack").status == "failed"
    assert outcome.terms == ("wing",)


def test_a_hanging_expander_is_given_up(library: SmallLibrary) -> None:
    library.add("a", WINGS)
    release = threading.Event()
    hangs = QueryExpander("slow", lambda query: release.wait())  # type: ignore[arg-type,return-value]
    outcome = library.orchestrator(expanders=(hangs,), leg_timeout=0.05).search(
        "wing", library.everything(), 9
    )
    release.set()
    assert outcome.hits
    assert "in time" in step(outcome, "expand:slow").detail


# -- rerankers --------------------------------------------------------------------------------


def fill(library: SmallLibrary, count: int = 8) -> None:
    for number in range(count):
        library.add(f"d{number}", f"wing number {number}")


def reranking(function: Any) -> tuple[Reranker, ...]:
    return (Reranker("pack", function),)


def test_a_reranker_orders_more_than_is_returned(library: SmallLibrary) -> None:
    fill(library)
    plain = library.orchestrator().search("wing", library.everything(), 8).hits
    turned = library.orchestrator(
        rerankers=reranking(lambda query, hits: list(reversed(hits)))
    ).search("wing", library.everything(), 3)
    assert turned.hits == tuple(reversed(plain))[:3]
    assert step(turned, "rerank:pack").count == 8


def test_hits_a_reranker_invents_changes_or_repeats_are_ignored(library: SmallLibrary) -> None:
    fill(library, 3)
    plain = library.orchestrator().search("wing", library.everything(), 3).hits

    def forge(query: str, hits: Sequence[Hit]) -> list[Any]:
        hits[0].why["forged"] = 1
        foreign = replace(hits[2], node_id="0" * 32)
        return [foreign, replace(hits[1], text="forged"), hits[2], hits[2], "junk"]

    outcome = library.orchestrator(rerankers=reranking(forge)).search(
        "wing", library.everything(), 3
    )
    assert outcome.hits == (plain[2], plain[0], plain[1])
    assert "4 hits" in step(outcome, "rerank:pack").detail


@pytest.mark.parametrize("result", [[], None, 7])
def test_a_reranker_that_returns_nothing_loses_nothing(library: SmallLibrary, result: Any) -> None:
    fill(library, 3)
    plain = library.orchestrator().search("wing", library.everything(), 3).hits
    outcome = library.orchestrator(rerankers=reranking(lambda query, hits: result)).search(
        "wing", library.everything(), 3
    )
    assert outcome.hits == plain


def test_a_failing_reranker_changes_nothing(library: SmallLibrary) -> None:
    fill(library, 3)

    def fail(query: str, hits: Sequence[Hit]) -> list[Hit]:
        raise ValueError("secret")

    outcome = library.orchestrator(rerankers=reranking(fail)).search(
        "wing", library.everything(), 3
    )
    assert len(outcome.hits) == 3
    assert step(outcome, "rerank:pack").status == "failed"
    assert "secret" not in repr(outcome)
