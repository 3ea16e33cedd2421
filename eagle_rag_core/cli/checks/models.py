"""Checks of the models: whether they load, or answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from eagle_rag_core.cli.checks.results import Check, Result, failed, warning, well
from eagle_rag_core.settings import Settings

if TYPE_CHECKING:
    from eagle_rag_core.models.embedders import ResolvedEmbedder

#: Weights may have to be read from a slow disk; a server may have to load them.
_SECONDS: Final = 30.0
_ANSWER_SECONDS: Final = 10.0
#: Tokens of an answer that nobody reads.
_FEW: Final = 16


def model_checks(settings: Settings, embedder: ResolvedEmbedder) -> Iterator[Check]:
    """Checks of the models that the settings name.

    :param embedder: of this process.
    """
    models = settings.models
    yield Check("model.embedder", lambda: text_embedder(embedder), _SECONDS)
    yield Check("model.ocr", lambda: ocr(settings), _SECONDS)
    if models.llm.base_url:
        yield Check("model.llm", lambda: language_model(settings), _SECONDS)
    if models.reranker == "http":
        yield Check("model.reranker", lambda: reranker(settings), _SECONDS)


def text_embedder(resolved: ResolvedEmbedder) -> Result:
    embedder = resolved.embedder
    if not resolved.can_ingest:
        return failed(resolved.notice)
    if resolved.notice:
        return warning(resolved.notice, "")
    if not embedder.dim:
        return well("None: search is by words alone.")
    found = len(embedder.embed_query("otter"))
    if found != embedder.dim:
        return failed(
            f"{embedder.name} makes vectors of {found} numbers; the library has {embedder.dim}.",
            "Check models.embedding.model.",
        )
    return well(f"{embedder.name} works ({found} dimensions).")


def ocr(settings: Settings) -> Result:
    import numpy as np

    from eagle_rag_core.models.ocr import HOW_TO_INSTALL, ocr_engine

    engine = ocr_engine(settings.models.ocr)
    if engine is None:
        return well(f"None: scanned pages and pictures are not read. {HOW_TO_INSTALL}")
    engine.read(np.full((64, 64, 3), 255, np.uint8))
    return well("Scanned pages and pictures are read.")


def language_model(settings: Settings) -> Result:
    from eagle_rag_core.models.llm import chat_model

    llm = settings.models.llm
    quick = {"timeout": min(llm.timeout, _ANSWER_SECONDS), "max_tokens": _FEW}
    model = chat_model(llm.model_copy(update=quick))
    assert model is not None
    model.complete("Say yes.")
    return well(f"{llm.model} answers.")


def reranker(settings: Settings) -> Result:
    from eagle_rag_core.models.rerankers import core_reranker
    from eagle_rag_core.types import Hit

    found = core_reranker(settings.models.reranker, settings.models.rerank)
    assert found is not None
    texts = ("Otters eat urchins.", "Kelp grows.")
    hits = [Hit(str(n), "", "", text, 1.0, 0, len(text)) for n, text in enumerate(texts)]
    found.rerank("What do otters eat?", hits)
    return well("It answers.")
