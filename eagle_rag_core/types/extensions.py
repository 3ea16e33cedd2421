"""What packs contribute to the engine, as plain data and small protocols.

The engine consumes these without knowing where they come from; the framework collects them
from packs without knowing what they are used for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from eagle_rag_core.types.documents import Chunk, DocumentInfo, ParsedDocument
from eagle_rag_core.types.hits import Hit, ScoredNode
from eagle_rag_core.types.records import Enrichment, RecordRules
from eagle_rag_core.types.scope import Condition, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class Parser(Protocol):
    """Turns the bytes of one source into text with structure.

    ``version`` is part of the pipeline fingerprint: change it when the output changes.
    """

    name: str
    version: str

    def sniff(self, head: bytes, name: str) -> float:
        """Confidence 0..1 that this parser reads the source.

        :param head: its first bytes (up to 64 KiB).
        :param name: file name or last segment of the URL.
        """

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Parse the whole source.

        :raises IngestError: with a reason the caller can act on.
        """


@dataclass(frozen=True, slots=True)
class EnrichmentInput:
    """One document on its way into the index."""

    document: DocumentInfo
    parsed: ParsedDocument
    chunks: Sequence[Chunk]


@runtime_checkable
class Enricher(Protocol):
    """Adds records and fields to the chunks of a document.

    ``version`` is part of the pipeline fingerprint.
    """

    name: str
    version: str

    def enrich(self, item: EnrichmentInput) -> Enrichment: ...


@dataclass(frozen=True, slots=True)
class LegRequest:
    """A question to one leg.

    :param limit: how many nodes the leg should return at most (already over-fetched).
    """

    query: str
    scope: Scope
    limit: int


@dataclass(frozen=True, slots=True)
class Leg:
    """One way of finding chunks. Legs run concurrently and are fused by rank.

    :param retrieve: best first; must return only nodes inside ``request.scope``.
    :param weight: in the weighted reciprocal-rank fusion.
    """

    name: str
    retrieve: Callable[[LegRequest], Sequence[ScoredNode]]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Expansion:
    """What an expander adds to a query. Filters only ever narrow."""

    terms: Sequence[str] = ()
    leg_weights: Mapping[str, float] = field(default_factory=dict)
    filters: Sequence[Condition] = ()


@dataclass(frozen=True, slots=True)
class QueryExpander:
    name: str
    expand: Callable[[str], Expansion]


@dataclass(frozen=True, slots=True)
class Reranker:
    """Reorders fused hits; returns a permutation (or a prefix of one) of its input."""

    name: str
    rerank: Callable[[str, Sequence[Hit]], Sequence[Hit]]


@runtime_checkable
class TextEmbedder(Protocol):
    """Turns text into unit vectors, float32 arrays of shape (n, dim) and (dim,).

    Text without any token gives the zero vector, which is similar to nothing. Implementations
    are safe to call from several threads.

    ``fingerprint`` identifies weights and pre-processing; vectors of different fingerprints are
    never compared. ``dim`` 0 means "no dense vectors".

    :param scripts: Unicode scripts the model was trained on ("latin", "han", …); the dense leg
        is off for queries in others. Empty = every script.
    :param dense_weight: weight of the dense leg beside a lexical leg of weight 1.
    """

    name: str
    fingerprint: str
    scripts: frozenset[str]
    dense_weight: float

    @property
    def dim(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]: ...

    def embed_query(self, text: str) -> NDArray[np.float32]: ...


@dataclass(frozen=True, slots=True)
class EmbedderSpec:
    """An embedder a pack offers under a name that settings can choose."""

    name: str
    factory: Callable[[], TextEmbedder]


@dataclass(frozen=True, slots=True)
class CollectionView:
    """A further vector view of chunks: those that ``accepts`` takes, embedded by ``embedder``."""

    name: str
    embedder: str
    accepts: Callable[[Chunk], bool]


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """A pack's own health probe: returns (status, detail)."""

    name: str
    check: Callable[[], tuple[Literal["ok", "degraded", "failed"], str]]


@dataclass(frozen=True, slots=True)
class Extensions:
    """Everything the active packs contribute to the engine, in the order of ``plugins.enabled``."""

    parsers: tuple[Parser, ...] = ()
    enrichers: tuple[tuple[str, Enricher], ...] = ()
    embedders: tuple[EmbedderSpec, ...] = ()
    collections: tuple[CollectionView, ...] = ()
    legs: tuple[Leg, ...] = ()
    expanders: tuple[QueryExpander, ...] = ()
    rerankers: tuple[Reranker, ...] = ()
    health: tuple[HealthCheck, ...] = ()
    #: Distribution versions of the enabled packs, part of the pipeline fingerprint.
    pack_versions: tuple[tuple[str, str], ...] = ()
    #: What the packs declare of the records their enrichers write.
    record_rules: RecordRules = field(default_factory=dict)
