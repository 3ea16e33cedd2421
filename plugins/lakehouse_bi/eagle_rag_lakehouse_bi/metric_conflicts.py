"""Metrics that share a name and mean different things, in whatever files they stand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.identifiers import identifier_words
from eagle_rag_lakehouse_bi.metric_answers import MetricConflict, MetricDifference
from eagle_rag_lakehouse_bi.metric_meaning import ASPECTS, OPTIONAL, meaning
from eagle_rag_lakehouse_bi.reading import CatalogReader, leaf_of

_MOST_CANDIDATES: Final = 2_000
_MOST_CONFLICTS: Final = 20
#: Words that add nothing to the name of a metric.
_FILLERS: Final = frozenset({"total", "overall", "metric", "measure", "kpi", "the", "of"})
#: Names every table has: they mean the same only over the same table.
_GENERIC: Final = frozenset(
    {"count", "number", "sum", "average", "avg", "min", "max", "row", "record", "value", "amount"}
)

_Key = tuple[str, str]


def conflicts_of(
    reader: CatalogReader, metrics: Sequence[Record]
) -> dict[_Key, list[MetricConflict]]:
    """The conflicts of each metric, by document and URN; certified ones first."""
    words = sorted({word for metric in metrics for word in metric.fields["words"]})
    others = reader.find("metric", "words", words, limit=_MOST_CANDIDATES)
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    for number, other in enumerate(others):
        for word in set(other.fields["words"]):
            by_word[word].append(number)
    found: dict[_Key, list[MetricConflict]] = {}
    for metric in metrics:
        near = sorted({n for word in metric.fields["words"] for n in by_word[word]})
        conflicts = [c for n in near for c in _conflict(metric, others[n])]
        conflicts.sort(key=lambda c: (c.status != "certified", c.match != "same name", c.urn))
        found[key_of(metric)] = conflicts[:_MOST_CONFLICTS]
    return found


def key_of(metric: Record) -> _Key:
    return metric.document_id, metric.fields["urn"]


def _conflict(metric: Record, other: Record) -> Iterator[MetricConflict]:
    same = _folded(metric.fields["name"]) == _folded(other.fields["name"])
    if not same and not _nearly(metric, other):
        return
    if not _comparable(metric, other, same=same):
        return
    differences = list(_differences(metric, other))
    if differences:
        origin = other.data["origin"]
        yield MetricConflict(
            urn=other.fields["urn"],
            name=other.fields["name"],
            match="same name" if same else "near name",
            differences=differences,
            formula=other.data["formula"],
            filter=other.data["filter"],
            status=other.fields["status"],
            file=origin["file"],
            line=origin["line"],
            node_id=other.node_id,
            document_id=other.document_id,
            kb_name=other.kb_name,
        )


def _comparable(metric: Record, other: Record, *, same: bool) -> bool:
    """Whether one name should mean one thing in both places.

    Within one file, measures are named within their table. Across files, so are those of names
    that every table has.
    """
    here, there = ({leaf_of(t) for t in m.fields["tables"]} for m in (metric, other))
    together = bool(here & there)
    if metric.document_id == other.document_id:
        return same and together and metric is not other and metric != other
    return together or not _significant(metric) <= _GENERIC


def _differences(metric: Record, other: Record) -> Iterator[MetricDifference]:
    """What both state and state differently; a filter may also be missing on one side."""
    here, there = meaning(metric), meaning(other)
    for aspect in ASPECTS:
        own, their = here[aspect], there[aspect]
        stated = (own and their) or aspect not in OPTIONAL
        shared = aspect == "tables" and set(own.split()) & set(their.split())
        if own != their and stated and not shared:
            yield MetricDifference(
                aspect, _stated(metric, aspect, own), _stated(other, aspect, their)
            )


def _stated(metric: Record, aspect: str, common: str) -> str:
    """An aspect as its file writes it, where it is one text there."""
    return str(metric.data.get(aspect) or common)


def _nearly(metric: Record, other: Record) -> bool:
    """Whether two names consist of the same words, or one is a synonym of the other."""
    if _significant(metric) == _significant(other):
        return True
    own, their = _names(metric), _names(other)
    return _folded(metric.fields["name"]) in their or _folded(other.fields["name"]) in own


def _names(metric: Record) -> set[str]:
    return {_folded(n) for n in (metric.data["label"], *metric.data["synonyms"]) if n}


def _folded(name: str) -> str:
    return "_".join(name.lower().replace("-", " ").replace("_", " ").split())


def _significant(metric: Record) -> set[str]:
    words = set(identifier_words(metric.fields["name"]))
    return words - _FILLERS or words
