"""The life of a library whose parts are all on servers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from life_pack import sha
from places import Places

from eagle_rag_core.service.audit import originals as of_originals
from eagle_rag_core.storage import open_blobs
from eagle_rag_core.types import COMMAND_LINE


def test_a_library_on_servers_lives_as_one_in_a_folder(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with Places(request, tmp_path).new("servers").open() as life:
        blobs = open_blobs(life.library.app.settings)
        first = life.add(tmp_path / "a.md", "OTTERS eat.")
        life.add(tmp_path / "b.md", "OTTERS eat.", kb="other")
        assert sorted(life.search("eat")) == ["OTTERS eat.", "OTTERS eat."]
        assert [record.fields for record in life.library.records("name")] == [
            {"text": "OTTERS"}
        ] * 2
        assert [file.name for file in blobs.stored()] == [sha("OTTERS eat.")]
        assert life.alpha.embedded == ["OTTERS eat."]
        life.add(tmp_path / "a.md", "WALRUS sleeps.")
        assert life.search("sleeps") == ["WALRUS sleeps."]
        assert life.findings() == []
        life.services.documents.delete(COMMAND_LINE, first)
        assert [file.name for file in blobs.stored()] == [sha("OTTERS eat.")]
        assert life.search("sleeps") == []
        life.services.kbs.delete(COMMAND_LINE, "other")
        assert list(blobs.stored()) == []
        assert life.findings() == []


def test_originals_on_s3_that_nobody_needs_are_found(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with Places(request, tmp_path).new("servers").open() as life:
        life.add(tmp_path / "a.md", "OTTERS eat.")
        blobs = open_blobs(life.library.app.settings)
        blobs.put(sha("nobody's"), b"nobody's")
        service = life.services.documents
        parts = (life.engine.catalog, blobs, service._originals)
        assert list(of_originals.orphans(*parts, time.time)) == []
        (orphan,) = of_originals.orphans(*parts, lambda: time.time() + 7200)
        assert orphan.subject == sha("nobody's") and orphan.repair is not None
        orphan.repair()
        assert [file.name for file in blobs.stored()] == [sha("OTTERS eat.")]
        blobs.delete(sha("OTTERS eat."))
        assert [check for check, _ in life.findings()] == ["blobs.missing"]
