"""What the options name, loaded: the vocabulary, its layers and the stop-terms."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Final

from eagle_rag_biomed.annotator import Annotator, Marker
from eagle_rag_biomed.artefact import open_artefact
from eagle_rag_biomed.builtin import builtin_vocabulary
from eagle_rag_biomed.files import FileUnusable
from eagle_rag_biomed.stopterms import StopTerms, builtin_stop_terms, parse_stop_terms
from eagle_rag_biomed.user_vocabularies import with_user_vocabulary
from eagle_rag_biomed.vocabulary import Vocabulary

if TYPE_CHECKING:
    from eagle_rag_biomed.options import Options

_LOG: Final = logging.getLogger(__name__)


def annotator_for(options: Options | None) -> Annotator:
    """The annotator of a deployment with ``options``.

    :raises PluginError: a file they name is absent or faulty.
    """
    try:
        return _annotator(options)
    except FileUnusable as error:
        # The log is the operator's; the error's own message may reach callers.
        _LOG.error("%s", error.for_operators)
        raise


def _annotator(options: Options | None) -> Annotator:
    if options is None:
        return Annotator(builtin_vocabulary(), builtin_stop_terms())
    vocabulary = _vocabulary(options)
    return Annotator(vocabulary, _stop_terms(options), _marker(options, vocabulary))


def _marker(options: Options, vocabulary: Vocabulary) -> Marker | None:
    if not options.crf_model:
        return None
    from eagle_rag_biomed.marking import ModelMarker
    from eagle_rag_biomed.recogniser import Recogniser

    return ModelMarker(vocabulary, Recogniser(Path(options.crf_model)))


def _vocabulary(options: Options) -> Vocabulary:
    folder = options.vocabulary
    vocabulary = open_artefact(Path(folder)) if folder else builtin_vocabulary()
    for layer in options.user_vocabularies:
        vocabulary = with_user_vocabulary(vocabulary, Path(layer.path), layer.type or None)
    return vocabulary


def _stop_terms(options: Options) -> StopTerms:
    terms = builtin_stop_terms()
    for name in options.stop_terms:
        try:
            lines = Path(name).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            raise FileUnusable(
                f"The stop-terms {Path(name).name!r} cannot be read.", Path(name)
            ) from None
        terms = terms | parse_stop_terms(lines)
    return terms
