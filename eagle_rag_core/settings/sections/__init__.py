"""The sections of the configuration. Field descriptions are the documentation.

Relative paths and ``<home>`` defaults are resolved in :mod:`eagle_rag_core.settings.loading`.
"""

from __future__ import annotations

from eagle_rag_core.settings.sections.auth import (
    AuthScope,
    AuthSettings,
    GithubUserSettings,
    SignatureAlgorithm,
    TokenSettings,
)
from eagle_rag_core.settings.sections.base import Duration, Port, Section, ServerUrl
from eagle_rag_core.settings.sections.ingesting import (
    IngestSettings,
    PageSettings,
    SourceSettings,
)
from eagle_rag_core.settings.sections.models import (
    EmbeddingSettings,
    ImageEmbeddingSettings,
    LLMSettings,
    ModelSettings,
    RerankSettings,
)
from eagle_rag_core.settings.sections.plugins import PluginSettings
from eagle_rag_core.settings.sections.searching import QuerySettings, RetrievalSettings
from eagle_rag_core.settings.sections.serving import McpSettings, Origin, ServerSettings
from eagle_rag_core.settings.sections.stores import (
    BlobSettings,
    CelerySettings,
    DatabaseSettings,
    MilvusSettings,
    S3Settings,
)
from eagle_rag_core.settings.sections.telemetry import TelemetrySettings

__all__ = [
    "AuthScope",
    "AuthSettings",
    "BlobSettings",
    "CelerySettings",
    "DatabaseSettings",
    "Duration",
    "EmbeddingSettings",
    "GithubUserSettings",
    "ImageEmbeddingSettings",
    "IngestSettings",
    "LLMSettings",
    "McpSettings",
    "MilvusSettings",
    "ModelSettings",
    "Origin",
    "PageSettings",
    "PluginSettings",
    "Port",
    "QuerySettings",
    "RerankSettings",
    "RetrievalSettings",
    "S3Settings",
    "Section",
    "ServerSettings",
    "ServerUrl",
    "SignatureAlgorithm",
    "SourceSettings",
    "TelemetrySettings",
    "TokenSettings",
]
