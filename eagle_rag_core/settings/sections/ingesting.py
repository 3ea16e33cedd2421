"""What is taken in, by whom and within which bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from eagle_rag_core.settings.sections.base import Duration, Section
from eagle_rag_core.settings.sections.stores import S3Settings


class SourceSettings(Section):
    """A source that servers and workers read again and again."""

    uri: str = Field(min_length=1)
    every: Duration = Field(600.0)
    kb_name: str = ""
    include: list[str] = Field([])
    exclude: list[str] = Field([])
    tags: list[str] = Field([])
    source_type: str = ""
    delete_missing: bool = False
    allow_empty: bool = False
    sitemap: bool = False
    crawl: int = Field(0, ge=0, le=20)
    max_pages: int = Field(1000, ge=1, le=100_000)


class PageSettings(Section):
    office: Literal["auto", "off"] = Field(
        "auto",
        description="Pages of Word, PowerPoint and OpenDocument files, by LibreOffice: auto = "
        "where it is installed.",
    )
    web: Literal["auto", "off"] = Field(
        "auto",
        description="Pages of HTML documents, by headless Chromium: auto = where it is installed.",
    )
    soffice: str = Field("", description="LibreOffice's program; empty = looked for on the PATH.")
    chromium: str = Field(
        "", description="Chromium's or Chrome's program; empty = looked for on the PATH."
    )
    timeout: float = Field(60.0, gt=0, description="Seconds to make the pages of one document.")
    max_memory_mb: int = Field(
        2048, ge=256, description="Memory of any process of a converter (Linux)."
    )


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
    pages: PageSettings = Field(
        PageSettings(), description="How documents without pages of their own get some."
    )
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
