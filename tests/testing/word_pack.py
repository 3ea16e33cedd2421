"""A pack with a parser, an enricher, records and a tool, given as an object."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Final

from pydantic import Field
from typing_extensions import TypedDict

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.plugins import PackContext, explicit_pack, hookimpl, register_mcp_tool
from eagle_rag_core.plugins.sources import PackSource
from eagle_rag_core.types import (
    Enricher,
    Enrichment,
    EnrichmentInput,
    NewRecord,
    ParsedDocument,
    Parser,
)

MANIFEST: Final = """
schema = 1
[pack]
namespace = "words"
title = "Words in capitals"
api = ">=1.0,<2"
[[tools]]
name = "find_capitals"
effect = "read"
summary = "Finds words in capitals."
[[records]]
kind = "word"
fields = [{ name = "text", type = "string" }]
"""


class Capital(TypedDict):
    text: str
    passage: str


class WordParser:
    """Reads files that begin with ``WORDS``."""

    name = "words_parser"
    version = "1"

    def sniff(self, head: bytes, name: str) -> float:
        return float(head.startswith(b"WORDS"))

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        return ParsedDocument(data.decode(), "text/x-words", title="Words", payload=len(data))


class WordEnricher:
    """Records words in capitals, and keeps what it was given."""

    name = "words_enricher"
    version = "1"

    def __init__(self) -> None:
        self.seen: list[EnrichmentInput] = []

    def enrich(self, item: EnrichmentInput) -> Enrichment:
        self.seen.append(item)
        if "FORBIDDEN" in item.parsed.text:
            raise ValueError("text the caller must not see")
        return Enrichment(
            records=[
                NewRecord("word", {"text": word}, node_id=chunk.node_id)
                for chunk in item.chunks
                for word in re.findall(r"\b[A-Z]{3,}\b", chunk.text)
            ],
            chunk_terms={chunk.node_id: ["capitalised"] for chunk in item.chunks},
        )


class WordPack:
    def __init__(self) -> None:
        self.enricher = WordEnricher()

    @hookimpl
    def register_parsers(self, ctx: PackContext) -> list[Parser]:
        return [WordParser()]

    @hookimpl
    def register_enrichers(self, ctx: PackContext) -> list[Enricher]:
        return [self.enricher]

    @hookimpl
    def register_tools(self, ctx: PackContext) -> list[Callable[..., Any]]:
        @register_mcp_tool(
            namespace="words", name="find_capitals", description="Finds words in capitals."
        )
        def find_capitals(
            kb_name: Annotated[str, Field(description="Only this knowledge base.")] = "",
            limit: Annotated[int, Field(ge=1, description="Most words to return.")] = 10,
        ) -> list[Capital]:
            if kb_name == "odd":
                raise InvalidArgument("Choose another knowledge base.")
            found = ctx.records.find("word", kb_name=kb_name, limit=limit)
            passages = ctx.search.passages([record.node_id for record in found])
            return [
                Capital(text=record.fields["text"], passage=hit.text)
                for record, hit in zip(found, passages, strict=True)
            ]

        return [find_capitals]


def word_pack(pack: WordPack) -> PackSource:
    return explicit_pack(pack, MANIFEST)
