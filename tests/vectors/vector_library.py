"""Small collections to test vector stores with."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection
from staging import publishing

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.models.analyzer import analyze
from eagle_rag_core.types import Scope, ScoredNode
from eagle_rag_core.vectors.store import Collection, VectorStore, VersionRows

if TYPE_CHECKING:
    from eagle_rag_core.vectors.store import Vector

DIM = 8
_numbers = itertools.count()


def new_collection(dim: int = DIM) -> Collection:
    return Collection("core", f"text_{next(_numbers):08x}", "text", dim)


def open_catalog(folder: Path) -> Catalog:
    catalog = Catalog(f"sqlite:///{folder / 'catalog.db'}", namespace="core")
    catalog.migrate()
    return catalog


def embed(text: str) -> Vector:
    """A unit vector that depends on the text only; different texts are far apart."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(DIM)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def version_of(
    name: str,
    texts: Sequence[str],
    *,
    kb: str = "a",
    document: str = "",
    prefix: str = "",
    dim: int = DIM,
) -> VersionRows:
    """A version with a node per text; node ids are ``<prefix or name>-<number>``."""
    return VersionRows(
        version_id=name,
        document_id=document or f"doc-{name}",
        kb_name=kb,
        node_ids=[f"{prefix or name}-{i:04d}" for i in range(len(texts))],
        tokens=[analyze(text) for text in texts],
        dense=np.array([embed(text) for text in texts]).reshape(-1, DIM) if dim else None,
    )


def ids(nodes: Sequence[ScoredNode]) -> list[str]:
    return [node.node_id for node in nodes]


def kbs(*names: str) -> Scope:
    return Scope(kbs=frozenset(names))


def documents(*document_ids: str) -> Scope:
    return Scope(documents=frozenset(document_ids))


@dataclass
class Clock:
    """A clock that tests move."""

    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Library:
    """A store with one collection, and short ways to use it."""

    catalog: Catalog
    store: VectorStore
    collection: Collection
    clock: Clock = field(default_factory=Clock)

    def publishing(self, *versions: VersionRows) -> AbstractContextManager[Connection]:
        return publishing(self.catalog, self.store, self.collection, *versions)

    def write(self, *versions: VersionRows) -> None:
        with self.publishing(*versions):
            pass

    def retire(self, *version_ids: str) -> None:
        with self.catalog.write() as tx:
            self.store.retire(tx, self.collection, version_ids)

    def let_grace_pass(self) -> int:
        self.clock.now += 1_000
        return self.store.sweep()

    def dense(self, text: str, scope: Scope, limit: int = 10) -> list[ScoredNode]:
        return self.store.search_dense(self.collection, embed(text), scope, limit)

    def lexical(self, text: str, scope: Scope, limit: int = 10) -> list[ScoredNode]:
        return self.store.search_lexical(self.collection, analyze(text), scope, limit)

    def count(self, scope: Scope) -> int:
        return self.store.count(self.collection, scope)
