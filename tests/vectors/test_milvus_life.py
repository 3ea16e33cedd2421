"""The life of a library whose vectors are in Milvus: nothing is left over there either."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from service.life_pack import Life

from eagle_rag_core.service.kb_copy import CopyResult
from eagle_rag_core.types import COMMAND_LINE


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")
    settings = {"milvus": {"uri": str(tmp_path / "lite.db")}}
    with Life(tmp_path / "home", embedder="alpha", settings=settings) as life:
        yield life


def remove_what_is_due(life: Life) -> None:
    life.engine.store._retirements._clock = lambda: 1e12  # type: ignore[attr-defined]
    life.engine.store.sweep()


def test_a_library_in_milvus_is_renamed_copied_embedded_anew_and_emptied(
    life: Life, tmp_path: Path
) -> None:
    life.add(tmp_path / "a.md", "OTTERS eat urchins.", kb="a")
    life.alpha.embedded.clear()
    life.add(tmp_path / "b.md", "OTTERS eat urchins.", kb="a")
    assert life.alpha.embedded == []

    life.services.kbs.rename(COMMAND_LINE, "a", "b")
    assert len(life.search("urchins", "b")) == 2
    assert life.upkeep.kb_copy.copy(COMMAND_LINE, "b", "c") == CopyResult(2, 0)
    assert life.alpha.embedded == []
    assert len(life.search("urchins", "c")) == 2
    assert life.findings() == []

    assert life.upkeep.embedders.run("life_beta").embedded == 4
    assert len(life.search("urchins")) == 4
    life.upkeep.embedders._clock = lambda: 1e12
    assert life.upkeep.embedders.drop_replaced() == 1
    assert life.findings() == []

    assert life.services.kbs.delete(COMMAND_LINE, "b") == 2
    assert life.services.kbs.delete(COMMAND_LINE, "c") == 2
    assert life.search("urchins") == []
    assert life.findings() == []
    remove_what_is_due(life)
    info = life.engine.active_collection()
    assert info is not None and life.engine.store.name == "milvus"
    assert life.rows()["vector_retirements"] == []
    assert life.blobs() == set()


def test_vectors_that_milvus_lost_are_made_anew(life: Life, tmp_path: Path) -> None:
    document_id = life.add(tmp_path / "a.md", "OTTERS eat urchins.")
    info = life.engine.active_collection()
    assert info is not None
    with life.engine.store._milvus.client() as client:  # type: ignore[attr-defined]
        client.delete(info.name, filter='kb_name != ""')
    assert life.findings() == [("vectors.missing", document_id)]
    (job,) = life.upkeep.reindex.remake(COMMAND_LINE, [document_id])
    life.library.app.work()
    assert life.ends([job.job_id]) == ["succeeded"]
    assert life.findings() == []
    assert life.search("urchins") == ["OTTERS eat urchins."]


def test_one_file_serves_two_namespaces_at_once(tmp_path: Path) -> None:
    pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")
    settings = {"milvus": {"uri": str(tmp_path / "lite.db")}}
    home = tmp_path / "home"
    with Life(home, embedder="alpha", namespace="other", settings=settings) as life:
        life.add(tmp_path / "a.md", "OTTERS eat urchins.", kb="a")
    with Life(home, embedder="alpha", settings=settings) as life:
        life.add(tmp_path / "b.md", "OTTERS float.", kb="b")
        assert life.upkeep.kb_copy.copy(COMMAND_LINE, "a", "a", namespace="other").copied == 1
        assert life.alpha.embedded == ["OTTERS float."]
        assert sorted(life.search("otters")) == ["OTTERS eat urchins.", "OTTERS float."]
