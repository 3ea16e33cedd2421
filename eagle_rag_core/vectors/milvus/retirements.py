"""Which versions Milvus is to lose, and when.

Milvus has no transactions; the catalog says which of its rows are in use. A version has a
retirement (a row of the catalog with a due time) from before its vectors are stored until the
commit that publishes it, and again from the commit that replaces it. Once that is due, a sweep
may remove the vectors at any moment: from then on nobody may rely on them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Select, delete, select

from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import documents
from eagle_rag_core.catalog.schema import vector_retirements as table
from eagle_rag_core.errors import StorageError

if TYPE_CHECKING:
    from eagle_rag_core.catalog.engine import Catalog

#: Versions removed per sweep; it holds a transaction meanwhile.
_SWEPT = 500


class Retirements:
    """The retirements of one namespace.

    :param grace: seconds between retirement and removal.
    """

    def __init__(self, catalog: Catalog, grace: float, clock: Callable[[], float]) -> None:
        self._catalog = catalog
        self._grace = grace
        self._clock = clock

    def note(self, tx: Connection, collection: str, version_ids: Sequence[str]) -> float:
        """Retire versions; those that are retired already get their whole grace again.

        :returns: when they are due.
        """
        due_at = self._clock() + self._grace
        same = {
            "namespace": self._catalog.namespace,
            "collection": collection,
            "due_at": due_at,
        }
        # In order, so that two transactions with the same versions never wait for each other.
        rows = [same | {"version_id": version} for version in sorted(set(version_ids))]
        if rows:
            tx.execute(_insert_or_replace(tx), rows)
        return due_at

    def cancel(self, tx: Connection, collection: str, version_id: str) -> bool:
        """Let a version stay for good; False when it may have been removed already."""
        in_time = table.c.due_at > self._clock()
        found = tx.execute(delete(table).where(*self._of(collection, [version_id]), in_time))
        return found.rowcount == 1

    def begin(self, collection: str, version_id: str) -> float:
        """Retire a version before its vectors are stored, so that they are never forgotten.

        :returns: when it is due.
        """
        with self._catalog.write() as tx:
            return self.note(tx, collection, [version_id])

    def prolong(self, collection: str, version_id: str, due_at: float) -> float:
        """Give a version that is being stored its whole grace again, once half of it is gone.

        :returns: when it is due.
        :raises StorageError: the grace was over, so that a part may have been removed already.
        """
        if due_at - self._clock() >= self._grace / 2:
            return due_at
        with self._catalog.write() as tx:
            in_time = self.cancel(tx, collection, version_id)
            # Even when it is too late: what was stored since has to be removed as well.
            due_at = self.note(tx, collection, [version_id])
        if not in_time:
            raise too_late()
        return due_at

    def any_due(self) -> bool:
        """Whether there is anything to sweep. Does not queue behind writers."""
        with self._catalog.read() as connection:
            return connection.execute(self._due()).first() is not None

    def take_due(self, tx: Connection) -> dict[str, list[str]]:
        """End retirements that are due; until ``tx`` ends, nobody can begin them anew.

        :returns: by collection, the versions to remove before the commit. Visible ones are left
            out: a worker that had lost its job may have stored again what another published.
        """
        due = tx.execute(self._due().with_for_update()).all()
        visible = self._visible(tx, {version_id for _, version_id in due})
        ended: defaultdict[str, list[str]] = defaultdict(list)
        for collection, version_id in due:
            ended[collection].append(version_id)
        for collection, version_ids in ended.items():
            tx.execute(delete(table).where(*self._of(collection, version_ids)))
        removable = {
            collection: [version for version in version_ids if version not in visible]
            for collection, version_ids in ended.items()
        }
        return {collection: found for collection, found in removable.items() if found}

    def _due(self) -> Select[str, str]:
        return (
            select(table.c.collection, table.c.version_id)
            .where(table.c.namespace == self._catalog.namespace, table.c.due_at <= self._clock())
            .order_by(table.c.due_at)
            .limit(_SWEPT)
        )

    def _visible(self, tx: Connection, version_ids: set[str]) -> set[str]:
        column = documents.c.visible_version
        return set(tx.scalars(select(column).where(any_of(column, version_ids))))

    def _of(self, collection: str, version_ids: Sequence[str]) -> tuple[ColumnElement[bool], ...]:
        return (
            table.c.namespace == self._catalog.namespace,
            table.c.collection == collection,
            any_of(table.c.version_id, version_ids),
        )


def too_late() -> StorageError:
    """Vectors were not published within their grace."""
    return StorageError(
        "Storing the vectors of a document took so long that they were given up; try again.",
        retry_after_s=1.0,
    )


def _insert_or_replace(tx: Connection) -> Any:
    """One statement for both databases, of which SQLAlchemy has one for each."""
    from sqlalchemy.dialects import postgresql, sqlite

    dialect: Any = sqlite if tx.dialect.name == "sqlite" else postgresql
    added = dialect.insert(table)
    return added.on_conflict_do_update(
        index_elements=table.primary_key, set_={"due_at": added.excluded.due_at}
    )
