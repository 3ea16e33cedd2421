"""Rerankers of the core: a cross-encoder in this process, or behind HTTP.

Both score question and passage together, which is slower and better than comparing vectors.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from eagle_rag_core.errors import ConfigError, ModelError
from eagle_rag_core.models.model_server import ModelServer
from eagle_rag_core.types import Hit, Reranker

if TYPE_CHECKING:
    from eagle_rag_core.settings.sections import RerankSettings

HTTP: Final = "http"
FASTEMBED: Final = "fastembed:"

#: How well each passage answers the question; higher is better.
Score = Callable[[str, Sequence[str]], Sequence[float]]


def core_reranker(name: str, settings: RerankSettings) -> Reranker | None:
    """The core's reranker of this name; None when the core has none. Loads no weights.

    :param name: ``http`` or ``fastembed:<model>``.
    :raises ConfigError: it needs settings that are missing.
    """
    if name == HTTP:
        return _reranker(name, _over_http(settings))
    if name.startswith(FASTEMBED):
        return _reranker(name, _CrossEncoder(name.removeprefix(FASTEMBED)))
    return None


def _reranker(name: str, score: Score) -> Reranker:
    def rerank(query: str, hits: Sequence[Hit]) -> list[Hit]:
        scores = score(query, [hit.text for hit in hits])
        best = sorted(range(len(hits)), key=lambda place: -scores[place])
        return [hits[place] for place in best]

    return Reranker(name, rerank)


def _over_http(settings: RerankSettings) -> Score:
    if not settings.base_url:
        raise ConfigError("models.reranker is http; set models.rerank.base_url as well.")
    server = ModelServer(
        "the reranker",
        settings.base_url,
        api_key=settings.api_key.get_secret_value(),
        timeout=settings.timeout,
    )
    model = {"model": settings.model} if settings.model else {}

    def score(query: str, texts: Sequence[str]) -> list[float]:
        answer = server.post(
            "rerank", {"query": query, _PASSAGES[settings.protocol]: list(texts), **model}
        )
        found = answer if settings.protocol == "tei" else _field(server, answer, "results")
        return _in_order(server, found, _SCORE[settings.protocol], len(texts))

    return score


Protocol = Literal["cohere", "tei"]
#: Names of fields; Cohere's are also those of Jina, vLLM and Infinity.
_PASSAGES: Final[dict[Protocol, str]] = {"cohere": "documents", "tei": "texts"}
_SCORE: Final[dict[Protocol, str]] = {"cohere": "relevance_score", "tei": "score"}


def _field(server: ModelServer, answer: Any, name: str) -> Any:
    if not isinstance(answer, dict) or name not in answer:
        raise server.misunderstood(f"no field {name!r}")
    return answer[name]


def _in_order(server: ModelServer, found: Any, field: str, number: int) -> list[float]:
    """Scores in the order of the passages; one the server left out comes last."""
    scores = [float("-inf")] * number
    for row in found if isinstance(found, list) else ():
        index, score = _field(server, row, "index"), _field(server, row, field)
        if not isinstance(index, int) or not 0 <= index < number:
            raise server.misunderstood("an index of no passage")
        if not isinstance(score, int | float):
            raise server.misunderstood("a score that is no number")
        scores[index] = float(score)
    if number and max(scores) == float("-inf"):
        raise server.misunderstood("no scores")
    return scores


class _CrossEncoder:
    """A cross-encoder that fastembed runs with ONNX. The weights are loaded by the first use.

    :param model: name in fastembed's list, which downloads it once.
    """

    def __init__(self, model: str) -> None:
        self._name = model
        self._model: Any = None
        self._lock = threading.Lock()

    def __call__(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        scores: list[float] = [float(score) for score in self._loaded().rerank(query, list(texts))]
        return scores

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _load(self) -> Any:
        try:
            from fastembed.rerank.cross_encoder import TextCrossEncoder
        except ImportError as error:
            raise ModelError(
                "Rerankers of fastembed are not installed. Install them with: "
                "pip install 'eagle-rag-core[fastembed]'"
            ) from error
        try:
            return TextCrossEncoder(model_name=self._name, threads=1)
        except ValueError as error:
            raise ModelError(
                f"fastembed has no reranker called {self._name!r}; its documentation lists them."
            ) from error
        except Exception as error:
            raise ModelError(
                f"The weights of the reranker {self._name!r} could not be loaded. The first use "
                "downloads them: connect this machine once, or put them into its cache."
            ) from error
