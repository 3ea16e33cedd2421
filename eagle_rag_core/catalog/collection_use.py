"""Which versions have rows in which kinds of collections.

Every version has rows in the text collection, one per chunk. What it has in others is recorded
with it, so that searches know where to look and audits what should be there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, String, bindparam, exists, insert, or_, select

from eagle_rag_core.catalog import kbs
from eagle_rag_core.catalog.collections import MATRICES, TEXT
from eagle_rag_core.catalog.membership import any_of, any_of_bound, as_array
from eagle_rag_core.catalog.schema import documents
from eagle_rag_core.catalog.schema import version_collections as table
from eagle_rag_core.types import Scope


def record_use(
    tx: Connection,
    namespace: str,
    *,
    kb_seed: str,
    document_id: str,
    version_id: str,
    rows: Mapping[str, int],
) -> None:
    """Note where a version that was just written has rows.

    :param rows: their number by kind of collection, without the text collection.
    """
    same = {
        "namespace": namespace,
        "kb_seed": kb_seed,
        "document_id": document_id,
        "version_id": version_id,
    }
    used = [{**same, "kind": kind, "rows": number} for kind, number in rows.items() if number]
    if used:
        tx.execute(insert(table), used)


def used_kinds(conn: Connection, version_id: str) -> frozenset[str]:
    """The kinds of collections, beside the text collection, that a version has rows in."""
    return frozenset(conn.scalars(select(table.c.kind).where(table.c.version_id == version_id)))


def versions_with_matrices(
    conn: Connection, version_ids: Iterable[str] | None = None
) -> frozenset[str]:
    """The versions of any namespace that have a file of matrices.

    :param version_ids: only these of them; None for all.
    """
    query = select(table.c.version_id).where(table.c.kind.startswith(MATRICES, autoescape=True))
    if version_ids is not None:
        query = query.where(any_of(table.c.version_id, version_ids))
    return frozenset(conn.scalars(query))


def kinds_within(
    conn: Connection, namespace: str, kinds: Collection[str], scope: Scope
) -> frozenset[str]:
    """Those of the kinds that anything inside the scope has rows in.

    Looks a row up for each part of the scope, however many rows there are.
    """
    if not kinds or scope.empty:
        return frozenset()
    ordered = tuple(sorted(kinds))
    seeds = kbs.seeds(conn, namespace, scope.kbs).values() if scope.kbs else ()
    found = conn.execute(
        _any_rows(ordered),
        {
            "namespace": namespace,
            "seeds": as_array(seeds),
            "documents": as_array(scope.documents),
        },
    ).one()
    return frozenset(kind for kind, has_rows in zip(ordered, found, strict=True) if has_rows)


@cache  # building the statement costs more than running it
def _any_rows(kinds: tuple[str, ...]) -> Select[*tuple[Any, ...]]:
    """Whether a scope has rows of each kind."""
    parts = (
        any_of_bound(table.c.kb_seed, bindparam("seeds", type_=String)),
        any_of_bound(table.c.document_id, bindparam("documents", type_=String)),
    )
    namespace = table.c.namespace == bindparam("namespace", type_=String)
    # Two look-ups: an index serves each of them, and none an alternative.
    return select(
        *(
            or_(*(exists().where(namespace, table.c.kind == kind, part) for part in parts))
            for kind in kinds
        )
    )


def expected_rows(conn: Connection, namespace: str, kind: str) -> dict[str, int]:
    """How many rows each visible version has in the collections of a kind; those without left
    out."""
    if kind == TEXT:
        query = select(documents.c.visible_version, documents.c.chunks).where(
            documents.c.namespace == namespace
        )
    else:
        query = (
            select(table.c.version_id, table.c.rows)
            .join(documents, documents.c.visible_version == table.c.version_id)
            .where(table.c.namespace == namespace, table.c.kind == kind)
        )
    return dict(conn.execute(query).all())
