"""The terms of the business, with what the catalogs call alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import Answer
from eagle_rag_lakehouse_bi.identifiers import question_words
from eagle_rag_lakehouse_bi.paging import page
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope

_MOST_TERMS: Final = 5_000
_MOST_LINKS: Final = 5
_LINKED: Final = ("table", "metric", "column")


@dataclass(frozen=True, slots=True)
class TermLink:
    """An object whose name holds all words of a term."""

    kind: str
    name: str
    urn: str


@dataclass(frozen=True, slots=True)
class GlossaryTerm:
    """:param conflicts: other definitions of the same name.
    :param links: tables, metrics and columns named by the term, five of each at most.
    """

    name: str
    definition: str
    synonyms: list[str]
    conflicts: list[str]
    links: list[TermLink]
    file: str
    line: int
    urn: str
    node_id: str
    document_id: str
    kb_name: str


@dataclass(frozen=True, slots=True)
class GlossaryPage(Answer):
    """A page of terms: those that fit best first, else by name.

    :param total: of all pages.
    """

    items: list[GlossaryTerm]
    total: int
    next_cursor: str


class Glossary:
    """Reads terms from the records of the ingested catalogs."""

    def __init__(self, ctx: PackContext) -> None:
        self._ctx = ctx

    def page(self, term: str, scope: Scope, limit: int, cursor: str) -> GlossaryPage:
        """Terms that share words with ``term``; "" for all of them.

        :raises InvalidArgument: the cursor is not valid.
        """
        reader = CatalogReader(self._ctx, scope)
        words = set(question_words(term))
        if term:
            records = reader.find("term", "words", sorted(words), limit=_MOST_TERMS)
        else:
            records = reader.all("term", limit=_MOST_TERMS)

        def order(record: Record) -> tuple[float, str, str]:
            own = set(record.fields["words"])
            shared = len(own & words) / len(own | words) if own else 0.0
            return -shared, record.fields["name"].lower(), record.document_id

        records.sort(key=order)
        shown, next_cursor = page(records, cursor, limit)
        named = _by_name(reader.find("term", "name", [r.fields["name"] for r in shown]))
        items = [_term(reader, record, named) for record in shown]
        return GlossaryPage(items=items, total=len(records), next_cursor=next_cursor)


def _by_name(records: Sequence[Record]) -> dict[str, dict[str, None]]:
    """The definitions of each name, each once."""
    named: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for record in records:
        named[record.fields["name"]][record.data["definition"]] = None
    return named


def _term(
    reader: CatalogReader, record: Record, named: Mapping[str, Mapping[str, None]]
) -> GlossaryTerm:
    fields, data = record.fields, record.data
    return GlossaryTerm(
        name=fields["name"],
        definition=data["definition"],
        synonyms=data["synonyms"],
        conflicts=[d for d in named[fields["name"]] if d != data["definition"]],
        links=list(_links(reader, fields["name"])),
        file=data["origin"]["file"],
        line=data["origin"]["line"],
        urn=fields["urn"],
        node_id=record.node_id,
        document_id=record.document_id,
        kb_name=record.kb_name,
    )


def _links(reader: CatalogReader, name: str) -> Iterator[TermLink]:
    words = set(question_words(name))
    for kind in _LINKED:
        found = reader.find(kind, "words", sorted(words))
        whole = [r for r in found if words <= set(r.fields["words"])]
        whole.sort(key=lambda r: (len(r.fields["words"]), r.fields["urn"]))
        for record in whole[:_MOST_LINKS]:
            yield TermLink(kind, record.fields["name"], record.fields["urn"])
