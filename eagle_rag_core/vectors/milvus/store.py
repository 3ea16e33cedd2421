"""The Milvus backend behind the protocol."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from eagle_rag_core.errors import StorageError
from eagle_rag_core.types import Scope, ScoredNode
from eagle_rag_core.vectors import filters
from eagle_rag_core.vectors.checks import check_rows, checked_query
from eagle_rag_core.vectors.filters import Expression, Field
from eagle_rag_core.vectors.milvus import collections as layout
from eagle_rag_core.vectors.milvus.connection import MilvusConnection
from eagle_rag_core.vectors.milvus.retirements import Retirements, too_late
from eagle_rag_core.vectors.scopes import stored_scope
from eagle_rag_core.vectors.store import Collection, Usage, VersionRows

if TYPE_CHECKING:
    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.vectors.store import Vector

logger = logging.getLogger(__name__)

#: Rows per request: with 1,024 dimensions and full token fields still below gRPC's 64 MB.
_BATCH = 500
#: The most hits Milvus returns.
_MOST_HITS = 16_384


class MilvusVectorStore:
    """Vectors in Milvus, kept in step with the catalog.

    Milvus has no transactions, so order replaces them: a version is stored before the catalog's
    commit makes it visible, and removed a grace after a commit retired it. In between searches
    may return nodes of either; the caller asks the catalog which version is visible. What is
    stored counts as retired until it is published, so that a version whose commit never happens
    goes too. No transaction of the catalog is open while Milvus takes vectors.

    Document frequencies are those of the whole namespace (in Milvus Lite: of each segment), so
    that scores depend a little on knowledge bases outside of the scope.

    :param database: in Milvus; one per namespace.
    :param grace: seconds between retirement and removal; longer than any call takes, and at
        least twice ``timeout``: it is prolonged between requests once half of it is gone.
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
        self.grace = grace
        self._retirements = Retirements(catalog, grace, clock)
        # Milvus Lite asks for it, servers do not mind. Taken before transactions, never inside.
        self._writing = threading.Lock()
        self._loaded: set[str] = set()

    def ensure(self, collection: Collection) -> None:
        with self._writing, self._milvus.client() as client:
            layout.create_collection(
                client,
                collection,
                embedded_engine=self._milvus.embedded_engine,
                full_text=self._milvus.full_text,
                timeout=self._timeout,
            )
            self._loaded.add(collection.name)

    def stage(self, collection: Collection, rows: VersionRows) -> None:
        check_rows(collection, rows)
        version = (collection.name, rows.version_id)
        due_at = self._retirements.begin(*version)
        if collection.name not in self._loaded:
            self.ensure(collection)
        with self._milvus.client() as client:
            # Prolonged before each request, so that no sweep comes in between unnoticed.
            for start in range(0, len(rows.node_ids), _BATCH):
                batch = _entities(collection, rows, slice(start, start + _BATCH))
                with self._writing:
                    due_at = self._retirements.prolong(*version, due_at)
                    client.upsert(collection.name, batch, timeout=self._timeout)
            with self._writing:
                due_at = self._retirements.prolong(*version, due_at)
                self._confirm(client, collection, rows)
                if self._milvus.embedded_engine:
                    # There every search walks over unflushed rows; servers limit flushes.
                    client.flush(collection.name, timeout=self._timeout)
        self._retirements.prolong(*version, due_at)

    def write(self, tx: Connection, collection: Collection, rows: VersionRows) -> None:
        if not self._retirements.cancel(tx, collection.name, rows.version_id):
            raise too_late()

    def retire(self, tx: Connection, collection: Collection, version_ids: Sequence[str]) -> None:
        self._retirements.note(tx, collection.name, version_ids)

    def read(self, collection: Collection, version_ids: Sequence[str]) -> Iterator[VersionRows]:
        if not version_ids or not self._open(collection):
            return
        fields = [*Field, layout.TOKENS, *([layout.DENSE] if collection.dim else [])]
        for version_id in version_ids:
            of_version = filters.is_in(Field.VERSION_ID, [version_id])
            entities = list(self._entities(collection, of_version, fields))
            if entities:
                yield _as_written(collection, entities)

    def versions(self, collection: Collection) -> dict[str, int]:
        if not self._open(collection):
            return {}
        found = self._entities(collection, filters.EVERYTHING, [Field.VERSION_ID])
        return dict(Counter(entity[Field.VERSION_ID] for entity in found))

    def drop(self, collection: Collection) -> None:
        with self._writing, self._milvus.client() as client:
            if client.has_collection(collection.name, timeout=self._timeout):
                client.drop_collection(collection.name, timeout=self._timeout)
            self._loaded.discard(collection.name)

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
        """On a server older than 2.5 this leg is off.

        :raises StorageError: it is.
        """
        if not tokens:
            return []
        if self._open(collection) and not self._milvus.full_text:
            raise StorageError(
                "Lexical leg off: this Milvus has no BM25, which needs 2.5 or newer.",
                retryable=False,
            )
        query = _encoded(tokens)
        found = self._search(collection, layout.SPARSE, query, scope, limit)
        # Milvus Lite returns negative scores.
        scored = (ScoredNode(node.node_id, abs(node.score)) for node in found)
        return _best((node for node in scored if node.score > 0), limit)

    def count(self, collection: Collection, scope: Scope) -> int:
        if not self._open(collection):
            return 0
        expressions = self._expressions(collection, scope)
        with self._milvus.client() as client:
            return sum(self._count(client, collection, expression) for expression in expressions)

    def refresh(self) -> None:
        """Milvus keeps itself up to date."""

    def sweep(self) -> int:
        if not self._retirements.any_due():
            return 0
        with self._milvus.client() as client, self._writing, self._catalog.write() as tx:
            due = self._retirements.take_due(tx)
            for name, version_ids in due.items():
                self._remove(client, name, version_ids)
        return sum(map(len, due.values()))

    def usage(self) -> dict[str, Usage]:
        return {}  # everything is in Milvus

    def close(self) -> None:
        self._milvus.close()
        self._loaded.clear()

    def _search(
        self, collection: Collection, field: str, query: Any, scope: Scope, limit: int
    ) -> list[ScoredNode]:
        if scope.empty or limit < 1 or not self._open(collection):
            return []
        found: list[ScoredNode] = []
        expressions = self._expressions(collection, scope)
        with self._milvus.client() as client:
            for expression in expressions:
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

    def _expressions(self, collection: Collection, scope: Scope) -> list[Expression]:
        with self._catalog.read() as connection:
            stored = stored_scope(connection, collection.namespace, scope)
        return filters.scope_expressions(stored)

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

    def _entities(
        self, collection: Collection, expression: Expression, fields: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        """What Milvus holds, in pages: one answer has a limited size."""
        with self._milvus.client() as client:
            pages = client.query_iterator(
                collection.name,
                batch_size=_BATCH,
                filter=expression,
                output_fields=list(fields),
                consistency_level="Strong",
                timeout=self._timeout,
            )
            try:
                while page := pages.next():
                    yield from page
            finally:
                pages.close()

    def _count(self, client: Any, collection: Collection, expression: Expression) -> int:
        rows = client.query(
            collection.name,
            filter=expression,
            output_fields=["count(*)"],
            consistency_level="Strong",
            timeout=self._timeout,
        )
        return int(rows[0]["count(*)"])

    def _remove(self, client: Any, name: str, version_ids: Sequence[str]) -> None:
        if client.has_collection(name, timeout=self._timeout):
            expression = filters.is_in(Field.VERSION_ID, version_ids)
            client.delete(name, filter=expression, timeout=self._timeout)


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


def _as_written(collection: Collection, entities: Sequence[dict[str, Any]]) -> VersionRows:
    import numpy as np

    from eagle_rag_core.models.token_encoding import decode

    dense = None
    if collection.dim:
        dense = np.array([entity[layout.DENSE] for entity in entities], np.float32)
    first = entities[0]
    return VersionRows(
        version_id=first[Field.VERSION_ID],
        document_id=first[Field.DOCUMENT_ID],
        kb_name=first[Field.KB_NAME],
        node_ids=[entity[Field.NODE_ID] for entity in entities],
        tokens=[decode(entity[layout.TOKENS]) for entity in entities],
        dense=dense,
    )


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
