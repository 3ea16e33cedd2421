"""Earlier work on tables and metrics: dashboards and analyses that use them, and documents of the
library that speak of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Hit, Record
from eagle_rag_lakehouse_bi.answers import Answer
from eagle_rag_lakehouse_bi.identifiers import identifier_words, question_words, readable
from eagle_rag_lakehouse_bi.join_paths import UnknownTable
from eagle_rag_lakehouse_bi.object_search import shortened
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope, TableKey, leaf_of, same_table
from eagle_rag_lakehouse_bi.table_names import TableNames

#: Passages looked at; those of catalog files themselves are no analyses.
_PASSAGES: Final = 60
_LONGEST: Final = 600
#: Of a table that is used, beside a word of a name.
_USES: Final = 2.0


@dataclass(frozen=True, slots=True)
class KnownAnalysis:
    """A dashboard, notebook, application or analysis that a catalog file names.

    :param why: what made it match, in words.
    """

    urn: str
    name: str
    type: str
    description: str
    owner: str
    url: str
    tables: list[str]
    why: list[str]
    node_id: str
    document_id: str
    kb_name: str


@dataclass(frozen=True, slots=True)
class ReportPassage:
    """A passage of a document that is no catalog file; its text is cut to 600 characters."""

    text: str
    title: str
    path: str
    page: int
    words: list[str]
    node_id: str
    document_id: str
    kb_name: str


@dataclass(frozen=True, slots=True)
class Analyses(Answer):
    """Best first.

    :param total: how many dashboards and analyses fit.
    :param unknown: names that mean no table.
    """

    analyses: list[KnownAnalysis]
    passages: list[ReportPassage]
    total: int
    unknown: list[UnknownTable]


@dataclass(frozen=True, slots=True)
class AnalysisQuestion:
    """What to look for: words, tables, or both."""

    query: str = ""
    tables: tuple[str, ...] = ()
    scope: Scope = field(default_factory=Scope)
    limit: int = 5


class AnalysisFinder:
    """Looks in the records of catalog files and in all documents of the library."""

    def __init__(self, ctx: PackContext) -> None:
        self._ctx = ctx

    def find(self, question: AnalysisQuestion) -> Analyses:
        """What is known of earlier work; nothing without words and tables."""
        reader = CatalogReader(self._ctx, question.scope)
        names = TableNames(self._ctx, question.scope)
        meanings = names.find(dict.fromkeys(question.tables))
        keys = [key for listed in meanings.values() for key in listed]
        words = question_words(question.query)
        ranked = sorted(
            _candidates(reader, words, keys),
            key=lambda r: (-_score(r, words, keys), r.fields["name"], r.document_id),
        )
        return Analyses(
            analyses=[_analysis(r, words, keys) for r in ranked[: question.limit]],
            passages=list(self._passages(reader, question, keys))[: question.limit],
            total=len(ranked),
            unknown=[
                UnknownTable(name, names.suggestions(name))
                for name, listed in meanings.items()
                if not listed
            ],
        )

    def _passages(
        self, reader: CatalogReader, question: AnalysisQuestion, keys: Sequence[TableKey]
    ) -> Iterator[ReportPassage]:
        """Passages of other documents that hold a word of the question or of a table's name."""
        named = dict.fromkeys(readable(leaf_of(key.id)) for key in keys)
        query = " ".join(filter(None, (question.query, *named)))
        if not query:
            return
        hits = self._ctx.search.text(
            query,
            top_k=_PASSAGES,
            kb_name=question.scope.kb_name,
            document_ids=question.scope.document_ids,
        )
        catalogs = {source.document_id for source in reader.sources()}
        wanted = set(question_words(query))
        for hit in hits:
            shared = wanted & set(question_words(f"{hit.title} {hit.path} {hit.text}"))
            if hit.document_id not in catalogs and shared:
                yield _passage(hit, sorted(shared))


def _candidates(
    reader: CatalogReader, words: Sequence[str], keys: Sequence[TableKey]
) -> list[Record]:
    found = reader.find("exposure", "words", words)
    leaves = sorted({leaf_of(key.id) for key in keys})
    used = reader.find("exposure", "leaves", leaves)
    found += [r for r in used if _used(r, keys)]
    return list({(r.document_id, r.fields["urn"]): r for r in found}.values())


def _used(exposure: Record, keys: Sequence[TableKey]) -> list[str]:
    """Which of the tables an analysis uses."""
    tables = exposure.fields["tables"]
    return sorted({key.id for key in keys if any(same_table(key.id, t) for t in tables)})


def _score(exposure: Record, words: Sequence[str], keys: Sequence[TableKey]) -> float:
    own = set(words) & set(exposure.fields["words"])
    described = set(words) & set(identifier_words(exposure.data["description"]))
    return len(own) + 0.5 * len(described - own) + _USES * len(_used(exposure, keys))


def _analysis(exposure: Record, words: Sequence[str], keys: Sequence[TableKey]) -> KnownAnalysis:
    fields, data = exposure.fields, exposure.data
    shared = sorted(set(words) & set(fields["words"]))
    why = [f"uses {table}" for table in _used(exposure, keys)]
    return KnownAnalysis(
        urn=fields["urn"],
        name=fields["name"],
        type=fields["type"],
        description=shortened(data["description"], _LONGEST),
        owner=data["owner"],
        url=data["url"],
        tables=list(fields["tables"]),
        why=[*why, f"name holds {', '.join(shared)}"] if shared else why,
        node_id=exposure.node_id,
        document_id=exposure.document_id,
        kb_name=exposure.kb_name,
    )


def _passage(hit: Hit, words: list[str]) -> ReportPassage:
    return ReportPassage(
        text=shortened(hit.text, _LONGEST),
        title=hit.title,
        path=hit.path,
        page=hit.page,
        words=words,
        node_id=hit.node_id,
        document_id=hit.document_id,
        kb_name=hit.kb_name,
    )
