"""Image embedders that fastembed runs with ONNX, named ``fastembed:<model>``.

The first use of a model downloads its weights from the model hub; after that no network is needed.
Which models there are, and what they give, is read from fastembed's own lists.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from eagle_rag_core.errors import ConfigError, ModelError
from eagle_rag_core.models.image_embedders import FASTEMBED, ImageEmbedder
from eagle_rag_core.models.late_interaction import unit_rows

if TYPE_CHECKING:
    from PIL.Image import Image

    from eagle_rag_core.models.late_interaction import Matrix, Vector

#: Endings of the two halves of a model that goes by one name here.
_HALVES: Final = ("-vision", "-text")
Description = Mapping[str, Any]


def fast_image_embedder(model: str) -> ImageEmbedder:
    """The embedder of a model in fastembed's lists. Loads no weights.

    :param model: one that fastembed has for pictures and for words
        (``google/siglip2-base-patch16-224``), what its ``-vision`` and ``-text`` have in common
        (``Qdrant/clip-ViT-B-32``), or one of many vectors (``Qdrant/colmodernvbert``).
    :raises ModelError: fastembed is not installed, or too old.
    :raises ConfigError: it has no such model.
    """
    name = f"{FASTEMBED}{model}"
    if find_spec("fastembed") is None:
        raise ModelError(
            f"The image embedder {name} is not installed. Install it with: pip install "
            "'eagle-rag-core[fastembed]'"
        )
    try:
        from fastembed import ImageEmbedding, LateInteractionMultimodalEmbedding, TextEmbedding
    except ImportError as error:
        raise ModelError(
            f"The image embedder {name} needs a newer fastembed. Install it with: pip install -U "
            "fastembed"
        ) from error
    matrices = _by_name(LateInteractionMultimodalEmbedding)
    if model in matrices:
        return FastMatrixEmbedder(model, matrices[model])
    vision, text = _by_name(ImageEmbedding), _by_name(TextEmbedding)
    pairs = _pairs(vision, text)
    if model not in pairs:
        from eagle_rag_core.settings.suggest import did_you_mean

        known = sorted({*matrices, *pairs})
        raise ConfigError(
            f"fastembed has no model {model!r} for pictures and words"
            f"{did_you_mean(model, known)} It has: {', '.join(known)}."
        )
    seen, said = pairs[model]
    return FastImageEmbedder(model, vision[seen], text[said])


class FastImageEmbedder:
    """A model, or a pair of models, of single vectors. Loads the weights on first use.

    :param vision: the half for pictures, as fastembed describes it.
    :param text: the half for words.
    """

    multi_vector = False

    def __init__(self, model: str, vision: Description, text: Description) -> None:
        self.name = f"{FASTEMBED}{model}"
        self.fingerprint = _fingerprint(self.name, vision, text)
        self.dim = int(vision["dim"])
        self._weights = _Weights(self.name, lambda: _load_pair(vision["model"], text["model"]))

    def embed_image(self, data: bytes) -> Vector:
        return self._vector(self._weights.get()[0].embed([_opened(data)]))

    def embed_text(self, text: str) -> Vector:
        return self._vector(self._weights.get()[1].embed([text]))

    def _vector(self, made: Any) -> Vector:
        vector: Vector = _rows(self.name, self.dim, [_only(made)])[0]
        return vector


class FastMatrixEmbedder:
    """A model of many vectors. Loads the weights on first use.

    :param description: of the model, fastembed's own.
    """

    multi_vector = True

    def __init__(self, model: str, description: Description) -> None:
        self.name = f"{FASTEMBED}{model}"
        self.fingerprint = _fingerprint(self.name, description)
        self.dim = int(description["dim"])
        self._weights = _Weights(self.name, lambda: _load_matrices(model))

    def embed_image(self, data: bytes) -> Matrix:
        made = self._weights.get().embed_image([_opened(data)])
        return _rows(self.name, self.dim, _only(made))

    def embed_text(self, text: str) -> Matrix:
        return _rows(self.name, self.dim, _only(self._weights.get().embed_text([text])))


class _Weights:
    """What a model needs to be run, loaded once, whichever thread comes first."""

    def __init__(self, name: str, load: Callable[[], Any]) -> None:
        self._name = name
        self._load = load
        self._lock = threading.Lock()
        self._loaded: Any = None

    def get(self) -> Any:
        """:raises ModelError: they are not here and cannot be fetched."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._try()
            return self._loaded

    def _try(self) -> Any:
        try:
            return self._load()
        except Exception as error:
            raise ModelError(
                f"The weights of the image embedder {self._name} could not be loaded. The first "
                "use downloads them: connect this machine once, or put them into fastembed's cache."
            ) from error


def _load_pair(vision: str, text: str) -> tuple[Any, Any]:
    from fastembed import ImageEmbedding, TextEmbedding

    return (
        ImageEmbedding(model_name=vision, threads=1),
        TextEmbedding(model_name=text, threads=1),
    )


def _load_matrices(model: str) -> Any:
    from fastembed import LateInteractionMultimodalEmbedding

    return LateInteractionMultimodalEmbedding(model_name=model, threads=1)


def _by_name(kind: Any) -> dict[str, Description]:
    return {entry["model"]: entry for entry in kind.list_supported_models()}


def _pairs(vision: Collection[str], text: Collection[str]) -> dict[str, tuple[str, str]]:
    """The models for pictures and words: what both lists have under one name or as two halves."""
    seen, said = _HALVES
    pairs = {model: (model, model) for model in vision if model in text}
    for model in vision:
        whole = model.removesuffix(seen)
        if whole != model and f"{whole}{said}" in text:
            pairs[whole] = (model, f"{whole}{said}")
    return pairs


def _fingerprint(name: str, *halves: Description) -> str:
    """Names the files of the weights as well, so that a new export of a model is another one."""
    files = repr([(half["sources"], half["model_file"]) for half in halves])
    return f"image-{name}-{hashlib.sha256(files.encode()).hexdigest()[:8]}"


def _opened(data: bytes) -> Image:
    from io import BytesIO

    from PIL import Image

    with Image.open(BytesIO(data)) as image:
        return image.convert("RGB")


def _only(made: Any) -> Any:
    """What a model made of the only input."""
    return next(iter(made))


def _rows(name: str, dim: int, rows: Sequence[Any]) -> Matrix:
    try:
        matrix = unit_rows(rows)
    except ValueError as error:
        raise ModelError(f"The image embedder {name} gave {error}.") from error
    if matrix.shape[1] != dim:
        raise ModelError(f"The image embedder {name} gave vectors of the wrong length.")
    return matrix
