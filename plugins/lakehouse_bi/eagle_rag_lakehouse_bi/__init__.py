"""Data catalogs for eagle-rag-core: tables, joins and metrics from dbt manifests and SQL DDL."""

from eagle_rag_lakehouse_bi import pack

__all__ = ["pack"]
