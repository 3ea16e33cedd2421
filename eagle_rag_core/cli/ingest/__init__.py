"""``eagle-rag ingest``."""

from eagle_rag_core.cli.ingest.command import ingest

__all__ = ["ingest"]
