"""What a server does before the first call, so that the call need not."""

from __future__ import annotations

from pathlib import Path

import pytest

from eagle_rag_core.app import EagleApp
from eagle_rag_core.retrieval.orchestrator import Orchestrator, SearchOutcome
from eagle_rag_core.settings import load_settings


def test_the_engine_searches_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[SearchOutcome] = []
    search = Orchestrator.search

    def watched(self: Orchestrator, *args: object, **options: object) -> SearchOutcome:
        searched.append(search(self, *args, **options))  # type: ignore[arg-type]
        return searched[-1]

    monkeypatch.setattr(Orchestrator, "search", watched)
    overrides = {"home": tmp_path / "home", "models": {"text_embedder": "none"}}
    app = EagleApp.open(load_settings(overrides=overrides), no_packs=True)
    try:
        app.engine().warm()
    finally:
        app.close()
    assert len(searched) == 1
