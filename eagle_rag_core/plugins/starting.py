"""What of a pack runs only when the engine is built: the factories of its embedders."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from eagle_rag_core.errors import PluginError
from eagle_rag_core.types.extensions import EmbedderSpec, TextEmbedder

#: Told why the pack of a factory did not start, and the exception behind it, if any.
Fail = Callable[[str, BaseException | None], None]


def watched(spec: EmbedderSpec, fail: Fail) -> EmbedderSpec:
    """The same embedder; its factory tells ``fail`` when it does not work.

    The factory then raises :class:`PluginError`, whatever the pack's code raised; only Ctrl-C
    passes.
    """

    def factory() -> TextEmbedder:
        try:
            embedder: object = spec.factory()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            reason = f"Creating the embedder {spec.name} raised {type(error).__name__}."
            fail(reason, error)
            raise PluginError(reason) from error
        if isinstance(embedder, type) or not isinstance(embedder, TextEmbedder):
            reason = (
                f"The factory of the embedder {spec.name} returned a {type(embedder).__name__}, "
                "which is no TextEmbedder."
            )
            fail(reason, None)
            raise PluginError(reason)
        return embedder

    return EmbedderSpec(spec.name, factory)


def refusing(spec: EmbedderSpec, why: str) -> EmbedderSpec:
    """An embedder of a pack that did not start; its factory raises :class:`PluginError`."""

    def factory() -> NoReturn:
        raise PluginError(why)

    return EmbedderSpec(spec.name, factory)
