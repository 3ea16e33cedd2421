"""The sections of the configuration. Field descriptions are the documentation.

Relative paths and ``<home>`` defaults are resolved in :mod:`eagle_rag_core.settings.loading`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

Port = Annotated[int, Field(ge=0, le=65535)]


class Section(BaseModel):
    """Base of all sections: unknown keys are errors, values do not change after start."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class PluginSettings(Section):
    enabled: list[str] = Field([], description="Namespaces of the packs to load, in hook order.")
    default_namespace: str = Field(
        "core", description="Namespace this deployment is bound to; its tools are exposed (G3)."
    )
    options: dict[str, dict[str, Any]] = Field(
        {}, description="Options per pack namespace, checked by the pack's own options model."
    )
    require: dict[str, str] = Field(
        {}, description="Version specifier per namespace that an enabled pack must satisfy."
    )
    disabled: list[str] = Field([], description="Namespaces never loaded, whatever enables them.")
    allow_degraded: bool = Field(
        False, description="Start even when the default namespace's pack cannot be loaded."
    )


class ServerSettings(Section):
    host: str = Field("127.0.0.1", description="Address of `eagle-rag serve`.")
    port: Port = Field(8001, description="Port of `eagle-rag serve` (MCP and REST).")


class MilvusSettings(Section):
    uri: str = Field("", description="Milvus URI or Lite file; empty selects the local backend.")
    token: SecretStr = Field(SecretStr(""), description="Milvus token.")
    db_prefix: str = Field(
        "",
        pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$",
        description="Prefix of the database name of each namespace.",
    )


class DatabaseSettings(Section):
    url: str = Field("", description="SQLAlchemy URL; empty = sqlite:///<home>/catalog.db.")


class BlobSettings(Section):
    url: str = Field("", description="fsspec URL of the originals; empty = file://<home>/blobs.")


class CelerySettings(Section):
    broker_url: str = Field("", description="Redis URL of a Celery broker; empty = no Celery.")


class IngestSettings(Section):
    default_kb: str = Field("default", description="Knowledge base when a caller names none.")
    allowed_roots: list[Path] = Field(
        [], description="Folders callers over MCP and REST may ingest from; default <home>/inbox."
    )
    max_bytes: int = Field(100_000_000, ge=1, description="Largest source, in bytes.")
    fetch_timeout: float = Field(60.0, gt=0, description="Seconds one web source may take.")
    embedded_worker: bool = Field(
        True, description="Run ingest jobs inside serving processes; off when workers do it."
    )
    lease_seconds: float = Field(
        30.0, gt=0, description="A worker silent for this long loses its job to another."
    )
    max_attempts: int = Field(3, ge=1, le=20, description="Attempts before a job is dead.")


class LLMSettings(Section):
    base_url: str = Field("", description="OpenAI-compatible endpoint; empty = no LLM.")
    model: str = Field("", description="Model name at that endpoint.")
    api_key: SecretStr = Field(SecretStr(""), description="Key for that endpoint.")


class RerankSettings(Section):
    base_url: str = Field("", description="Server of the reranker `http`; `/rerank` is added.")
    protocol: Literal["cohere", "tei"] = Field(
        "cohere", description="cohere (also Jina, vLLM, Infinity), or tei."
    )
    model: str = Field("", description="Model name at that server, where it needs one.")
    api_key: SecretStr = Field(SecretStr(""), description="Key for that server.")
    timeout: float = Field(2.0, gt=0, description="Seconds before the fused order stands.")


class ModelSettings(Section):
    text_embedder: str = Field("auto", description="auto, none, minilm-int8 or a pack's own.")
    image_embedder: Literal["none"] = Field("none", description="Image embedder.")
    reranker: str = Field(
        "none", description="none, http, fastembed:<model>, or one that a pack contributes."
    )
    rerank: RerankSettings = Field(RerankSettings(), description="The reranker `http`.")
    ocr: Literal["auto", "none"] = Field("auto", description="OCR for scanned pages.")
    llm: LLMSettings = Field(LLMSettings(), description="Answer generation.")


class RetrievalSettings(Section):
    overfetch: int = Field(5, ge=1, le=50, description="Candidates per leg = overfetch x top_k.")
    min_candidates: int = Field(50, ge=1, le=1000, description="At least so many per leg.")
    rrf_k: int = Field(60, ge=1, description="Constant of reciprocal-rank fusion.")
    leg_timeout: float = Field(5.0, gt=0, description="Seconds before a leg is skipped.")
    expand_chars: int = Field(
        1500, ge=0, description="A hit grows to its neighbours up to this many characters."
    )
    refresh_seconds: float = Field(
        1.0, gt=0, description="An idle process applies index changes this often."
    )


class QuerySettings(Section):
    evidence: int = Field(6, ge=1, le=50, description="Passages an answer is built from.")
    sentences: int = Field(3, ge=1, le=10, description="Sentences of an extractive answer.")


class McpSettings(Section):
    transport: Literal["http", "stdio"] = Field("http", description="Transport of `eagle-rag mcp`.")
    streamable_http_path: str = Field(
        "/mcp", pattern=r"^/[A-Za-z0-9/_-]*$", description="Path of the MCP endpoint."
    )
    stateless_http: bool = Field(True, description="No sessions: any replica answers any call.")
    json_response: bool = Field(True, description="One JSON answer per call instead of SSE.")
    host: str = Field("127.0.0.1", description="Address of `eagle-rag mcp`.")
    port: Port = Field(8081, description="Port of `eagle-rag mcp`.")
    workers: int = Field(1, ge=1, le=64, description="Server processes.")
    tool_timeout: float = Field(30.0, gt=0, description="Seconds one call may take.")
    max_retries: int = Field(3, ge=0, le=10)
    circuit_fail_threshold: int = Field(5, ge=1)
    cache_ttl: float = Field(300.0, ge=0)
    redis_url: str = ""
    auth_provider: Literal["static-token", "oauth-github", "oauth-custom"] = "static-token"
    read_only: bool = Field(False, description="Do not expose core_ingest.")
    max_result_tokens: int = Field(
        20_000, ge=500, description="Bound on one answer; longer texts are cut and say so."
    )
    instructions_preamble: str = Field(
        "", max_length=2000, description="Put before the instructions that clients get."
    )


class AuthSettings(Section):
    enabled: bool = Field(False, description="Demand a token from callers over HTTP.")
    api_key: SecretStr = SecretStr("")
    tokens: list[dict[str, Any]] = []
    issuer_url: str = ""
    audience: str = ""
    jwks_uri: str = ""
    github_client_id: str = ""
    github_client_secret: SecretStr = SecretStr("")
    base_url: str = ""
    allow_anonymous: bool = Field(
        False, description="Serve beyond this machine without authentication."
    )


class TelemetrySettings(Section):
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe level that is logged, to stderr."
    )
    log_format: Literal["console", "json"] = Field(
        "console", description="For people, or one JSON object a line."
    )
    call_log: bool = Field(True, description="Keep an audit record of every call.")
    call_log_days: int = Field(30, ge=1, description="Days the call log is kept.")
