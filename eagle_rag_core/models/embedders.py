"""The choice of the text embedder a process uses.

Vectors of different embedders are never compared, so a home stays with the one it was built
with: its fingerprint decides what ``models.text_embedder: auto`` means, and a named embedder must
match it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from eagle_rag_core.errors import ConfigError, EagleError, ErrorCode, ModelError
from eagle_rag_core.models import minilm
from eagle_rag_core.models.providers import KNOWN, LexicalOnly, Provider, core_provider
from eagle_rag_core.settings.suggest import did_you_mean
from eagle_rag_core.types import TextEmbedder

if TYPE_CHECKING:
    from eagle_rag_core.settings.sections import ModelSettings

AUTO = "auto"
#: What a new home gets where it is installed.
_DEFAULT = minilm.NAME

_LOG = logging.getLogger(__name__)

#: Factories of the embedders that packs contribute, by name.
PackEmbedders = Mapping[str, Callable[[], TextEmbedder]]


class HomeEmbedder(NamedTuple):
    """The embedder a home was built with."""

    name: str
    fingerprint: str
    dim: int


@dataclass(frozen=True, slots=True)
class ResolvedEmbedder:
    """The embedder this process works with.

    :param can_ingest: false when the home was built with an embedder this machine lacks: the
        process searches lexically, and must not write chunks without vectors.
    :param in_process: it computes here and never waits for anybody.
    :param notice: one or two sentences for the user, "" when all is as expected.
    """

    embedder: TextEmbedder
    can_ingest: bool = True
    in_process: bool = True
    notice: str = ""


def resolve_text_embedder(
    settings: ModelSettings, *, home: HomeEmbedder | None, extra: PackEmbedders
) -> ResolvedEmbedder:
    """Choose the text embedder of this process. No weights are loaded.

    :param home: None for a new home.
    :raises ConfigError: no embedder has that name, it lacks settings, or a pack claims one of the
        core's names.
    :raises ModelError: the named embedder is not installed, or is not the home's.
    """
    for name in sorted(extra):
        if name == AUTO or core_provider(name, settings) is not None:
            raise ConfigError(
                f"A domain pack offers a text embedder under the core's own name {name!r}; "
                "update or disable that pack."
            )
    if settings.text_embedder != AUTO:
        resolved = _named(settings, home, extra)
    elif home is None:
        resolved = _for_new_home(settings)
    else:
        resolved = _for_home(settings, home, extra)
    if resolved.notice:
        _LOG.warning(resolved.notice)
    return resolved


def _named(
    settings: ModelSettings, home: HomeEmbedder | None, extra: PackEmbedders
) -> ResolvedEmbedder:
    name = settings.text_embedder
    provider = core_provider(name, settings)
    if provider is None and name not in extra:
        known = [AUTO, *KNOWN, *extra]
        raise ConfigError(
            f"models.text_embedder is {name!r}, which no installed component provides"
            f"{did_you_mean(name, known)} Known are: {', '.join(known)}."
        )
    if provider is not None and not provider.installed():
        raise ModelError(f"The text embedder {name} is not installed. {provider.how_to_install}")
    resolved = _of_core(provider, home) if provider else _of_pack(name, extra[name])
    if home is not None and resolved.embedder.fingerprint != home.fingerprint:
        raise ModelError(
            f"This home was built with the text embedder {home.fingerprint}, but "
            f"models.text_embedder is {name} ({resolved.embedder.fingerprint}), whose vectors "
            f"cannot be compared with those. Run `eagle-rag reindex --embedder {name}` to embed "
            "the library anew, or set models.text_embedder to auto to use its own.",
            code=ErrorCode.EMBEDDER_MISMATCH,
        )
    return resolved


def _for_new_home(settings: ModelSettings) -> ResolvedEmbedder:
    provider = core_provider(_DEFAULT, settings)
    assert provider is not None
    if provider.installed():
        return _of_core(provider, None)
    return ResolvedEmbedder(
        LexicalOnly(),
        notice=f"No text embedder is installed, so search is lexical only. For search by meaning "
        f"use {_DEFAULT} before the first ingest. {provider.how_to_install}",
    )


def _for_home(
    settings: ModelSettings, home: HomeEmbedder, extra: PackEmbedders
) -> ResolvedEmbedder:
    remedy = "Install it, or enable the pack that brings it."
    provider = core_provider(home.name, settings)
    if provider is not None and not provider.installed():
        remedy = provider.how_to_install
    elif provider is not None:
        resolved = _of_core(provider, home)
        if resolved.embedder.fingerprint == home.fingerprint:
            return resolved
    for resolved in _of_packs(extra):
        if resolved.embedder.fingerprint == home.fingerprint:
            return resolved
    return ResolvedEmbedder(
        LexicalOnly(),
        can_ingest=False,
        notice=f"This home was built with the text embedder {home.fingerprint}, which this "
        f"machine lacks: search is lexical only and nothing can be ingested. {remedy}",
    )


def _of_core(provider: Provider, home: HomeEmbedder | None) -> ResolvedEmbedder:
    embedder = provider.create(home.dim if home else 0)
    return ResolvedEmbedder(embedder, in_process=not provider.remote)


def _of_packs(extra: PackEmbedders) -> Iterator[ResolvedEmbedder]:
    """Every embedder of a pack. One that cannot be created is logged and left out, since it need
    not be the one that is looked for.
    """
    for name, factory in extra.items():
        try:
            yield _of_pack(name, factory)
        except EagleError as error:
            _LOG.warning(error.message, exc_info=error)


def _of_pack(name: str, factory: Callable[[], TextEmbedder]) -> ResolvedEmbedder:
    try:
        return ResolvedEmbedder(factory(), in_process=False)
    except EagleError:
        raise
    except Exception as error:
        raise ModelError(
            f"The text embedder {name} of a domain pack cannot be created; the log says why."
        ) from error
