"""Image embedders: pictures and words as vectors of one space.

None of them comes with this package: no weights that do this are on the package index.
"""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Protocol

from eagle_rag_core.errors import ConfigError, ModelError
from eagle_rag_core.models.model_server import ModelServer
from eagle_rag_core.settings.suggest import did_you_mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from eagle_rag_core.settings.sections import ImageEmbeddingSettings, ModelSettings

    Vector = NDArray[np.float32]

NONE: Final = "none"
OPENAI_LIKE: Final = "openai-like"
FASTEMBED: Final = "fastembed:"


class ImageEmbedder(Protocol):
    """Makes a unit vector of a picture, and one of words to compare with it.

    :ivar fingerprint: vectors of different ones are never compared.
    """

    name: str
    fingerprint: str

    @property
    def dim(self) -> int:
        """Length of the vectors.

        :raises ModelError: it is not known yet and the model does not answer.
        """

    def embed_image(self, data: bytes) -> Vector:
        """The vector of a picture file (PNG or JPEG).

        :raises ModelError: the model does not answer, or not with a vector.
        """

    def embed_text(self, text: str) -> Vector:
        """The vector of words.

        :raises ModelError: the model does not answer, or not with a vector.
        """


def image_embedder(settings: ModelSettings) -> ImageEmbedder | None:
    """The deployment's image embedder; None where pixels are not embedded.

    :raises ConfigError: nothing has that name, or it lacks settings.
    :raises ModelError: it is not installed.
    """
    wanted = settings.image_embedder
    if wanted == NONE:
        return None
    if wanted == OPENAI_LIKE:
        return ServedImageEmbedder(settings.image_embedding)
    if wanted.startswith(FASTEMBED) and len(wanted) > len(FASTEMBED):
        return FastImageEmbedder(wanted.removeprefix(FASTEMBED))
    known = [NONE, OPENAI_LIKE, f"{FASTEMBED}<model>"]
    raise ConfigError(
        f"models.image_embedder is {wanted!r}, which nothing installed provides"
        f"{did_you_mean(wanted, known)} Known are: {', '.join(known)}."
    )


class ServedImageEmbedder:
    """Asks a server for vectors: ``/embeddings`` with ``messages``, as vLLM serves multimodal
    embedding models. Nothing is sent before the first use.

    The fingerprint is made of the model's name: a server that begins to serve other weights under
    the same name cannot be noticed.

    :raises ConfigError: it is not said where the server is, or which model to use.
    """

    name = OPENAI_LIKE

    def __init__(self, settings: ImageEmbeddingSettings) -> None:
        if not settings.base_url or not settings.model:
            raise ConfigError(
                f"models.image_embedder is {OPENAI_LIKE}; set models.image_embedding.base_url and "
                "models.image_embedding.model as well."
            )
        digest = hashlib.sha256(settings.model.encode()).hexdigest()[:16]
        self.fingerprint = f"image-{OPENAI_LIKE}-{digest}"
        self._model = settings.model
        self._server = ModelServer(
            "the image embedding server",
            settings.base_url,
            api_key=settings.api_key.get_secret_value(),
            timeout=settings.timeout,
        )

    @cached_property
    def dim(self) -> int:
        return len(self._ask({"type": "text", "text": "dimension"}))

    def embed_image(self, data: bytes) -> Vector:
        kind = "png" if data.startswith(b"\x89PNG") else "jpeg"
        url = f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
        return self._vector({"type": "image_url", "image_url": {"url": url}})

    def embed_text(self, text: str) -> Vector:
        return self._vector({"type": "text", "text": text})

    def _vector(self, part: dict[str, Any]) -> Vector:
        import numpy as np

        row = np.asarray(self._ask(part), np.float32)
        if row.shape != (self.dim,):
            raise self._server.misunderstood(f"a vector that is not of length {self.dim}")
        if not np.isfinite(row).all():
            raise self._server.misunderstood("numbers that are not finite")
        return _unit(row)

    def _ask(self, part: dict[str, Any]) -> list[float]:
        body = {
            "model": self._model,
            "messages": [{"role": "user", "content": [part]}],
            "encoding_format": "float",
        }
        answer = self._server.post("embeddings", body)
        try:
            row = answer["data"][0]["embedding"]
        except (LookupError, TypeError) as error:
            raise self._server.misunderstood("no vector") from error
        if not _is_vector(row):
            raise self._server.misunderstood("something that is no vector")
        found: list[float] = row
        return found


class FastImageEmbedder:
    """A pair of models of fastembed: ``Qdrant/clip-ViT-B-32`` stands for its ``-vision`` and
    ``-text``. The weights are loaded on first use, and downloaded before that.

    :raises ModelError: fastembed is not installed.
    """

    def __init__(self, model: str) -> None:
        self.name = f"{FASTEMBED}{model}"
        if find_spec("fastembed") is None:
            raise ModelError(
                f"The image embedder {self.name} is not installed. Install it with: pip install "
                "fastembed"
            )
        self.fingerprint = f"image-{self.name}"
        self._model = model
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    @cached_property
    def dim(self) -> int:
        return len(self.embed_text("dimension"))

    def embed_image(self, data: bytes) -> Vector:
        from io import BytesIO

        from PIL import Image

        with Image.open(BytesIO(data)) as image:
            return _unit(next(iter(self._models()[0].embed([image.convert("RGB")]))))

    def embed_text(self, text: str) -> Vector:
        return _unit(next(iter(self._models()[1].embed([text]))))

    def _models(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> tuple[Any, Any]:
        from fastembed import ImageEmbedding, TextEmbedding

        try:
            return (
                ImageEmbedding(model_name=f"{self._model}-vision", threads=1),
                TextEmbedding(model_name=f"{self._model}-text", threads=1),
            )
        except Exception as error:
            raise ModelError(
                f"The weights of the image embedder {self.name} could not be loaded. The first "
                "use downloads them: connect this machine once, or put them into fastembed's cache."
            ) from error


def _unit(row: Any) -> Vector:
    import numpy as np

    vector = np.asarray(row, np.float32)
    unit: Vector = vector / np.maximum(np.linalg.norm(vector), np.float32(1e-12))
    return unit


def _is_vector(row: Sequence[object] | object) -> bool:
    return (
        isinstance(row, list) and bool(row) and all(isinstance(value, int | float) for value in row)
    )
