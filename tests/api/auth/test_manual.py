"""The examples of the manual are configurations that start."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from eagle_rag_core.api.mcp_http import check_exposure
from eagle_rag_core.settings import load_settings

PAGE = Path(__file__).parents[3] / "docs" / "authentication.md"
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_starts(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESEARCH_TOKEN", "tok_9bK8nHs1Tq5GcE6uWj2rXf")
    monkeypatch.setenv("GITHUB_SECRET", "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c")
    token = tmp_path / "ci-token"
    token.write_text("tok_Zc7vB2nM4lK8jH1gF5dS9a\n")
    text = example.replace("/run/secrets/ci-token", str(token))
    config = tmp_path / "eagle-rag.yaml"
    config.write_text(text.replace("6b0f…", hashlib.sha256(b"operations").hexdigest()))
    settings = load_settings(config=config, overrides={"home": tmp_path / "home"})
    assert settings.auth.enabled
    check_exposure(settings, "0.0.0.0")


def test_there_is_one_for_every_provider() -> None:
    assert len(EXAMPLES) == 3
