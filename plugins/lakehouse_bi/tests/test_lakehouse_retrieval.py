"""Ranking tables and columns for a question, on catalogs in memory."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eagle_rag_core.types import NewRecord, Record
from eagle_rag_lakehouse_bi.objects import Catalog, Column, Relationship, SavedQuery, Table, Term
from eagle_rag_lakehouse_bi.reading import TableKey
from eagle_rag_lakehouse_bi.record_writer import RecordWriter
from eagle_rag_lakehouse_bi.retrieval.finding import Found
from eagle_rag_lakehouse_bi.retrieval.index import CatalogIndex
from eagle_rag_lakehouse_bi.retrieval.parts import DocumentPart, document_part
from eagle_rag_lakehouse_bi.retrieval.postings import Postings, Texts
from eagle_rag_lakehouse_bi.retrieval.question import AskedTerms
from eagle_rag_lakehouse_bi.retrieval.scoring import score_tables
from eagle_rag_lakehouse_bi.retrieval.terms import family
from eagle_rag_lakehouse_bi.retrieval.verdict import judge


def table(name: str, *columns: str, schema: str = "s", **more: Any) -> Table:
    """Columns are given as names, or as names and descriptions around a colon."""
    parsed = [column.partition(":") for column in columns]
    own = tuple(Column(name=n, description=d.strip()) for n, _, d in parsed)
    return Table(name=name, schema=schema, columns=own, **more)


def part(catalog: Catalog, document: str = "d") -> DocumentPart:
    writer = RecordWriter(catalog)
    new: list[NewRecord] = []
    for item in catalog.tables:
        new.append(writer.table(item, []))
        new += [writer.column(item, c, place, "") for place, c in enumerate(item.columns)]
    new += [writer.relationship(r, "") for r in catalog.relationships]
    new += [writer.query(q, []) for q in catalog.queries]
    new += [writer.term(t, []) for t in catalog.terms]
    records: defaultdict[str, list[Record]] = defaultdict(list)
    for r in new:
        records[r.kind].append(Record(r.kind, r.fields, r.data, "default", document, r.node_id))
    return document_part(document, records)


def catalog(*tables: Table, joins: tuple[tuple[str, str], ...] = (), **more: Any) -> Catalog:
    relationships = tuple(
        Relationship(f"s.{a}", (f"{b}_id",), f"s.{b}", ("id",), "declared") for a, b in joins
    )
    return Catalog("c", "SQL", tables, relationships, **more)


def found(
    question: str, *parts: DocumentPart, passages: dict[TableKey, int] | None = None
) -> Found:
    index = CatalogIndex(parts)
    asked = AskedTerms.of(question, index.synonyms)
    return Found(index, asked, score_tables(index, asked, passages or {}))


def names(result: Found) -> list[str]:
    return [result.key(n).id.removeprefix("s.") for n in result.order()]


SHOP = catalog(
    table("customer", "id", "full_name", "city"),
    table("orders", "id", "customer_id", "placed_on", "total: what was paid"),
    table("product", "id", "label", "price"),
    table("supplier", "id", "company"),
    joins=(("orders", "customer"), ("product", "supplier")),
)


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("customers of a city", "customer"),
        ("what was paid", "orders"),
        ("productlabels", "product"),
        ("price of each product", "product"),
    ],
)
def test_names_columns_descriptions_and_pieces_of_names_count(question: str, best: str) -> None:
    assert names(found(question, part(SHOP)))[0] == best


def test_a_table_has_a_share_of_the_best_it_joins() -> None:
    assert names(found("company", part(SHOP)))[:2] == ["supplier", "product"]


def test_passages_found_count() -> None:
    place = {TableKey("d", "s.product"): 1}
    assert names(found("zebra", part(SHOP), passages=place))[0] == "product"


def test_a_schema_that_fits_best_gives_its_tables_a_share() -> None:
    one = catalog(table("singer", "id", "age", schema="a"), table("stadium", "id", schema="a"))
    other = catalog(table("stadium", "id", schema="b"), table("team", "id", schema="b"))
    for order in ((one, other), (other, one)):
        parts = [part(c, f"d{number}") for number, c in enumerate(order)]
        ranked = names(found("stadium of the oldest singer", *parts))
        assert ranked.index("a.stadium") < ranked.index("b.stadium")


@pytest.mark.parametrize(("status", "votes"), [("certified", 1.0), ("", 0.5)])
def test_saved_queries_for_a_like_question_vote_for_their_tables(status: Any, votes: float) -> None:
    query = SavedQuery(
        "churn", "monthly churn of subscribers", "SELECT 1", "", status, tables=("product",)
    )
    with_query = catalog(*SHOP.tables, queries=(query,))
    result = found("churn of subscribers per month", part(with_query))
    number = result.index.number(TableKey("d", "s.product"))
    assert number is not None
    assert result.scores.voted[number] == pytest.approx(0.52 * votes, abs=0.02)
    assert "read by a saved query for a like question" in result.why(TableKey("d", "s.product"))
    assert names(found("monthly churn in rome", part(with_query)))[0] == "product"
    unlike = found("price in a city by company", part(with_query))
    assert not unlike.scores.voted.any()


def test_glossary_terms_stand_for_their_synonyms() -> None:
    with_term = catalog(*SHOP.tables, terms=(Term("client", "", ("customer",)),))
    assert names(found("clients", part(with_term)))[0] == "customer"
    assert not found("clients", part(SHOP)).scores.texts.any()


def test_deprecated_and_raw_tables_come_after_their_like() -> None:
    alike = catalog(
        table("visits", "id", schema="raw"),
        table("visits", "id", schema="gone", status="deprecated"),
        table("visits", "id", schema="mart"),
        table("visits", "id", schema="best", status="certified"),
    )
    order = names(found("visits", part(alike)))
    assert order == ["best.visits", "mart.visits", "raw.visits", "gone.visits"]


def test_pieces_of_one_relation_stand_as_one() -> None:
    days = [table(f"events_2024010{day}", "id", "page") for day in range(1, 6)]
    odd = table("events_20240109", "id", "page", "extra")
    two = [table(f"census_{year}", "id") for year in (2010, 2020)]
    index = CatalogIndex(
        [part(catalog(*days, odd, *two, joins=(("events_20240101", "census_2010"),)))]
    )
    assert {t.key.id for t in index.tables} == {
        "s.events_20240105",
        "s.events_20240109",
        "s.census_2010",
        "s.census_2020",
    }
    newest = index.number(TableKey("d", "s.events_20240105"))
    assert index.number(TableKey("d", "s.events_20240102")) == newest
    assert newest in index.joined[0]
    result = found("pages of events", part(catalog(*days)))
    assert "stands for 5 tables from s.events_20240101" in result.why(TableKey("d", days[0].id))


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("events_20240101", "events"),
        ("events_2024_01", "events"),
        ("logs_p12", "logs"),
        ("sales2019", "sales"),
        ("top_100", "top_100"),
        ("2024", "2024"),
    ],
)
def test_families_of_shards(name: str, stem: str) -> None:
    assert family(name) == stem


def test_logged_joins_of_another_document_meet_fuller_names() -> None:
    log = Catalog(
        "log",
        "SQL",
        (),
        (Relationship("orders", ("customer_id",), "customer", ("id",), "mined"),),
    )
    shop = catalog(*SHOP.tables)
    index = CatalogIndex([part(shop), part(log, "log")])
    joined = {
        (index.tables[a].key.id, index.tables[b].key.id) for a, b in zip(*index.joined, strict=True)
    }
    assert joined == {("s.orders", "s.customer"), ("s.customer", "s.orders")}


def test_joins_that_names_merely_suggest_carry_no_score() -> None:
    guess = Relationship("s.orders", ("customer_id",), "s.customer", ("id",), "inferred")
    index = CatalogIndex([part(Catalog("c", "SQL", SHOP.tables, (guess,)))])
    assert not index.joined[0].size


def test_columns_of_the_best_table_and_those_named_come_first() -> None:
    result = found("price of products and the city of the customer", part(SHOP))
    ranked = result.columns([TableKey("d", t) for t in ("s.product", "s.customer", "s.supplier")])
    order = [column.name for column in ranked]
    assert len(order) == 8
    assert set(order[:2]) <= {"price", "city", "id", "label"}
    assert order.index("price") < order.index("company")
    price = next(column for column in ranked if column.name == "price")
    assert price.why == ["name holds price"]


def test_keys_come_before_columns_nothing_speaks_for() -> None:
    wide = table("fact", *(f"c{n}" for n in range(30)), "zz_id", primary_key=("zz_id",))
    ranked = found("fact", part(catalog(wide))).columns([TableKey("d", "s.fact")])
    assert ranked[0].name == "zz_id" and ranked[0].is_key


def test_columns_can_be_found_by_descriptions_but_not_by_their_table_alone() -> None:
    result = found("what was paid for orders", part(SHOP))
    assert list(result.described_columns(5)) == [(TableKey("d", "s.orders"), "total")]


@pytest.mark.parametrize(
    ("question", "verdict", "unmatched"),
    [
        ("price of each product", "answerable", []),
        ("city of customers and total of their orders in Lisbon 2024", "answerable", ["lisbon"]),
        ("melting point of cheddar", "no_match", ["melt", "point", "cheddar"]),
        ("", "no_match", []),
    ],
)
def test_the_verdict_goes_by_what_is_covered(
    question: str, verdict: str, unmatched: list[str]
) -> None:
    judgement = judge(found(question, part(SHOP)), [])
    assert judgement.verdict == verdict
    assert judgement.unmatched == unmatched
    assert 0 <= judgement.confidence <= 1


def test_tables_that_do_not_join_cover_less_together() -> None:
    question = "company and city"
    apart = judge(found(question, part(SHOP)), []).confidence
    related = catalog(*SHOP.tables, joins=(("supplier", "customer"),))
    assert judge(found(question, part(related)), []).confidence > apart


def test_metrics_cover_words_for_their_tables() -> None:
    result = found("churn of customers", part(SHOP))
    number = result.index.number(TableKey("d", "s.customer"))
    assert number is not None
    without, covered = judge(result, []), judge(result, [(frozenset({"churn"}), [number])])
    assert covered.confidence > without.confidence
    assert (without.unmatched, covered.unmatched) == (["churn"], [])


def test_an_empty_catalog_finds_nothing() -> None:
    result = found("orders")
    assert result.ranking == [] and result.columns([]) == []
    assert judge(result, []).verdict == "no_match"


def test_saved_questions_are_compared_by_their_rare_words() -> None:
    queries = tuple(
        SavedQuery(name, question, f"SELECT {name}")
        for name, question in {
            "1": "number of visits per page",
            "2": "number of refunds per page",
            "3": "number of clicks per page",
        }.items()
    )
    like = CatalogIndex([part(catalog(queries=queries))]).like(["number", "refund"])
    best = max(like, key=lambda key: like[key])
    assert len(like) == 3 and best[1].endswith("-2")
    assert best[0] == "d" and 0.5 < like[best] < 1


def test_a_saved_question_that_says_much_more_is_not_alike() -> None:
    texts = Texts.of([{"churn": 1.0}, dict.fromkeys("abcdefgh", 1.0) | {"churn": 1.0}])
    short, long = Postings([texts]).overlaps(["churn"])
    assert short == 1.0 and long < 0.2


TEXTS = st.lists(
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0.5, 1.0, 4.0]), max_size=5),
    max_size=8,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, TEXTS, st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([0.5, 1.0])))
def test_parts_joined_score_like_one(
    one: list[dict[str, float]], other: list[dict[str, float]], query: dict[str, float]
) -> None:
    joined = Postings([Texts.of(one), Texts.of(other)]).scores(query)
    whole = Postings([Texts.of([*one, *other])]).scores(query)
    assert joined.tolist() == pytest.approx(whole.tolist(), rel=1e-5)
    for score, text in zip(joined, [*one, *other], strict=True):
        assert bool(score > 0) is bool(text.keys() & query.keys())
