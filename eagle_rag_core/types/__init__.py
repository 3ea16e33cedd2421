"""Plain data shared by the engine, the faces and the packs. Standard library only."""

from eagle_rag_core.types.caller import COMMAND_LINE, LOCAL, Caller, acting_for, current_caller
from eagle_rag_core.types.documents import (
    Chunk,
    DocumentInfo,
    Heading,
    PageSpan,
    ParsedDocument,
    Section,
)
from eagle_rag_core.types.extensions import (
    CollectionView,
    EmbedderSpec,
    Enricher,
    EnrichmentInput,
    Expansion,
    Extensions,
    HealthCheck,
    Leg,
    LegRequest,
    Parser,
    QueryExpander,
    Reranker,
    TextEmbedder,
)
from eagle_rag_core.types.hits import Hit, ScoredNode, Step
from eagle_rag_core.types.jobs import IngestRequest, Job, JobStage, JobStatus
from eagle_rag_core.types.records import Enrichment, FieldValue, NewRecord, Record, Where
from eagle_rag_core.types.scope import FILTER_FIELDS, Condition, FilterOp, Scope, ScopeRequest

__all__ = [
    "COMMAND_LINE",
    "FILTER_FIELDS",
    "LOCAL",
    "Caller",
    "Chunk",
    "CollectionView",
    "Condition",
    "DocumentInfo",
    "EmbedderSpec",
    "Enricher",
    "Enrichment",
    "EnrichmentInput",
    "Expansion",
    "Extensions",
    "FieldValue",
    "FilterOp",
    "Heading",
    "HealthCheck",
    "Hit",
    "IngestRequest",
    "Job",
    "JobStage",
    "JobStatus",
    "Leg",
    "LegRequest",
    "NewRecord",
    "PageSpan",
    "ParsedDocument",
    "Parser",
    "QueryExpander",
    "Record",
    "Reranker",
    "Scope",
    "ScopeRequest",
    "ScoredNode",
    "Section",
    "Step",
    "TextEmbedder",
    "Where",
    "acting_for",
    "current_caller",
]
