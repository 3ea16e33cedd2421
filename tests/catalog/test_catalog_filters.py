from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from catalog_samples import NAMESPACE, draft, publish
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.dialects import postgresql

from eagle_rag_core.catalog import filters, ids
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import documents
from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.types import FILTER_FIELDS, Condition, FilterOp

NASTY = ["100%", "a_b", "a\\b", "/etc/%", 'say "hi"', "it's", "x' OR '1'='1", "Ünïcode", "ＡＢＣ"]
TIMES = [0.0, 86_399.999999, 86_400.0, 1_700_000_000.123456]


@dataclass(frozen=True)
class Doc:
    """What a reference predicate needs to know of a document."""

    title: str
    source_type: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    created: float = 0.0

    @property
    def uri(self) -> str:
        return f"file:///{self.title}"


DOCS = [
    *(
        Doc(title, "Paper" if n % 2 else "policy", "en", (title[:20], "all"), {"key": title})
        for n, title in enumerate(NASTY)
    ),
    *(Doc(f"at {time}", created=time) for time in TIMES),
    *(
        Doc(f"value {value!r}", metadata={"key": value})
        for value in ["9", "10", "-3", "1.50", "1e3", "", "nine", "10\n", "9" * 40, 7, 7.5]
    ),
]


@pytest.fixture(scope="module")
def library(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    path = tmp_path_factory.mktemp("filters") / "catalog.db"
    shutil.copy(migrated, path)
    catalog = Catalog(f"sqlite:///{path}", namespace=NAMESPACE)
    for doc in DOCS:
        item = draft(
            doc.uri,
            title=doc.title,
            source_type=doc.source_type,
            language=doc.language,
            tags=doc.tags,
            metadata=doc.metadata,
        )
        publish(catalog, item, clock=lambda doc=doc: doc.created)
    yield catalog
    catalog.close()


def found(catalog: Catalog, *conditions: tuple[str, str, str]) -> set[str]:
    typed = [Condition(name, FilterOp(op), value) for name, op, value in conditions]
    with catalog.read() as conn:
        query = select(documents.c.title).where(*filters.matching(typed))
        return set(conn.scalars(query))


def fold(text: str) -> str:
    """Fold the case of ASCII letters only."""
    return re.sub("[A-Z]", lambda match: match[0].lower(), text)


TEXT_OPS: dict[str, Callable[[str, str], bool]] = {
    "eq": lambda have, value: have == value,
    "ne": lambda have, value: have != value,
    "in": lambda have, value: bool(have) and have in [item.strip() for item in value.split(",")],
    "contains": lambda have, value: fold(value) in fold(have),
    "prefix": lambda have, value: fold(have).startswith(fold(value)),
    "gt": lambda have, value: have.encode() > value.encode(),
    "ge": lambda have, value: have.encode() >= value.encode(),
    "lt": lambda have, value: have.encode() < value.encode(),
    "le": lambda have, value: have.encode() <= value.encode(),
}
DECIMAL = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?", re.ASCII)


def holds(doc: Doc, name: str, op: str, value: str) -> bool:
    """The meaning of a condition, written down a second time."""
    if name == "tags":
        if op == "ne":
            return value not in doc.tags
        compare = TEXT_OPS["eq" if op == "contains" else op]
        return any(compare(tag, value) for tag in doc.tags)
    if name == "metadata.key":
        if "key" not in doc.metadata:
            return op == "ne"
        have = str(doc.metadata["key"])
        if op in ("gt", "ge", "lt", "le") and DECIMAL.fullmatch(have) and DECIMAL.fullmatch(value):
            difference = float(have) - float(value)
            return {
                "gt": difference > 0,
                "ge": difference >= 0,
                "lt": difference < 0,
                "le": difference <= 0,
            }[op]
        return TEXT_OPS[op](have, value)
    have = {
        "id": ids.document_id(NAMESPACE, "default", doc.uri),
        "title": doc.title,
        "source_uri": doc.uri,
        "source_type": doc.source_type,
        "language": doc.language,
    }[name]
    return TEXT_OPS[op](have, value)


pieces = st.sampled_from(
    [*NASTY, "%", "_", "\\", "/", "'", '"', ";", "--", ",", "a", "P", "9", "10", "-3", "1.5", "\n"]
)
values = st.one_of(
    st.text(max_size=12),
    st.lists(pieces, min_size=1, max_size=3).map("".join),
    st.sampled_from(NASTY).flatmap(
        lambda text: st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(
            lambda cut: text[min(cut) : max(cut)]
        )
    ),
)


@settings(max_examples=400, deadline=None)
@given(
    name=st.sampled_from(
        ["title", "source_uri", "source_type", "language", "tags", "metadata.key", "id"]
    ),
    op=st.sampled_from([op.value for op in FilterOp]),
    value=values,
)
@example("title", "contains", "%")
@example("title", "prefix", "_")
@example("metadata.key", "contains", "\\")
@example("metadata.key", "ge", "9.0")
@example("title", "eq", "\0")
@example("title", "prefix", "\ud800")
@example("title", "contains", "%" * 2000)
def test_every_value_is_data(library: Catalog, name: str, op: str, value: str) -> None:
    """No value widens the result or reaches the database as anything but a value."""
    try:
        result = found(library, (name, op, value))
    except InvalidArgument:
        empty = {"in": not any(item.strip() for item in value.split(","))}
        empty["contains"] = empty["prefix"] = value == ""
        ranged = name == "tags" and op in ("gt", "ge", "lt", "le")
        assert not ids.storable(value) or empty.get(op) or ranged
        return
    assert result == {doc.title for doc in DOCS if holds(doc, name, op, value)}


@pytest.mark.parametrize(
    ("op", "value", "titles"),
    [
        ("eq", "1970-01-01", {"at 0.0", "at 86399.999999"}),
        ("gt", "1970-01-01", {"at 86400.0", "at 1700000000.123456"}),
        ("ge", "1970-01-02", {"at 86400.0", "at 1700000000.123456"}),
        ("lt", "1970-01-02", {"at 0.0", "at 86399.999999"}),
        ("le", "1970-01-01", {"at 0.0", "at 86399.999999"}),
        ("in", "1970-01-02, 2023-11-14", {"at 86400.0", "at 1700000000.123456"}),
        ("prefix", "1970-01-0", {"at 0.0", "at 86399.999999", "at 86400.0"}),
        ("eq", "1970-01-02T00:00:00Z", {"at 86400.0"}),
        ("eq", "1970-01-02", {"at 86400.0"}),
        ("eq", "1970-01-02T00:00", {"at 86400.0"}),
        ("eq", "1970-01-02T01:00:00+01:00", {"at 86400.0"}),
        ("ge", "2023-11-14T22:13:20.123456+00:00", {"at 1700000000.123456"}),
        ("gt", "2023-11-14T22:13:20.123456Z", set()),
    ],
)
def test_dates_stand_for_days_and_times_for_instants(
    library: Catalog, op: str, value: str, titles: set[str]
) -> None:
    dated = ("title", "prefix", "at ")
    assert found(library, dated, ("created_at", op, value)) == titles


@given(st.floats(0, 4e9), st.integers(-720, 720))
@settings(max_examples=50, deadline=None)
def test_offsets_do_not_matter(library: Catalog, seconds: float, minutes: int) -> None:
    moment = datetime.fromtimestamp(seconds, UTC)
    elsewhere = moment.astimezone(timezone(timedelta(minutes=minutes)))
    expected = {doc.title for doc in DOCS if datetime.fromtimestamp(doc.created, UTC) >= moment}
    assert found(library, ("updated_at", "ge", elsewhere.isoformat())) == expected


def test_numbers_compare_as_numbers_and_the_rest_as_text(library: Catalog) -> None:
    valued = ("title", "prefix", "value ")
    assert found(library, valued, ("metadata.key", "gt", "9")) == {
        f"value {value!r}" for value in ["10", "9" * 40, "nine"]
    }
    assert found(library, valued, ("metadata.key", "lt", "2")) == {
        f"value {value!r}" for value in ["-3", "1.50", "1e3", "", "10\n"]
    }


def test_conditions_all_hold(library: Catalog) -> None:
    both = found(library, ("source_type", "eq", "policy"), ("title", "contains", "'"))
    assert both == {title for title in NASTY[::2] if "'" in title}
    assert found(library) == {doc.title for doc in DOCS}


def test_a_document_without_the_key_meets_only_ne(library: Catalog) -> None:
    bare = ("title", "prefix", "at ")
    for op in FilterOp:
        expected = len(TIMES) if op is FilterOp.NE else 0
        assert len(found(library, bare, ("metadata.absent", op, "a"))) == expected


@pytest.mark.parametrize(
    ("name", "op", "value", "match"),
    [
        ("titel", "eq", "x", "did you mean 'title'"),
        ("kb_name", "eq", "x", r"Allowed: .*metadata\.<key>"),
        ("metadata.", "eq", "x", "Unknown filter field"),
        ("metadata.a b", "eq", "x", "Unknown filter field"),
        ('metadata.a"b', "eq", "x", "Unknown filter field"),
        ("metadata.a\n", "eq", "x", "Unknown filter field"),
        ("metadata." + "k" * 65, "eq", "x", "Unknown filter field"),
        ("title", "equals", "x", "Allowed: eq, ne"),
        ("title", "starts", "x", "Unknown filter op"),
        ("title", "contains", "", "at least one character"),
        ("title", "in", " , ", "separated by commas"),
        ("title", "eq", "x" * 2001, "longer than 2000"),
        ("tags", "gt", "x", "does not fit tags"),
        ("created_at", "contains", "2024", "does not fit created_at"),
        ("created_at", "ge", "yesterday", "2026-01-31"),
        ("created_at", "ge", "2024-02-30", "not a date"),
        ("created_at", "ge", "", "not a date"),
        ("updated_at", "lt", "0001-01-01T00:00:00+14:00", "not a date"),
        ("updated_at", "le", "9999-12-31T23:00:00-10:00", "not a date"),
        ("created_at", "in", "2024-01-01,soon", "not a date"),
    ],
)
def test_a_mistake_is_explained(name: str, op: Any, value: str, match: str) -> None:
    with pytest.raises(InvalidArgument, match=match):
        filters.matching([Condition(name, op, value)])


def test_the_last_day_of_the_calendar_is_a_day(library: Catalog) -> None:
    assert found(library, ("created_at", "le", "9999-12-31")) == {doc.title for doc in DOCS}


@pytest.mark.parametrize("name", [*sorted(FILTER_FIELDS), "metadata.key"])
@pytest.mark.parametrize("op", list(FilterOp))
def test_values_are_parameters_on_postgresql_too(name: str, op: FilterOp) -> None:
    value = "2026-01-01" if name.endswith("_at") else "it's"
    try:
        query = select(documents.c.title).where(*filters.matching([Condition(name, op, value)]))
    except InvalidArgument:
        assert op not in (FilterOp.EQ, FilterOp.NE, FilterOp.IN)
        return
    statement = str(query.compile(dialect=postgresql.dialect()))  # type: ignore[no-untyped-call]
    assert "it's" not in statement and "json_each" not in statement
