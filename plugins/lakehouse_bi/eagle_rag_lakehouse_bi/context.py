"""Assembles the semantic context of a question: tables, joins, metrics, a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import SemanticContext
from eagle_rag_lakehouse_bi.drafting import Draft
from eagle_rag_lakehouse_bi.identifiers import question_words, text_words
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope, TableKey
from eagle_rag_lakehouse_bi.retrieval.cache import IndexCache
from eagle_rag_lakehouse_bi.retrieval.finding import Found, find
from eagle_rag_lakehouse_bi.retrieval.metrics import rank_metrics
from eagle_rag_lakehouse_bi.retrieval.verdict import MetricWords, judge
from eagle_rag_lakehouse_bi.selection import select, select_all

_PASSAGES: Final = 50
_METRICS: Final = 10
#: Tables of an answer that does not show all there is.
_TABLES: Final = 12
#: Estimated tokens of a table and a column with nothing to say of them: catalogs that cannot fit
#: are not tried.
_TABLE_TOKENS: Final = 90
_COLUMN_TOKENS: Final = 22


@dataclass(frozen=True, slots=True)
class ContextQuestion:
    """What the caller asks for. An empty KB or no documents mean all.

    :param max_tables: 0 for all tables where all of them fit, else for the best twelve.
    """

    query: str
    kb_name: str = ""
    document_ids: tuple[str, ...] = ()
    max_tables: int = 0
    max_tokens: int = 6000


class ContextFinder:
    """Answers questions from the records of the ingested catalogs. Threads may share it.

    :param indexes: shared with whatever else searches the same catalogs.
    """

    def __init__(self, ctx: PackContext, indexes: IndexCache | None = None) -> None:
        self._ctx = ctx
        self._indexes = indexes or IndexCache()

    def answer(self, question: ContextQuestion) -> SemanticContext:
        """Tables, joins and metrics for a question, within ``max_tokens``."""
        reader = CatalogReader(self._ctx, Scope(question.kb_name, question.document_ids))
        hits = self._ctx.search.text(
            question.query,
            top_k=_PASSAGES,
            kb_name=question.kb_name,
            document_ids=question.document_ids,
        )
        places = {hit.node_id: rank for rank, hit in enumerate(hits, start=1)}
        words = question_words(question.query)
        found = find(self._indexes.index(reader), question.query, reader, places)
        metrics = rank_metrics(reader, words, places)[:_METRICS]
        judgement = judge(found, [_metric_words(found, metric) for metric in metrics])
        empty = SemanticContext(
            query=question.query,
            verdict=judgement.verdict,
            confidence=judgement.confidence,
            unmatched_words=judgement.unmatched,
            tables=[],
            joins=[],
            metrics=[],
            dropped=[],
            tokens=0,
        )
        if judgement.verdict == "no_match":
            return empty
        if _may_fit(found, question):
            everything = select_all(reader, found, metrics)
            draft = Draft(empty, question.max_tokens, reader, found, everything, metrics)
            if (whole := draft.whole()) is not None:
                return whole
        selection = select(reader, found, metrics, question.max_tables or _TABLES)
        return Draft(empty, question.max_tokens, reader, found, selection, metrics).best()


def _may_fit(found: Found, question: ContextQuestion) -> bool:
    """Whether all of the catalogs may fit the answer, so that nothing need be chosen."""
    index = found.index
    least = _TABLE_TOKENS * len(index.tables) + _COLUMN_TOKENS * len(index.columns)
    return not question.max_tables and least <= question.max_tokens


def _metric_words(found: Found, metric: Record) -> MetricWords:
    """What a metric says of the question, and of which tables."""
    keys = (TableKey(metric.document_id, table) for table in metric.fields["tables"])
    numbers = (found.index.number(key) for key in keys)
    texts = (metric.fields["name"], metric.data["label"], metric.data["description"])
    words = frozenset(text_words([*texts, *metric.data["synonyms"]]))
    return words | set(metric.fields["words"]), [n for n in numbers if n is not None]
