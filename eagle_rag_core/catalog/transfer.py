"""A catalog as plain rows, on its way out of one database and into another.

Rows are lists of values that JSON has, in the order of the table's columns; bytes are base64. A
catalog of an older schema arrives at that schema and is migrated there, by the migrations that
every catalog goes through.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    LargeBinary,
    MetaData,
    Table,
    func,
    insert,
    inspect,
    literal,
    select,
    text,
    union_all,
    update,
)

from eagle_rag_core.catalog import migration
from eagle_rag_core.catalog.kbs import new_epoch
from eagle_rag_core.catalog.schema import (
    documents,
    jobs,
    kbs,
    metadata,
    sources,
    vector_collections,
    vector_rows,
    vector_state,
)
from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.types import JobStatus

Row = list[Any]
#: What is true of one database at one time only: the feed of changes, the generations of memory
#: indexes, and what Milvus is to lose.
_OF_THE_MOMENT = frozenset({"vector_changes", "vector_state", "vector_retirements"})
#: Where migrations note how far they are.
_REVISIONS = "alembic_version"
#: Tables that are carried over, referenced ones first; vectors last.
TABLES = (
    *(
        each
        for each in metadata.sorted_tables
        if each.name not in _OF_THE_MOMENT and each.name != vector_rows.name
    ),
    vector_rows,
)
_BATCH = 500


def is_occupied(conn: Connection) -> bool:
    """Whether the catalog holds anything that somebody put there."""
    return any(
        conn.execute(select(each).limit(1)).first() for each in (kbs, documents, jobs, sources)
    )


def read_table(conn: Connection, source: Table) -> Iterator[Row]:
    """All rows of a table, in the order of its key; vectors with their version together."""
    key = [each.name for each in source.primary_key]
    if source is vector_rows:
        key.insert(-1, vector_rows.c.version_id.name)
    query = select(source).order_by(*(source.c[name] for name in key))
    result = conn.execute(query, execution_options={"yield_per": _BATCH})
    for row in result:
        yield [plain(value) for value in row]


def clear(tx: Connection, revision: str) -> dict[str, int]:
    """Leave nothing but empty tables of a schema revision.

    :returns: the former generation of every namespace.
    """
    generations = dict(
        tx.execute(select(vector_state.c.namespace, vector_state.c.generation)).all()
    )
    metadata.drop_all(tx)
    tx.execute(text(f"DROP TABLE {_REVISIONS}"))
    migration.upgrade(tx, to=revision)
    return generations


class Loader:
    """Writes rows into the tables as they are in the database now."""

    def __init__(self, tx: Connection) -> None:
        self._tx = tx
        self._columns: dict[tuple[str, tuple[str, ...]], tuple[Table, list[Column[Any]]]] = {}

    def load(self, name: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Insert rows.

        :raises InvalidArgument: the table does not have those columns.
        """
        target, found = self._target(name, tuple(columns))
        values = [_stored(found, row) for row in rows]
        for start in range(0, len(values), _BATCH):
            self._tx.execute(insert(target), values[start : start + _BATCH])

    def _target(self, name: str, columns: tuple[str, ...]) -> tuple[Table, list[Column[Any]]]:
        key = (name, columns)
        if key not in self._columns:
            carried = name not in _OF_THE_MOMENT and name != _REVISIONS
            if not (carried and inspect(self._tx).has_table(name)):
                raise InvalidArgument(f"There is no table {name[:80]!r} at this schema revision.")
            target = Table(name, MetaData(), autoload_with=self._tx, resolve_fks=False)
            if set(columns) != set(target.columns.keys()):
                raise InvalidArgument(f"Table {name!r} has other columns at this schema revision.")
            self._columns[key] = target, [target.c[each] for each in columns]
        return self._columns[key]


def settle(tx: Connection, generations: Mapping[str, int]) -> None:
    """Bring loaded tables to the schema of this version and make them the catalog in force.

    Every process builds its indexes anew, no cached answer is valid any more, and nobody holds a
    job or a source.

    :param generations: former ones, as :func:`clear` gave them.
    :raises InvalidArgument: rows refer to others that are missing.
    """
    migration.upgrade(tx)
    tx.execute(
        update(jobs)
        .where(jobs.c.status == JobStatus.RUNNING)
        .values(status=JobStatus.QUEUED, stage="", progress=0.0)
    )
    tx.execute(update(jobs).values(lease_owner="", lease_until=0.0, dispatched_at=0.0))
    tx.execute(update(sources).values(lease_owner="", lease_until=0.0))
    for namespace, name in tx.execute(select(kbs.c.namespace, kbs.c.name)).all():
        this = (kbs.c.namespace == namespace, kbs.c.name == name)
        tx.execute(update(kbs).where(*this).values(epoch=new_epoch()))
    named = union_all(select(kbs.c.namespace), select(vector_collections.c.namespace))
    for namespace in {*tx.scalars(named), *generations}:
        number = generations.get(namespace, 0) + 1
        tx.execute(insert(vector_state).values(namespace=namespace, generation=number))
    if tx.dialect.name == "postgresql":
        _continue_sequences(tx)
        # Until the server does so by itself, it would plan as if the tables were empty.
        tx.execute(text("ANALYZE"))
    elif tx.execute(text("PRAGMA foreign_key_check")).first() is not None:
        raise InvalidArgument("Rows of the catalog refer to others that are missing.")


def _continue_sequences(tx: Connection) -> None:
    """Let the next numbers follow those that came with the rows."""
    for each in metadata.sorted_tables:
        numbered = each.autoincrement_column
        if numbered is None or each.name in _OF_THE_MOMENT:
            continue
        highest = select(func.coalesce(func.max(numbered), 0) + 1).scalar_subquery()
        sequence = func.pg_get_serial_sequence(each.name, numbered.name)
        tx.execute(select(func.setval(sequence, highest, literal(False))))


def plain(value: Any) -> Any:
    """A value of a row as JSON has it."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _stored(columns: Sequence[Column[Any]], row: Row) -> dict[str, Any]:
    return {
        column.name: (
            base64.b64decode(value)
            if isinstance(column.type, LargeBinary) and value is not None
            else value
        )
        for column, value in zip(columns, row, strict=True)
    }
