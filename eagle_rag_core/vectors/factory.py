"""The vector store a deployment's settings ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.settings import Settings
    from eagle_rag_core.vectors.store import VectorStore

#: Retired versions stay for so many times the longest call: it may have begun just before.
_GRACE = 2.0


def open_vector_store(settings: Settings, catalog: Catalog) -> VectorStore:
    """Milvus when ``milvus.uri`` is set, else the local backend. Opens nothing yet."""
    milvus = settings.milvus
    if not milvus.uri:
        from eagle_rag_core.vectors.local.store import LocalVectorStore

        return LocalVectorStore(catalog, settings.home / "index")
    from eagle_rag_core.vectors.milvus.store import MilvusVectorStore

    return MilvusVectorStore(
        catalog,
        uri=milvus.uri,
        token=milvus.token.get_secret_value(),
        database=milvus.db_prefix + catalog.namespace,
        grace=_GRACE * settings.mcp.tool_timeout,
        timeout=settings.mcp.tool_timeout,
    )
