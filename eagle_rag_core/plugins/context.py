"""What a pack gets from the core: a frozen facade, never the machinery behind it."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from eagle_rag_core.errors import PluginError
from eagle_rag_core.types.hits import Hit
from eagle_rag_core.types.records import FieldValue, Record, Where

#: How many decisions of a pack are kept.
KEPT_DECISIONS: Final = 100


class RecordsReader(Protocol):
    """Reads the records of one pack, in the knowledge bases the current caller may read.

    Everywhere ``where`` names indexed fields with the value they must have, or several of which
    one will do; ``kb_name`` and ``kb_names`` limit the records to knowledge bases (none given:
    all the caller may read), and ``document_ids`` to documents.
    """

    def find(
        self,
        kind: str,
        where: Where | None = None,
        *,
        kb_name: str = "",
        document_ids: Sequence[str] = (),
        limit: int = 100,
        kb_names: Sequence[str] = (),
        order_by: str = "",
        offset: int = 0,
    ) -> list[Record]:
        """Records of ``kind`` that meet every condition of ``where``.

        :param order_by: an indexed field, lowest value first, or with ``-`` before it highest
            first; records without a value come last. "" for the oldest first.
        :param offset: how many of them to leave out.

        .. versionchanged:: 1.1 ``kb_names``, ``order_by`` and ``offset``.
        """

    def find_pairs(
        self,
        kind: str,
        field: str,
        pairs: Iterable[tuple[str, FieldValue]],
        *,
        kb_name: str = "",
        kb_names: Sequence[str] = (),
        limit: int = 100,
    ) -> list[Record]:
        """Records of which one of the pairs names the document and a value of ``field``, oldest
        first.

        .. versionadded:: 1.1
        """

    def count(
        self,
        kind: str,
        where: Where | None = None,
        *,
        kb_name: str = "",
        document_ids: Sequence[str] = (),
        kb_names: Sequence[str] = (),
    ) -> int:
        """How many records :meth:`find` would find without a limit.

        .. versionchanged:: 1.1 ``kb_names``.
        """

    def count_by(
        self,
        kind: str,
        field: str,
        where: Where | None = None,
        *,
        kb_name: str = "",
        kb_names: Sequence[str] = (),
        document_ids: Sequence[str] = (),
        limit: int = 100,
    ) -> list[tuple[FieldValue, int]]:
        """How many of the records :meth:`find` would find have each value of a field, most
        frequent first.

        :param field: an indexed field, or ``document_id``, ``node_id`` or ``kb_name`` of the
            records.

        .. versionadded:: 1.1
        """

    def values(
        self,
        kind: str,
        field: str,
        *,
        prefix: str = "",
        kb_name: str = "",
        limit: int = 100,
        where: Where | None = None,
        document_ids: Sequence[str] = (),
        kb_names: Sequence[str] = (),
    ) -> list[tuple[FieldValue, int]]:
        """Distinct values of an indexed field that begin with ``prefix``, each with its number
        of records, most frequent first.

        .. versionchanged:: 1.1 ``where``, ``document_ids`` and ``kb_names``.
        """


class SearchReader(Protocol):
    """Searches the library, in the knowledge bases the current caller may read."""

    def text(
        self,
        query: str,
        *,
        top_k: int = 5,
        kb_name: str = "",
        document_ids: Sequence[str] = (),
    ) -> list[Hit]:
        """The passages that answer ``query`` best, best first."""

    def passages(self, node_ids: Sequence[str]) -> list[Hit]:
        """The passages of these nodes in the given order, without those the caller may not see."""


class LanguageModel(Protocol):
    """The deployment's language model."""

    def complete(self, prompt: str) -> str:
        """The model's continuation of ``prompt``."""


@dataclass(frozen=True, slots=True)
class PackServices:
    """The running services behind a :class:`PackContext`."""

    records: RecordsReader
    search: SearchReader
    llm: LanguageModel | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Something a pack decided, for operators to see.

    :param at: seconds since the epoch.
    """

    at: float
    kind: str
    detail: str


class PackAudit:
    """Keeps the latest decisions of one pack; ``/health/plugins`` shows them."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._decisions: deque[Decision] = deque(maxlen=KEPT_DECISIONS)
        self._lock = threading.Lock()

    def log_decision(self, kind: str, detail: str) -> None:
        """Note a decision, e.g. ``("query-expansion", "heart attack → myocardial infarction")``.

        Do not put what callers wrote in it where that is confidential.
        """
        decision = Decision(self._clock(), kind, detail[:500])
        with self._lock:
            self._decisions.append(decision)

    def recent(self) -> tuple[Decision, ...]:
        """The decisions kept, oldest first."""
        with self._lock:
            return tuple(self._decisions)


class _LateServices:
    """Holds services that exist only after the packs are registered."""

    __slots__ = ("bound",)

    def __init__(self) -> None:
        self.bound: PackServices | None = None


@dataclass(frozen=True, slots=True)
class PackContext:
    """What a pack may use.

    ``records``, ``search`` and ``llm`` exist once the deployment has started: hooks keep the
    context and use them when a tool, leg or check runs, not while registering.

    :param options: an instance of the options model the manifest names, else a read-only mapping.
    :param clock: seconds since the epoch; replaced in tests.
    """

    namespace: str
    options: Any = field(default_factory=dict)
    clock: Callable[[], float] = time.time
    audit: PackAudit = field(default_factory=PackAudit)
    _late: _LateServices = field(default_factory=_LateServices, repr=False, compare=False)

    @property
    def logger(self) -> logging.Logger:
        """The pack's own logger."""
        return logging.getLogger(f"eagle_rag_core.packs.{self.namespace}")

    @property
    def records(self) -> RecordsReader:
        """The pack's records, scoped to the current caller.

        :raises PluginError: used before the deployment has started.
        """
        return self._services("records").records

    @property
    def search(self) -> SearchReader:
        """Search in the library, scoped to the current caller.

        :raises PluginError: used before the deployment has started.
        """
        return self._services("search").search

    @property
    def llm(self) -> LanguageModel | None:
        """The language model, ``None`` where the deployment has none.

        :raises PluginError: used before the deployment has started.
        """
        return self._services("llm").llm

    def bind(self, services: PackServices) -> None:
        """Give the context its services, once.

        :raises PluginError: it has them already.
        """
        if self._late.bound is not None:
            raise PluginError(f"The context of pack {self.namespace!r} is bound already.")
        self._late.bound = services

    def _services(self, name: str) -> PackServices:
        if self._late.bound is None:
            raise PluginError(
                f"Pack {self.namespace!r} used ctx.{name} before the deployment started. "
                "Keep ctx and use it when a tool or leg runs, not inside a register_* hook."
            )
        return self._late.bound


def is_bound(context: PackContext) -> bool:
    """Whether a context has its services."""
    return context._late.bound is not None
