"""Assembles the semantic context of a question: tables, joins, metrics, a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import SemanticContext
from eagle_rag_lakehouse_bi.catalog_version import catalog_version
from eagle_rag_lakehouse_bi.completing import Completion, echo_of, few_of
from eagle_rag_lakehouse_bi.drafting import Draft
from eagle_rag_lakehouse_bi.identifiers import question_words, text_words
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope, TableKey
from eagle_rag_lakehouse_bi.retrieval.cache import IndexCache
from eagle_rag_lakehouse_bi.retrieval.finding import Found, find
from eagle_rag_lakehouse_bi.retrieval.metrics import rank_metrics
from eagle_rag_lakehouse_bi.retrieval.verdict import MetricWords, judge
from eagle_rag_lakehouse_bi.selection import select, select_all
from eagle_rag_lakehouse_bi.shortening import size_in_tokens

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
    :param cursor: of something the answer left out; "" for the answer.
    """

    query: str
    kb_name: str = ""
    document_ids: tuple[str, ...] = ()
    max_tables: int = 0
    max_tokens: int = 6000
    cursor: str = ""

    @property
    def scope(self) -> Scope:
        """Where to look."""
        return Scope(self.kb_name, self.document_ids)


class ContextFinder:
    """Answers questions from the records of the ingested catalogs. Threads may share it.

    :param indexes: shared with whatever else searches the same catalogs.
    """

    def __init__(self, ctx: PackContext, indexes: IndexCache | None = None) -> None:
        self._ctx = ctx
        self._indexes = indexes or IndexCache()

    def answer(self, question: ContextQuestion) -> SemanticContext:
        """Tables, joins and metrics for a question, within ``max_tokens``.

        :raises InvalidArgument: the cursor is not of this answer.
        """
        reader = CatalogReader(self._ctx, question.scope)
        version = catalog_version(reader)
        hits = self._ctx.search.text(
            question.query,
            top_k=_PASSAGES,
            kb_name=question.kb_name,
            document_ids=question.document_ids,
        )
        places = {hit.node_id: rank for rank, hit in enumerate(hits, start=1)}
        words = question_words(question.query)
        found = find(self._indexes.index(reader), question.query, reader, places)
        ranked = rank_metrics(reader, words, places)
        metrics = ranked[:_METRICS]
        judgement = judge(found, [_metric_words(found, metric) for metric in metrics])
        empty = SemanticContext(
            catalog_version=version,
            query=echo_of(question.query, question.max_tokens),
            verdict=judgement.verdict,
            confidence=judgement.confidence,
            unmatched_words=few_of(judgement.unmatched, question.max_tokens),
            tables=[],
            joins=[],
            metrics=[],
            dropped=[],
            tokens=0,
        )
        if judgement.verdict == "no_match":
            return replace(empty, tokens=size_in_tokens(empty))
        if _may_fit(found, question):
            everything = select_all(reader, found, metrics)
            draft = Draft(empty, question.max_tokens, reader, found, everything, metrics)
            if (whole := draft.whole()) is not None:
                return _completed(question, draft, ranked, whole)
        selection = select(reader, found, metrics, question.max_tables or _TABLES)
        draft = Draft(empty, question.max_tokens, reader, found, selection, metrics)
        return _completed(question, draft, ranked, draft.best())


def _completed(
    question: ContextQuestion, draft: Draft, metrics: Sequence[Record], answer: SemanticContext
) -> SemanticContext:
    """The answer with all it leaves out, or what the cursor asks for of that."""
    asked = f"{question.query}\n{question.max_tables}\n{question.scope}"
    everything = draft.everything(metrics)
    completion = Completion(everything, question.scope, question.max_tokens, asked)
    if question.cursor:
        return completion.rest(answer, question.cursor)
    return completion.completed(answer)


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
