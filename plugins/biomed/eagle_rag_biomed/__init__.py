"""Biomedical entities for eagle-rag-core: recognised at ingest, found under every synonym."""

from eagle_rag_biomed import pack

__all__ = ["pack"]
