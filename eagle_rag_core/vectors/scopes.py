"""Scopes as stored rows spell them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eagle_rag_core.catalog import kbs
from eagle_rag_core.types import Scope

if TYPE_CHECKING:
    from sqlalchemy import Connection


def stored_scope(conn: Connection, namespace: str, scope: Scope) -> Scope:
    """The scope with the seeds of its knowledge bases in place of their names."""
    if not scope.kbs:
        return scope
    return Scope(frozenset(kbs.seeds(conn, namespace, scope.kbs).values()), scope.documents)
