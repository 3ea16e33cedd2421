"""The Milvus backend behind the protocol."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, insert, select

from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import vector_retirements as retirements
from eagle_rag_core.errors import StorageError
from eagle_rag_core.types import Scope, ScoredNode
from eagle_rag_core.vectors import filters
from eagle_rag_core.vectors.checks import check_rows, checked_query
from eagle_rag_core.vectors.filters import Expression, Field
from eagle_rag_core.vectors.milvus import collections as layout
from eagle_rag_core.vectors.milvus.connection import MilvusConnection
from eagle_rag_core.vectors.store import Collection, VersionRows

if TYPE_CHECKING:
    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.vectors.store import Vector

logger = logging.getLogger(__name__)

#: Rows per request: with 1,024 dimensions and full token fields still below gRPC's 64 MB.
_BATCH = 500
#: The most hits Milvus returns.
_MOST_HITS = 16_384
#: Versions removed per sweep; it holds a transaction meanwhile.
_SWEPT = 500


class MilvusVectorStore:
    """Vectors in Milvus, kept in step with the catalog.

    Milvus has no transactions, so order replaces them: a version is written before the
    catalog's commit makes it visible, and removed a grace after a commit retired it. In between
    searches may return nodes of either; the caller asks the catalog which version is visible.
    A version whose commit failed stays until the same content is ingested again.

    Document frequencies are those of the whole namespace (in Milvus Lite: of each segment), so
    that scores depend a little on knowledge bases outside of the scope.

    :param database: in Milvus; one per namespace.
    :param grace: seconds between retirement and removal; longer than any call takes.
    :param timeout: seconds one request may take.
    """

    name = "milvus"

    def __init__(
        self,
        catalog: Catalog,
        *,
        uri: str,
        token: str = "",
        database: str,
        grace: float,
        timeout: float = 30.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._catalog = catalog
        self._milvus = MilvusConnection(uri, token, database, timeout)
        self._timeout = timeout
        self._grace = grace
        self._clock = clock
        self._writing = threading.Lock()  # Milvus Lite asks for it, servers do not mind
        self._loaded: set[str] = set()

    def ensure(self, collection: Collection) -> None:
        with self._writing, self._milvus.client() as client:
            layout.create_collection(
                client,
                collection,
                embedded_engine=self._milvus.embedded_engine,
                timeout=self._timeout,
            )
            self._loaded.add(collection.name)

    def write(self, tx: Connection, collection: Collection, rows: VersionRows) -> None:
        check_rows(collection, rows)
        # First of all: a sweep that is under way holds this row until it is done.
        self._forget_retirements(tx, collection.name, [rows.version_id])
        if collection.name not in self._loaded:
            self.ensure(collection)
        with self._writing, self._milvus.client() as client:
            for start in range(0, len(rows.node_ids), _BATCH):
                batch = _entities(collection, rows, slice(start, start + _BATCH))
                client.upsert(collection.name, batch, timeout=self._timeout)
            self._confirm(client, collection, rows)
            if self._milvus.embedded_engine:
                # There every search walks over unflushed rows; servers limit explicit flushes.
                client.flush(collection.name, timeout=self._timeout)

    def retire(self, tx: Connection, collection: Collection, version_ids: Sequence[str]) -> None:
        if not version_ids:
            return
        self._forget_retirements(tx, collection.name, version_ids)
        same = {
            "namespace": self._catalog.namespace,
            "collection": collection.name,
            "due_at": self._clock() + self._grace,
        }
        tx.execute(
            insert(retirements), [same | {"version_id": version} for version in set(version_ids)]
        )

    def search_dense(
        self, collection: Collection, vector: Vector, scope: Scope, limit: int
    ) -> list[ScoredNode]:
        if not collection.dim:
            return []
        query = checked_query(collection, vector).tolist()
        return _best(self._search(collection, layout.DENSE, query, scope, limit), limit)

    def search_lexical(
        self, collection: Collection, tokens: Sequence[str], scope: Scope, limit: int
    ) -> list[ScoredNode]:
        if not tokens:
            return []
        query = _encoded(tokens)
        found = self._search(collection, layout.SPARSE, query, scope, limit)
        # Milvus Lite returns negative scores.
        scored = (ScoredNode(node.node_id, abs(node.score)) for node in found)
        return _best((node for node in scored if node.score > 0), limit)

    def count(self, collection: Collection, scope: Scope) -> int:
        if not self._open(collection):
            return 0
        with self._milvus.client() as client:
            return sum(
                self._count(client, collection, expression)
                for expression in filters.scope_expressions(scope)
            )

    def refresh(self) -> None:
        """Milvus keeps itself up to date."""

    def sweep(self) -> int:
        with self._catalog.read() as connection:
            if not self._due(connection):  # mostly so; do not queue behind writers for it
                return 0
        with self._catalog.write() as tx:
            due = self._due(tx, locked=True)
            for name, version_ids in due.items():
                self._remove(name, version_ids)
                self._forget_retirements(tx, name, version_ids)
        return sum(map(len, due.values()))

    def close(self) -> None:
        self._milvus.close()
        self._loaded.clear()

    def _search(
        self, collection: Collection, field: str, query: Any, scope: Scope, limit: int
    ) -> list[ScoredNode]:
        if scope.empty or limit < 1 or not self._open(collection):
            return []
        found: list[ScoredNode] = []
        with self._milvus.client() as client:
            for expression in filters.scope_expressions(scope):
                hits = client.search(
                    collection.name,
                    data=[query],
                    anns_field=field,
                    filter=expression,
                    limit=min(limit, _MOST_HITS),
                    output_fields=[Field.NODE_ID],
                    timeout=self._timeout,
                )[0]
                found += [ScoredNode(hit[Field.NODE_ID], float(hit["distance"])) for hit in hits]
        return found

    def _open(self, collection: Collection) -> bool:
        """Make a collection that exists ready for searches."""
        if collection.name in self._loaded:
            return True
        with self._milvus.client() as client:
            if not client.has_collection(collection.name, timeout=self._timeout):
                return False
        self.ensure(collection)
        return True

    def _confirm(self, client: Any, collection: Collection, rows: VersionRows) -> None:
        """Make sure that Milvus serves exactly the rows of a version.

        The count is strongly consistent, so once it is right, all later searches see the rows
        with the default consistency, which costs them no waiting.
        """
        of_version = filters.is_in(Field.VERSION_ID, [rows.version_id])
        count = self._count(client, collection, of_version)
        if count > len(rows.node_ids):  # it was written before, and differently
            former = of_version
            if rows.node_ids:
                former = filters.all_of(of_version, filters.is_not_in(Field.NODE_ID, rows.node_ids))
            client.delete(collection.name, filter=former, timeout=self._timeout)
            count = self._count(client, collection, of_version)
        if count != len(rows.node_ids):
            raise StorageError("Milvus did not keep all vectors of a document; try again.")

    def _count(self, client: Any, collection: Collection, expression: Expression) -> int:
        rows = client.query(
            collection.name,
            filter=expression,
            output_fields=["count(*)"],
            consistency_level="Strong",
            timeout=self._timeout,
        )
        return int(rows[0]["count(*)"])

    def _due(self, connection: Connection, *, locked: bool = False) -> dict[str, list[str]]:
        """Versions whose grace is over, by collection.

        :param locked: keep others from changing their retirements until the transaction ends.
        """
        query = (
            select(retirements.c.collection, retirements.c.version_id)
            .where(
                retirements.c.namespace == self._catalog.namespace,
                retirements.c.due_at <= self._clock(),
            )
            .order_by(retirements.c.due_at)
            .limit(_SWEPT)
        )
        due: defaultdict[str, list[str]] = defaultdict(list)
        for name, version_id in connection.execute(query.with_for_update() if locked else query):
            due[name].append(version_id)
        return due

    def _remove(self, name: str, version_ids: Sequence[str]) -> None:
        with self._writing, self._milvus.client() as client:
            if client.has_collection(name, timeout=self._timeout):
                expression = filters.is_in(Field.VERSION_ID, version_ids)
                client.delete(name, filter=expression, timeout=self._timeout)

    def _forget_retirements(self, tx: Connection, name: str, version_ids: Sequence[str]) -> None:
        tx.execute(
            delete(retirements).where(
                retirements.c.namespace == self._catalog.namespace,
                retirements.c.collection == name,
                any_of(retirements.c.version_id, version_ids),
            )
        )


def _entities(collection: Collection, rows: VersionRows, span: slice) -> list[dict[str, Any]]:
    same: dict[str, Any] = {
        Field.VERSION_ID: rows.version_id,
        Field.DOCUMENT_ID: rows.document_id,
        Field.KB_NAME: rows.kb_name,
    }
    entities: list[dict[str, Any]] = [
        {**same, Field.NODE_ID: node_id, layout.TOKENS: _encoded(tokens)}
        for node_id, tokens in zip(rows.node_ids[span], rows.tokens[span], strict=True)
    ]
    if collection.dim and rows.dense is not None:
        for entity, vector in zip(entities, rows.dense[span].tolist(), strict=True):
            entity[layout.DENSE] = vector
    return entities


def _encoded(tokens: Sequence[str]) -> str:
    """Tokens as text that any tokenizer of Milvus splits at the spaces only."""
    from eagle_rag_core.models.token_encoding import encode

    text = encode(tokens)
    if len(text) <= layout.MOST_TOKEN_BYTES:  # the encoding is ASCII
        return text
    logger.warning("A node has more terms than Milvus can index; its last ones are left out.")
    return text[: text.rindex(" ", 0, layout.MOST_TOKEN_BYTES + 1)]


def _best(nodes: Iterable[ScoredNode], limit: int) -> list[ScoredNode]:
    return sorted(nodes, key=lambda node: (-node.score, node.node_id))[:limit]
