"""What a metric means, in a form that two files' ways of writing it share.

``sum(order_total)`` of MetricFlow, ``SUM(orders.order_total)`` of Snowflake and
``sum(${TABLE}.order_total)`` of LookML are one formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.reading import leaf_of

if TYPE_CHECKING:
    from sqlglot import exp

#: ``{{ Dimension('order__status') }}`` of dbt and ``${orders.status}`` of LookML.
_JINJA: Final = re.compile(r"\{\{\s*\w+\(\s*['\"]([^'\"]+)['\"][^}]*\}\}")
_MEMBER: Final = re.compile(r"\$\{([^}]+)\}")
_DISTINCT: Final = re.compile(r"^\s*(?:count_?distinct|countd)\((.*)\)\s*$", re.I | re.S)
_SPELLED: Final = (
    (re.compile(r"^\s*(?:average|mean)\(", re.I), "avg("),
    (re.compile(r"^\s*count\s*(?:\(\s*1?\s*\))?\s*$", re.I), "count(*)"),
    (re.compile(r"^\s*(?:percent_of_total|number)\(", re.I), "("),
)
_CURRENCIES: Final = {
    "$": "usd",
    "dollar": "usd",
    "dollars": "usd",
    "€": "eur",
    "euro": "eur",
    "euros": "eur",
    "£": "gbp",
    "¥": "jpy",
    "yen": "jpy",
} | {c: c for c in "usd eur gbp jpy chf cny inr aud cad sek nok dkk pln brl mxn krw".split()}
_UNITS: Final = {
    "%": "percent",
    "percent": "percent",
    "percentage": "percent",
    "seconds": "seconds",
    "milliseconds": "milliseconds",
    "minutes": "minutes",
    "hours": "hours",
    "cents": "cents",
    "thousands": "thousands",
    "millions": "millions",
}
_TOKEN: Final = re.compile(r"[A-Za-z]+|[$€£¥%]")
_PERIODS: Final = (("daily", "day"), ("weekly", "week"), ("monthly", "month"), ("yearly", "year"))
_GRAIN: Final = re.compile(r"\b(?:per|each|by)\s+(hour|day|week|month|quarter|year)\b", re.I)

#: The aspects of a metric's meaning, in the order they are told.
ASPECTS: Final = (
    "formula",
    "filter",
    "time_dimension",
    "grain",
    "unit",
    "tables",
    "non_additive",
    "type",
)
#: What only one of two files may state without contradicting the other.
OPTIONAL: Final = frozenset({"time_dimension", "grain", "unit", "tables", "non_additive", "type"})
#: A cumulative sum is not the sum; the other types only say how a formula is written.
_OF_THEIR_OWN: Final = frozenset({"cumulative", "conversion"})


def meaning(metric: Record) -> dict[str, str]:
    """The aspects of a metric record, each in its common form; "" where nothing is stated."""
    data = metric.data
    described = f"{data['label']} {data['description']} {metric.fields['name'].replace('_', ' ')}"
    kind = metric.fields["type"]
    return {
        "formula": formula(data["formula"]),
        "filter": " and ".join(sorted(_conditions(data["filter"]))),
        "time_dimension": _last_part(data["time_dimension"]),
        "grain": _grain(described),
        "unit": " ".join(sorted(_units(described))),
        "tables": " ".join(sorted({leaf_of(table) for table in metric.fields["tables"]})),
        "non_additive": _last_part(data["non_additive"]),
        "type": kind if kind in _OF_THEIR_OWN else "plain",
    }


@lru_cache(maxsize=20_000)
def formula(written: str) -> str:
    """A formula without qualifiers, case, spaces and ways of spelling aggregations.

    >>> formula("count_distinct(o.Customer_ID)")
    'count(distinct customer_id)'
    """
    plain = _plain(written)
    distinct = _DISTINCT.match(plain)
    if distinct:
        plain = f"count(distinct {distinct.group(1)})"
    for pattern, instead in _SPELLED:
        plain = pattern.sub(instead, plain)
    tree = _tree(plain)
    return (_written(tree) if tree else " ".join(plain.split())).lower()


def _conditions(written: str) -> Iterator[str]:
    """The conditions of a filter, all of which must hold, whatever their order."""
    from sqlglot import exp

    plain = _plain(written)
    tree = _tree(plain) if plain else None
    if tree is None:
        if plain:
            yield " ".join(plain.lower().split())
        return
    for part in tree.flatten() if isinstance(tree, exp.And) else (tree,):
        yield _written(part.unnest()).lower()


def _plain(written: str) -> str:
    """SQL with references of templates written as columns."""
    named = _JINJA.sub(lambda m: m.group(1).rpartition("__")[2], written)
    named = re.sub(r"\$\{TABLE\}\s*\.", "", named)
    return _MEMBER.sub(lambda m: m.group(1).rpartition(".")[2], named).strip()


def _tree(sql: str) -> exp.Expr | None:
    from sqlglot import parse_one
    from sqlglot.errors import SqlglotError

    try:
        return parse_one(sql)
    except (SqlglotError, RecursionError, ValueError):
        return None


def _written(tree: exp.Expr) -> str:
    from sqlglot import exp

    def bare(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column):
            return exp.column(node.name)
        if isinstance(node, exp.Paren) and isinstance(node.this, exp.Column | exp.Func):
            return node.this
        return node

    return tree.transform(bare).sql(comments=False, normalize=True)


def _last_part(name: str) -> str:
    return name.lower().rpartition(".")[2].rpartition("__")[2]


def _units(text: str) -> set[str]:
    """Currencies and units that a description names."""
    tokens = {token.lower() for token in _TOKEN.findall(text)}
    return {known[t] for known in (_CURRENCIES, _UNITS) for t in tokens & known.keys()}


def _grain(text: str) -> str:
    low = text.lower()
    for word, period in _PERIODS:
        if re.search(rf"\b{word}\b", low):
            return period
    match = _GRAIN.search(low)
    return match.group(1) if match else ""
