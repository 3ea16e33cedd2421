from __future__ import annotations

from pathlib import Path

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.settings import Settings, load_settings
from eagle_rag_core.vectors.factory import open_vector_store
from eagle_rag_core.vectors.local.store import LocalVectorStore
from eagle_rag_core.vectors.milvus.store import MilvusVectorStore


def settings_with(tmp_path: Path, **milvus: str) -> Settings:
    return load_settings(
        overrides={"home": str(tmp_path), "milvus": milvus, "mcp": {"tool_timeout": 7.0}}
    )


def test_the_default_is_the_local_backend(catalog: Catalog, tmp_path: Path) -> None:
    store = open_vector_store(settings_with(tmp_path), catalog)
    assert isinstance(store, LocalVectorStore)
    assert store.name == "local"


def test_a_milvus_uri_selects_milvus(catalog: Catalog, tmp_path: Path) -> None:
    settings = settings_with(tmp_path, uri="http://milvus:19530", token="secret", db_prefix="x_")
    store = open_vector_store(settings, catalog)
    assert isinstance(store, MilvusVectorStore)
    assert store.name == "milvus"
    assert store._milvus._database == "x_core"
    assert store._milvus._token == "secret"
    assert store._grace > 7.0
