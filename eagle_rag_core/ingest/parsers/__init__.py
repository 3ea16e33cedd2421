"""Parsers: the bytes of a source to text with headings, pages and metadata."""

from eagle_rag_core.ingest.parsers.registry import ParserRegistry, core_parsers

__all__ = ["ParserRegistry", "core_parsers"]
