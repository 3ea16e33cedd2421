"""What every vector backend must do."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from vector_library import DIM, Library, documents, embed, ids, kbs, version_of

from eagle_rag_core.catalog import kb_changes
from eagle_rag_core.catalog import kbs as known
from eagle_rag_core.types import Scope
from eagle_rag_core.vectors.store import Collection

EVERYTHING = kbs("a", "b")


def test_a_written_node_is_found_by_its_vector_and_its_words(library: Library) -> None:
    library.write(version_of("v1", ["turbulent boundary layer", "laminar flow", "shock wave"]))

    nearest = library.dense("laminar flow", EVERYTHING)
    assert ids(nearest)[0] == "v1-0001"
    assert nearest[0].score == pytest.approx(1.0, abs=1e-5)
    assert [node.score for node in nearest] == sorted((n.score for n in nearest), reverse=True)
    assert ids(library.lexical("boundary", EVERYTHING)) == ["v1-0000"]


def test_nothing_was_written_yet(library: Library) -> None:
    assert library.dense("anything", EVERYTHING) == []
    assert library.lexical("anything", EVERYTHING) == []
    assert library.count(EVERYTHING) == 0


def test_a_retired_version_is_gone_after_its_grace(library: Library) -> None:
    library.write(version_of("v1", ["wing flutter"]), version_of("v2", ["wing stall"]))
    library.retire("v1")
    library.let_grace_pass()

    assert ids(library.lexical("wing", EVERYTHING)) == ["v2-0000"]
    assert ids(library.dense("wing flutter", EVERYTHING)) == ["v2-0000"]
    assert library.count(EVERYTHING) == 1


def test_retiring_what_was_never_written_does_nothing(library: Library) -> None:
    library.write(version_of("v1", ["wing flutter"]))
    library.retire("v0")
    library.retire()
    library.let_grace_pass()
    assert library.count(EVERYTHING) == 1


def test_a_version_that_comes_back_survives_its_retirement(library: Library) -> None:
    first, second = version_of("v1", ["wing flutter"]), version_of("v2", ["wing stall"])
    library.write(first)
    library.write(second)
    library.retire("v1")
    library.write(first)
    library.retire("v2")
    library.let_grace_pass()

    assert ids(library.lexical("wing", EVERYTHING)) == ["v1-0000"]
    assert ids(library.dense("wing stall", EVERYTHING)) == ["v1-0000"]


def test_writing_a_version_again_changes_nothing(library: Library) -> None:
    version = version_of("v1", ["wing flutter", "wing stall"])
    library.write(version)
    before = library.lexical("wing stall", EVERYTHING)
    library.write(version)

    assert library.count(EVERYTHING) == 2
    assert ids(library.dense("wing stall", EVERYTHING)) == ["v1-0001", "v1-0000"]
    assert ids(library.lexical("wing stall", EVERYTHING)) == ids(before)


def test_writing_a_version_differently_replaces_it(library: Library) -> None:
    library.write(version_of("v1", ["wing flutter", "wing stall", "wing load"]))
    library.write(version_of("v1", ["fin flutter"], prefix="other"))

    assert library.count(EVERYTHING) == 1
    assert library.lexical("wing", EVERYTHING) == []
    assert ids(library.lexical("fin", EVERYTHING)) == ["other-0000"]

    library.write(version_of("v1", []))
    assert library.count(EVERYTHING) == 0


def test_what_is_only_staged_is_gone_after_its_grace(library: Library) -> None:
    library.write(version_of("v1", ["wing flutter"]))
    library.store.stage(library.collection, version_of("v2", ["wing stall"]))
    library.let_grace_pass()

    assert ids(library.lexical("wing", EVERYTHING)) == ["v1-0000"]
    assert library.count(EVERYTHING) == 1


def test_the_last_staging_of_a_version_counts(library: Library) -> None:
    library.store.stage(library.collection, version_of("v1", ["wing flutter", "wing stall"]))
    library.write(version_of("v1", ["fin flutter"], prefix="other"))
    library.let_grace_pass()

    assert ids(library.lexical("flutter", EVERYTHING)) == ["other-0000"]
    assert library.count(EVERYTHING) == 1


def test_a_transaction_publishes_one_version_and_retires_another(library: Library) -> None:
    library.write(version_of("v1", ["wing flutter"]))
    with library.publishing(version_of("v2", ["wing stall"])) as tx:
        library.store.retire(tx, library.collection, ["v1"])
    library.let_grace_pass()
    assert ids(library.lexical("wing", EVERYTHING)) == ["v2-0000"]

    with pytest.raises(RuntimeError), library.publishing(version_of("v3", ["wing load"])) as tx:
        library.store.retire(tx, library.collection, ["v2"])
        raise RuntimeError
    library.let_grace_pass()
    assert ids(library.lexical("wing", EVERYTHING)) == ["v2-0000"]


def test_scopes_are_unions_of_knowledge_bases_and_documents(library: Library) -> None:
    library.write(
        version_of("v1", ["jet noise"], kb="a"),
        version_of("v2", ["jet engine"], kb="b"),
        version_of("v3", ["jet stream"], kb="b"),
        version_of("v4", ["jet lag"], kb="c"),
    )
    both = Scope(kbs=frozenset({"a"}), documents=frozenset({"doc-v3"}))
    overlapping = Scope(kbs=frozenset({"b"}), documents=frozenset({"doc-v3"}))
    expected = {
        kbs("a"): {"v1-0000"},
        kbs("a", "c"): {"v1-0000", "v4-0000"},
        documents("doc-v2"): {"v2-0000"},
        documents("doc-v2", "doc-v4"): {"v2-0000", "v4-0000"},
        both: {"v1-0000", "v3-0000"},
        overlapping: {"v2-0000", "v3-0000"},
        kbs("unknown"): set(),
        documents("unknown"): set(),
        Scope(): set(),
    }
    for scope, nodes in expected.items():
        assert set(ids(library.dense("jet engine", scope))) == nodes, scope
        assert set(ids(library.lexical("jet", scope))) == nodes, scope
        assert library.count(scope) == len(nodes), scope


def test_a_narrow_scope_fills_the_limit(library: Library) -> None:
    library.write(
        *(
            version_of(
                f"v{n}", [f"common word{n} part{i}" for i in range(250)], document=f"crowd{n}"
            )
            for n in range(16)
        ),
        version_of("few", [f"common rare part{i}" for i in range(4)], document="few"),
    )
    scope = documents("few")  # 0.1 % of the rows
    wanted = {"few-0000", "few-0001", "few-0002", "few-0003"}
    # The query is nearest to rows outside of the scope.
    assert set(ids(library.dense("common word3 part7", scope, limit=4))) == wanted
    assert set(ids(library.lexical("common", scope, limit=4))) == wanted


def test_hits_never_leave_the_scope(library: Library) -> None:
    pick = random.Random(5)
    versions = [
        version_of(f"v{n}", [f"flow term{pick.randrange(9)}" for _ in range(5)], kb=f"kb{n % 4}")
        for n in range(20)
    ]
    library.write(*versions)
    for _ in range(20):
        chosen_kbs = frozenset(pick.sample([f"kb{i}" for i in range(4)], pick.randrange(3)))
        chosen = frozenset(pick.sample([v.document_id for v in versions], pick.randrange(4)))
        inside = {
            node_id
            for v in versions
            if v.kb_name in chosen_kbs or v.document_id in chosen
            for node_id in v.node_ids
        }
        scope = Scope(kbs=chosen_kbs, documents=chosen)
        assert set(ids(library.dense("flow term3", scope, limit=200))) == inside
        assert set(ids(library.lexical("flow", scope, limit=200))) == inside


@pytest.mark.parametrize(
    ("query", "node"),
    [
        ("IL-6", "v1-0000"),
        ("v2.3.1", "v1-0001"),
        ("node.js", "v1-0002"),
        ("foo_bar", "v1-0003"),
        ("湍流", "v1-0004"),
        ("getUserName", "v1-0005"),
    ],
)
def test_identifiers_and_chinese_are_found_whole(library: Library, query: str, node: str) -> None:
    library.write(
        version_of(
            "v1",
            [
                "serum IL-6 was raised",
                "fixed in v2.3.1 only",
                "a node.js service",
                "call foo_bar twice",
                "边界层湍流的研究",
                "getUserName returns text",
                "IL and 6, version 2 3 1, node js, foo bar, 流 湍, get user name",
            ],
        )
    )
    assert ids(library.lexical(query, EVERYTHING))[0] == node


def test_rows_without_any_query_word_are_not_hits(library: Library) -> None:
    library.write(version_of("v1", ["wing flutter", "fin stall", ""]))
    assert ids(library.lexical("flutter nonsense", EVERYTHING)) == ["v1-0000"]
    assert library.lexical("nonsense", EVERYTHING) == []
    assert library.lexical("", EVERYTHING) == []
    assert all(node.score > 0 for node in library.lexical("wing fin", EVERYTHING))


def test_the_limit_holds(library: Library) -> None:
    library.write(version_of("v1", [f"wing number{i}" for i in range(30)]))
    assert len(library.dense("wing", EVERYTHING, limit=7)) == 7
    assert len(library.lexical("wing", EVERYTHING, limit=7)) == 7
    assert library.dense("wing", EVERYTHING, limit=0) == []
    assert library.lexical("wing", EVERYTHING, limit=0) == []


def test_equal_scores_come_in_order_of_node_id(library: Library) -> None:
    library.write(version_of("v2", ["same words"] * 3), version_of("v1", ["same words"] * 3))
    expected = [f"v{v}-{i:04d}" for v in (1, 2) for i in range(3)]
    assert ids(library.dense("same words", EVERYTHING)) == expected
    assert ids(library.lexical("same words", EVERYTHING)) == expected


NASTY = [
    '" or kb_name != "',
    "\\",
    '\\" or true or "',
    "a' or 1 == 1",
    "line\nbreak",
    "tab\tand\rreturn",
    "{name}",
    "%",
    "湍流 ☃ 🛩",
    "\u2028",
]


@pytest.mark.parametrize("name", NASTY)
def test_names_are_data(library: Library, name: str) -> None:
    library.write(
        version_of("v1", ["jet noise"], kb=name, document=name),
        version_of("v2", ["jet engine"], kb="a", document="other"),
    )
    for scope in (kbs(name), documents(name)):
        assert ids(library.dense("jet engine", scope)) == ["v1-0000"]
        assert ids(library.lexical("jet", scope)) == ["v1-0000"]
        assert library.count(scope) == 1


def test_a_nasty_version_can_be_retired_alone(library: Library) -> None:
    library.write(version_of(NASTY[0], ["jet noise"]), version_of("v2", ["jet engine"]))
    library.retire(NASTY[0])
    library.let_grace_pass()
    assert ids(library.lexical("jet", EVERYTHING)) == ["v2-0000"]


def test_collections_are_separate(library: Library) -> None:
    library.write(version_of("v1", ["jet noise"]))
    collection = replace(library.collection, name=f"{library.collection.name}_other")
    other = replace(library, collection=collection)
    other.write(version_of("v2", ["jet engine"]))
    assert ids(library.lexical("jet", EVERYTHING)) == ["v1-0000"]
    assert ids(other.lexical("jet", EVERYTHING)) == ["v2-0000"]
    other.retire("v2")
    other.let_grace_pass()
    assert library.count(EVERYTHING) == 1


def test_a_lexical_only_collection_has_no_vectors(library: Library) -> None:
    plain = replace(library, collection=replace(library.collection, dim=0))
    plain.write(version_of("v1", ["jet noise", "wing stall"], dim=0))
    assert ids(plain.lexical("wing", EVERYTHING)) == ["v1-0001"]
    assert plain.store.search_dense(plain.collection, embed("wing"), EVERYTHING, 5) == []
    plain.retire("v1")
    plain.let_grace_pass()
    assert plain.count(EVERYTHING) == 0


def test_rows_that_would_poison_a_collection_are_refused(library: Library) -> None:
    good = version_of("v1", ["jet noise", "wing stall"])
    assert good.dense is not None
    broken = good.dense.copy()
    broken[0, 0] = np.nan
    for bad in (
        replace(good, dense=None),
        replace(good, dense=good.dense[:1]),
        replace(good, dense=good.dense[:, :-1]),
        replace(good, dense=broken),
        replace(good, tokens=good.tokens[:1]),
    ):
        with pytest.raises(ValueError, match=r"vector|token"):
            library.write(bad)
    assert library.count(EVERYTHING) == 0


@pytest.mark.parametrize("query", [np.zeros(DIM - 1), np.full(DIM, np.nan)])
def test_queries_that_make_no_sense_are_refused(library: Library, query: np.ndarray) -> None:
    library.write(version_of("v1", ["jet noise"]))
    with pytest.raises(ValueError, match="query"):
        library.store.search_dense(library.collection, query, EVERYTHING, 5)


def test_ensure_may_be_called_again(library: Library) -> None:
    collection: Collection = library.collection
    library.store.ensure(collection)
    library.write(version_of("v1", ["jet noise"]))
    library.store.ensure(collection)
    library.store.refresh()
    assert library.count(EVERYTHING) == 1


def test_what_was_written_is_read_as_it_was(library: Library) -> None:
    version = version_of("v1", ["serum IL-6 was raised", "边界层湍流", ""], kb="a")
    library.write(version, version_of("v2", ["jet noise"]))
    (rows,) = library.store.read(library.collection, ["v1", "unknown"])
    assert (rows.version_id, rows.document_id, rows.kb_name) == ("v1", "doc-v1", "a")
    assert version.dense is not None and rows.dense is not None
    found = {
        node_id: (list(tokens), vector.tolist())
        for node_id, tokens, vector in zip(rows.node_ids, rows.tokens, rows.dense, strict=True)
    }
    assert found == {
        node_id: (list(tokens), vector.tolist())
        for node_id, tokens, vector in zip(
            version.node_ids, version.tokens, version.dense, strict=True
        )
    }
    assert list(library.store.read(library.collection, [])) == []


def test_a_version_can_be_read_in_any_number(library: Library) -> None:
    big = version_of("v1", [f"jet number{i}" for i in range(1203)])
    library.write(big)
    (rows,) = library.store.read(library.collection, ["v1"])
    assert sorted(rows.node_ids) == sorted(big.node_ids)
    assert library.store.versions(library.collection) == {"v1": 1203}


def test_stored_versions_are_counted(library: Library) -> None:
    assert library.store.versions(library.collection) == {}
    assert list(library.store.read(library.collection, ["v1"])) == []
    library.write(version_of("v1", ["jet noise", "jet engine"]), version_of("v2", ["jet lag"]))
    assert library.store.versions(library.collection) == {"v1": 2, "v2": 1}
    library.retire("v1")
    library.let_grace_pass()
    assert library.store.versions(library.collection) == {"v2": 1}


def test_a_lexical_only_version_is_read_without_vectors(library: Library) -> None:
    plain = replace(library, collection=replace(library.collection, dim=0))
    plain.write(version_of("v1", ["jet noise"], dim=0))
    (rows,) = plain.store.read(plain.collection, ["v1"])
    assert rows.dense is None
    assert list(rows.tokens[0]) == ["jet", "nois"]


def test_a_dropped_collection_is_gone_and_can_come_again(library: Library) -> None:
    collection = replace(library.collection, name=f"{library.collection.name}_drop")
    other = replace(library, collection=collection)
    library.write(version_of("v1", ["jet noise"]))
    other.write(version_of("v1", ["jet noise"]), version_of("v2", ["jet engine"]))
    library.store.drop(collection)
    library.store.drop(collection)
    assert library.store.versions(collection) == {}
    assert library.count(EVERYTHING) == 1
    other.write(version_of("v2", ["jet engine"]))
    assert ids(other.lexical("jet", EVERYTHING)) == ["v2-0000"]


def test_a_knowledge_base_is_searched_under_its_present_name(library: Library) -> None:
    seed = f"seed{library.collection.name[-8:]}"
    with library.catalog.write() as tx:
        known.ensure_kb(tx, "core", seed)
    library.write(version_of("v1", ["jet noise"], kb=seed), version_of("v2", ["jet lag"], kb="a"))
    with library.catalog.write() as tx:
        kb_changes.rename_kb(tx, "core", seed, f"new-{seed}")
    for scope in (kbs(f"new-{seed}"), kbs(f"new-{seed}", "a")):
        assert "v1-0000" in ids(library.lexical("noise", scope))
        assert "v1-0000" in ids(library.dense("jet noise", scope))
    assert library.count(kbs(f"new-{seed}")) == 1
    with library.catalog.write() as tx:
        known.ensure_kb(tx, "core", seed)
    assert library.lexical("noise", kbs(seed)) == []
    assert library.count(kbs(seed)) == 0
