"""Spider and BIRD as catalogs and questions: schemas as SQL scripts, gold tables and columns."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import traverse_scope

from eagle_rag_lakehouse_bi.identifiers import identifier_words

_TYPES: Final = {"number": "numeric", "time": "timestamp", "boolean": "boolean"}
#: Files of each set, and the name of the gold query in it.
_SETS: Final = {
    "spider": ("spider/tables.json", "spider/dev.json", "query"),
    "bird": ("bird/dev_tables.json", "bird/dev.json", "SQL"),
}


class Column(NamedTuple):
    """:param description: its label, where that says more than the name, and its meaning."""

    name: str
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class Database:
    """:param references: (table, column, table referred to, its column)."""

    name: str
    columns: Mapping[str, list[Column]]
    keys: Mapping[str, list[str]]
    labels: Mapping[str, str]
    references: list[tuple[str, str, str, str]]

    def script(self) -> str:
        """The schema as a SQL script; labels and meanings are comments."""
        return "\n".join(self._statements())

    def _statements(self) -> Iterator[str]:
        for table, columns in self.columns.items():
            place = f"{_quoted(self.name)}.{_quoted(table)}"
            lines = [f"  {_quoted(c.name)} {_TYPES.get(c.type, 'text')}" for c in columns]
            if self.keys[table]:
                lines.append(f"  PRIMARY KEY ({', '.join(map(_quoted, self.keys[table]))})")
            lines += [
                f"  FOREIGN KEY ({_quoted(column)}) REFERENCES "
                f"{_quoted(self.name)}.{_quoted(other)} ({_quoted(key)})"
                for own, column, other, key in self.references
                if own == table
            ]
            yield f"CREATE TABLE {place} (\n" + ",\n".join(lines) + "\n);"
            if self.labels[table]:
                yield f"COMMENT ON TABLE {place} IS {_text(self.labels[table])};"
            for column in columns:
                if column.description:
                    own = f"{place}.{_quoted(column.name)}"
                    yield f"COMMENT ON COLUMN {own} IS {_text(column.description)};"


class Question(NamedTuple):
    """:param columns: (table, column) of the gold query; ``None`` when they are not resolved.

    All names are in lower case.
    """

    database: str
    text: str
    evidence: str
    tables: frozenset[str]
    columns: frozenset[tuple[str, str]] | None


def data_root() -> Path | None:
    """The folder of the data sets, ``None`` when it is absent."""
    root = Path(os.environ.get("EAGLE_RAG_TEST_DATA", "../shared/data")) / "lakehouse"
    if root.is_dir():
        return root
    sys.stderr.write("The data is absent; set EAGLE_RAG_TEST_DATA.\n")
    return None


def databases(root: Path, name: str) -> list[Database]:
    """The databases of a set: ``spider`` (166) or ``bird`` (11)."""
    meanings = _meanings(root) if name == "bird" else {}
    found = json.loads((root / _SETS[name][0]).read_text("utf-8"))
    return [_database(item, meanings) for item in found]


def questions(root: Path, name: str, known: list[Database]) -> list[Question]:
    """The questions of a set with what their gold queries read."""
    _, file, key = _SETS[name]
    schemas = {
        database.name: {
            table.lower(): {c.name.lower(): "text" for c in columns}
            for table, columns in database.columns.items()
        }
        for database in known
    }
    items = json.loads((root / file).read_text("utf-8"))
    return [_question(item, key, schemas[item["db_id"]]) for item in items]


def _question(
    item: Mapping[str, Any], key: str, schema: Mapping[str, Mapping[str, str]]
) -> Question:
    tree = parse_one(item[key], dialect="sqlite")
    defined = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    tables = {table.name.lower() for table in tree.find_all(exp.Table)} - defined
    return Question(
        database=item["db_id"],
        text=item["question"],
        evidence=item.get("evidence", ""),
        tables=frozenset(tables),
        columns=_gold_columns(tree, schema),
    )


def _gold_columns(
    tree: exp.Expr, schema: Mapping[str, Mapping[str, str]]
) -> frozenset[tuple[str, str]] | None:
    for identifier in tree.find_all(exp.Identifier):
        identifier.set("this", identifier.name.lower())
    try:
        qualified = qualify(
            tree,
            schema=dict(schema),
            dialect="sqlite",
            validate_qualify_columns=False,
            quote_identifiers=False,
        )
    except SqlglotError:
        return None
    found = set()
    for scope in traverse_scope(qualified):
        for column in scope.columns:
            source = scope.sources.get(column.table)
            if isinstance(source, exp.Table):
                table, name = source.name.lower(), column.name.lower()
                if name in schema.get(table, {}):
                    found.add((table, name))
    return frozenset(found)


def _database(item: Mapping[str, Any], meanings: Mapping[tuple[str, str, str], str]) -> Database:
    name, tables = item["db_id"], item["table_names_original"]
    originals = item["column_names_original"]
    columns: dict[str, list[Column]] = {table: [] for table in tables}
    for (place, original), (_, label), kind in zip(
        originals, item["column_names"], item["column_types"], strict=True
    ):
        if place >= 0:
            meaning = meanings.get((name, tables[place].lower(), original.lower()), "")
            described = ". ".join(filter(None, (_label(original, label), meaning)))
            columns[tables[place]].append(Column(original, kind, described))
    keys: dict[str, list[str]] = {table: [] for table in tables}
    for key in item["primary_keys"]:
        for number in key if isinstance(key, list) else [key]:
            keys[tables[originals[number][0]]].append(originals[number][1])
    return Database(
        name=name,
        columns=columns,
        keys=keys,
        labels={t: _label(t, label) for t, label in zip(tables, item["table_names"], strict=True)},
        references=[
            (tables[originals[a][0]], originals[a][1], tables[originals[b][0]], originals[b][1])
            for a, b in item["foreign_keys"]
        ],
    )


def _label(name: str, label: str) -> str:
    """A label that says more than the name."""
    return label if set(identifier_words(label)) - set(identifier_words(name)) else ""


def _meanings(root: Path) -> dict[tuple[str, str, str], str]:
    found = json.loads((root / "bird" / "column_meaning.json").read_text("utf-8"))
    meanings = {}
    for place, text in found.items():
        database, table, column = place.split("|")
        meanings[database, table.lower(), column.lower()] = " ".join(text.strip("# ").split())
    return meanings


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
