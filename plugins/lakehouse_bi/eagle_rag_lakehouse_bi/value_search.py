"""Finds the values people mean: of columns an operator opted in, as far as files state them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, Literal

from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import Answer
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope
from eagle_rag_lakehouse_bi.sensitivity import is_sensitive
from eagle_rag_lakehouse_bi.table_names import plain_name
from eagle_rag_lakehouse_bi.values import ValueMatch, close_words, compared, value_words

if TYPE_CHECKING:
    from eagle_rag_lakehouse_bi.options import Options

_VOCABULARY: Final = 2_000
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A value that a phrase may mean.

    :param source: ``accepted``: one of the only values the column takes; ``sample``: an example.
    """

    phrase: str
    value: str
    table: str
    column: str
    score: float
    match: ValueMatch
    source: Literal["accepted", "sample"]
    document_id: str
    kb_name: str


@dataclass(frozen=True, slots=True)
class FoundValues(Answer):
    """:param enabled: whether any column is opted in.
    :param items: by phrase, the best first.
    :param unresolved: phrases without a value.
    """

    enabled: bool
    items: list[FoundValue]
    unresolved: list[str]


class ValueResolver:
    """Looks values up in the records of columns."""

    def __init__(self, ctx: PackContext) -> None:
        self._ctx = ctx

    def resolve(
        self, phrases: Sequence[str], columns: Sequence[str], limit: int, scope: Scope
    ) -> FoundValues:
        """The ``limit`` best values of each phrase.

        :param columns: names, alone or after that of a table; none for all that are opted in.
        """
        allowed = self._allowed()
        if not allowed:
            return FoundValues(enabled=False, items=[], unresolved=list(phrases))
        shown = [
            record
            for record in self._candidates(phrases, scope)
            if _matches(record, allowed) and _named(record, columns) and not _hidden(record)
        ]
        items: list[FoundValue] = []
        unresolved: list[str] = []
        for phrase in dict.fromkeys(phrases):
            found = sorted(_found(phrase, shown), key=_order)[:limit]
            items += found
            unresolved += [] if found else [phrase]
        return FoundValues(enabled=True, items=items, unresolved=unresolved)

    def _allowed(self) -> tuple[str, ...]:
        options: Options | None = self._ctx.options or None
        return tuple(p.lower() for p in options.value_columns) if options else ()

    def _candidates(self, phrases: Iterable[str], scope: Scope) -> list[Record]:
        """Columns with a value that shares a word with a phrase, or one spelled nearly alike."""
        reader = CatalogReader(self._ctx, scope)
        words = {word for phrase in phrases for word in value_words(phrase)}
        found = reader.find("column", "value_words", sorted(words))
        known = {word for record in found for word in record.fields["value_words"]}
        alike = {near for word in words - known for near in self._spelled_like(word, scope)}
        found += reader.find("column", "value_words", sorted(alike))
        return list({(r.document_id, r.fields["urn"]): r for r in found}.values())

    def _spelled_like(self, word: str, scope: Scope) -> list[str]:
        counted = self._ctx.records.values(
            "column",
            "value_words",
            prefix=word[:1],
            kb_name=scope.kb_name,
            document_ids=scope.document_ids,
            limit=_VOCABULARY,
        )
        return close_words(word, [str(value) for value, _ in counted])


def _matches(record: Record, allowed: Iterable[str]) -> bool:
    name = f"{record.fields['table']}.{record.fields['name']}".lower()
    return any(fnmatchcase(name, p) or fnmatchcase(name, f"*.{p}") for p in allowed)


def _named(record: Record, columns: Sequence[str]) -> bool:
    name = f".{record.fields['table']}.{record.fields['name']}".lower()
    return not columns or any(
        c == record.fields["urn"] or name.endswith(f".{plain_name(c)}") for c in columns
    )


def _hidden(record: Record) -> bool:
    names = (record.fields["name"], *record.data["synonyms"])
    return bool(record.data["sensitive"]) or is_sensitive(names)


def _found(phrase: str, records: Iterable[Record]) -> Iterator[FoundValue]:
    for record in records:
        for source, value in _values(record):
            if meant := compared(phrase, value):
                yield FoundValue(
                    phrase=phrase,
                    value=value[:_LONGEST],
                    table=record.fields["table"],
                    column=record.fields["name"],
                    score=meant[0],
                    match=meant[1],
                    source=source,
                    document_id=record.document_id,
                    kb_name=record.kb_name,
                )


def _values(record: Record) -> Iterator[tuple[Literal["accepted", "sample"], str]]:
    for value in record.data["accepted_values"]:
        yield "accepted", value
    for value in record.data["samples"]:
        yield "sample", value


def _order(found: FoundValue) -> tuple[float, str, str, str]:
    return -found.score, found.table, found.column, found.value
