"""How well a library finds the tables of its own verified questions.

Each question is asked without the verified query that answers it, which would give it away. With
more questions than folds, it is asked without the others of its fold as well, so that the index is
built a bounded number of times.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_lakehouse_bi.context import ContextFinder, ContextQuestion
from eagle_rag_lakehouse_bi.identifiers import readable
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope, TableKey
from eagle_rag_lakehouse_bi.table_names import TableNames
from eagle_rag_lakehouse_cli.library import context

if TYPE_CHECKING:
    from eagle_rag_core.plugins import PackContext
    from eagle_rag_core.plugins.context import PackServices
    from eagle_rag_core.types import Record

_FOLDS: Final = 20
_MOST_QUERIES: Final = 2_000
_MOST_OBJECTS: Final = 200_000
#: Tables that are looked for by their own names.
_MOST_NAMED: Final = 1_000
_MOST_DESCRIPTIONS: Final = 20


@dataclass(frozen=True, slots=True)
class SchemaFigures:
    """:param recall: the share of needed tables that were found, over its questions.
    :param complete: the share of questions for which all were.
    """

    schema: str
    questions: int
    recall: float
    complete: float


@dataclass(frozen=True, slots=True)
class Missed:
    """A question for which tables were not found, by id."""

    question: str
    tables: list[str]


@dataclass(frozen=True, slots=True)
class DescriptionToWrite:
    """A table or column without a description.

    :param missed: questions that needed its table and did not find it.
    :param used: verified queries that use it.
    """

    name: str
    missed: int
    used: int


@dataclass(frozen=True, slots=True)
class Report:
    """:param schemas: the one all questions are of together first, as "".
    :param gone: tables that verified queries read and no catalog describes.
    :param unreachable: tables that their own name does not find, or that no question found which
        needs them.
    """

    questions: int
    max_tables: int
    schemas: list[SchemaFigures]
    missed: list[Missed]
    gone: list[str]
    unreachable: list[str]
    descriptions: list[DescriptionToWrite]


@dataclass(frozen=True, slots=True)
class _Asked:
    """:param needed: ids of tables; ``found`` those of the answer."""

    query: Record
    needed: frozenset[str]
    found: frozenset[str]

    @property
    def lacking(self) -> frozenset[str]:
        return self.needed - self.found


def evaluate(services: PackServices, kb_name: str, max_tables: int) -> Report:
    """Ask all verified questions.

    :raises InvalidArgument: the library has none.
    """
    whole = context(services)
    scope = Scope(kb_name)
    reader = CatalogReader(whole, scope)
    queries = [
        record
        for record in reader.find("query", "status", ["certified"], limit=_MOST_QUERIES)
        if record.data["question"] and record.fields["tables"]
    ]
    if not queries:
        raise InvalidArgument(
            "There is no verified query with a question and tables; ingest a semantic model that "
            "has some."
        )
    needed, gone = _needed(whole, scope, queries)
    asked: list[_Asked] = []
    for number in range(min(_FOLDS, len(queries))):
        fold = queries[number::_FOLDS]
        finder = ContextFinder(context(services, fold))
        for query in fold:
            if tables := needed[query.fields["urn"]]:
                found = _found(finder, query.data["question"], kb_name, max_tables)
                asked.append(_Asked(query, tables, found))
    return Report(
        questions=len(asked),
        max_tables=max_tables,
        schemas=_by_schema(asked),
        missed=[Missed(a.query.data["question"], sorted(a.lacking)) for a in asked if a.lacking],
        gone=sorted(gone),
        unreachable=_unreachable(whole, reader, asked, kb_name, max_tables),
        descriptions=_descriptions(reader, asked),
    )


def _needed(
    ctx: PackContext, scope: Scope, queries: Sequence[Record]
) -> tuple[dict[str, frozenset[str]], set[str]]:
    """The tables each query reads, by the URN of the query, and names that mean none."""
    names = sorted({name for query in queries for name in query.fields["tables"]})
    meant = TableNames(ctx, scope).find(names)
    found = {
        query.fields["urn"]: frozenset(
            _of_document(meant[name], query.document_id).id
            for name in query.fields["tables"]
            if meant[name]
        )
        for query in queries
    }
    return found, {name for name in names if not meant[name]}


def _of_document(keys: Sequence[TableKey], document_id: str) -> TableKey:
    """The table a file means by a name: its own, else the first."""
    return min(keys, key=lambda key: (key.document_id != document_id, key.id))


def _found(finder: ContextFinder, question: str, kb_name: str, most: int) -> frozenset[str]:
    answer = finder.answer(ContextQuestion(question, kb_name, max_tables=most, max_tokens=20_000))
    return frozenset(table.id for table in answer.tables)


def _by_schema(asked: Sequence[_Asked]) -> list[SchemaFigures]:
    of_schema: defaultdict[str, list[_Asked]] = defaultdict(list)
    for one in asked:
        for schema in {_schema(table) for table in one.needed}:
            of_schema[schema].append(one)
    return [_figures("", asked), *(_figures(s, of_schema[s]) for s in sorted(of_schema))]


def _figures(schema: str, asked: Sequence[_Asked]) -> SchemaFigures:
    def own(tables: Iterable[str]) -> set[str]:
        return {t for t in tables if not schema or _schema(t) == schema}

    needed = sum(len(own(a.needed)) for a in asked)
    lacking = sum(len(own(a.lacking)) for a in asked)
    complete = sum(not own(a.lacking) for a in asked)
    return SchemaFigures(
        schema,
        len(asked),
        round(1 - lacking / needed, 4) if needed else 0.0,
        round(complete / len(asked), 4) if asked else 0.0,
    )


def _schema(table: str) -> str:
    return table.rpartition(".")[0] or "(none)"


def _unreachable(
    ctx: PackContext, reader: CatalogReader, asked: Sequence[_Asked], kb_name: str, most: int
) -> list[str]:
    needed = {table for one in asked for table in one.needed}
    found = {table for one in asked for table in one.found}
    finder = ContextFinder(ctx)
    for record in reader.all("table", limit=_MOST_NAMED):
        table = record.fields["id"]
        if table not in found and table not in needed:
            own = readable(record.fields["name"]) or table
            if table in _found(finder, own, kb_name, most):
                found.add(table)
            needed.add(table)
    return sorted(needed - found)


def _descriptions(reader: CatalogReader, asked: Sequence[_Asked]) -> list[DescriptionToWrite]:
    """Tables that questions need, and columns that their queries name, without a description."""
    missed = Counter(table for one in asked for table in one.lacking)
    used: defaultdict[str, list[str]] = defaultdict(list)
    for one in asked:
        for table in one.needed:
            used[table].append(one.query.data["sql"])
    tables = reader.tables("id", sorted(used))
    described = {key.id for key, record in tables.items() if record.data["description"]}
    found = [
        DescriptionToWrite(table, missed[table], len(queries))
        for table, queries in used.items()
        if table not in described
    ]
    found += _columns(reader, used, missed)
    found.sort(key=lambda d: (-d.missed, -d.used, d.name))
    return found[:_MOST_DESCRIPTIONS]


def _columns(
    reader: CatalogReader, used: Mapping[str, Sequence[str]], missed: Mapping[str, int]
) -> Iterable[DescriptionToWrite]:
    seen: set[str] = set()
    for record in reader.find("column", "table", sorted(used), limit=_MOST_OBJECTS):
        table, name = record.fields["table"], record.fields["name"]
        own = f"{table}.{name}"
        naming = sum(_names(sql, name) for sql in used[table])
        if naming and not record.data["description"] and own not in seen:
            seen.add(own)
            yield DescriptionToWrite(own, missed.get(table, 0), naming)


def _names(sql: str, column: str) -> bool:
    return bool(re.search(rf"(?<![\w$]){re.escape(column)}(?![\w$])", sql, re.IGNORECASE))
