"""A home is a folder, whatever its name would mean in a URL."""

from __future__ import annotations

from pathlib import Path

import pytest

from eagle_rag_core.testing import PackLibrary


@pytest.mark.parametrize("name", ["q?x", "pc%20t#b", "a::b", "with space", "文書", "file:x"])
def test_everything_stays_inside_the_home(tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    with PackLibrary(home) as library:
        library.ingest_text("Tides turn twice a day.")
        assert library.call("core_retrieve_text", query="tides")
    assert (home / "catalog.db").is_file()
    assert any((home / "blobs").rglob("*"))
    assert [path.name for path in tmp_path.iterdir()] == [name]
