"""Image embedders: pictures and words as vectors of one space.

None of them comes with this package: no weights that do this are on the package index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings.suggest import did_you_mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from eagle_rag_core.settings.sections import ModelSettings

    Vectors = NDArray[np.float32]

NONE: Final = "none"
OPENAI_LIKE: Final = "openai-like"
FASTEMBED: Final = "fastembed:"


class ImageEmbedder(Protocol):
    """Makes vectors of a picture, and of words to compare with it.

    A model of single vectors gives one unit vector, of shape ``(dim,)``, for each input. One of
    many vectors (ColPali and its like) gives a matrix of unit rows, of shape ``(n, dim)``: a row
    for each patch of a picture and each word, to be compared by
    :func:`~eagle_rag_core.models.late_interaction.maxsim`.

    :ivar fingerprint: vectors of different ones are never compared.
    :ivar multi_vector: inputs become matrices.
    """

    name: str
    fingerprint: str
    multi_vector: bool

    @property
    def dim(self) -> int:
        """Length of the vectors.

        :raises ModelError: it is not known yet and the model does not answer.
        """

    def embed_image(self, data: bytes) -> Vectors:
        """The vector, or the matrix, of a picture file (PNG or JPEG).

        :raises ModelError: the model does not answer, or not with vectors.
        """

    def embed_text(self, text: str) -> Vectors:
        """The vector, or the matrix, of words.

        :raises ModelError: the model does not answer, or not with vectors.
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
        from eagle_rag_core.models.image_servers import served_image_embedder

        return served_image_embedder(settings.image_embedding)
    if wanted.startswith(FASTEMBED) and len(wanted) > len(FASTEMBED):
        from eagle_rag_core.models.fastembed_image import fast_image_embedder

        return fast_image_embedder(wanted.removeprefix(FASTEMBED))
    known = [NONE, OPENAI_LIKE, f"{FASTEMBED}<model>"]
    raise ConfigError(
        f"models.image_embedder is {wanted!r}, which nothing installed provides"
        f"{did_you_mean(wanted, known)} Known are: {', '.join(known)}."
    )
