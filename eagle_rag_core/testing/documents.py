"""Documents as enrichers get them, made without a library."""

from __future__ import annotations

from collections.abc import Sequence

from eagle_rag_core.types import DocumentInfo, EnrichmentInput, Parser


def enrichment_input(
    source: str | bytes, name: str = "document.md", *, parsers: Sequence[Parser] = ()
) -> EnrichmentInput:
    """What an enricher gets of a source: parsed and cut as at ingest, with made-up ids.

    :param name: file name, by which parsers may recognise the source.
    :param parsers: a pack's own; they win against the core's as in a deployment.
    :raises IngestError: no parser reads the source.
    """
    from eagle_rag_core.ingest.chunking import Chunker
    from eagle_rag_core.ingest.parsers import ParserRegistry
    from eagle_rag_core.ingest.sections import build_sections

    data = source.encode() if isinstance(source, str) else source
    parsed = ParserRegistry(parsers).pick(data[:65_536], name).parse(data, name)
    version_id = f"version of {name}"
    chunks = Chunker().chunk(parsed.text, build_sections(parsed), parsed.pages, version_id)
    info = DocumentInfo(
        document_id=f"document {name}",
        kb_name="default",
        source_uri=f"file:///{name}",
        source_type="",
        title=parsed.title or name,
        language=parsed.language,
        media_type=parsed.media_type,
        tags=parsed.keywords,
        metadata=parsed.metadata,
        version_id=version_id,
        chunks=len(chunks),
        created_at="",
        updated_at="",
    )
    return EnrichmentInput(info, parsed, chunks)
