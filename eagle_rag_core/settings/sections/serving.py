"""Addresses, transports and bounds of the servers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from eagle_rag_core.settings.sections.base import Port, Section

#: Scheme and host of a web page, with its port if it is not the scheme's own; or any.
Origin = Annotated[str, Field(pattern=r"^(https?://[A-Za-z0-9.:\[\]-]+|\*)$")]


class ServerSettings(Section):
    host: str = Field("127.0.0.1", description="Address of `eagle-rag serve`.")
    port: Port = Field(8001, description="Port of `eagle-rag serve` (MCP and REST).")


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
