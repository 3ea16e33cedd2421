"""Data catalogs for eagle-rag-core: tables, joins and metrics, and static checks of SQL."""

from eagle_rag_lakehouse_bi import pack

__all__ = ["pack"]
