from __future__ import annotations

from pathlib import Path

import pytest

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import ConfigError
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
    # What is staged may take up its timeout between two renewals, each after half the grace.
    assert store._retirements._grace >= 2 * store._timeout == 14.0


@pytest.mark.parametrize("prefix", ["", "x", "_", "Team_7_"])
def test_a_prefix_begins_the_name_of_a_database(tmp_path: Path, prefix: str) -> None:
    assert settings_with(tmp_path, db_prefix=prefix).milvus.db_prefix == prefix


@pytest.mark.parametrize("prefix", ["7", "x-", "x y", "é", "x;", "x\n", "*"])
def test_a_prefix_that_no_database_can_have_is_refused(tmp_path: Path, prefix: str) -> None:
    with pytest.raises(ConfigError, match="db_prefix"):
        settings_with(tmp_path, db_prefix=prefix)
