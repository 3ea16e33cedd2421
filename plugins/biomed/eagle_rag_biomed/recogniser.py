"""A trained model that marks mentions: a conditional random field over words and dictionaries.

A model is a folder: ``model.crfsuite``, and ``meta.json``, which says what it was trained on and
which names its corpus gives to identifiers.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eagle_rag_biomed.concepts import CONCEPT_TYPES, ConceptType
from eagle_rag_biomed.files import FileUnusable
from eagle_rag_biomed.sequences import (
    FEATURES_VERSION,
    TypedSpan,
    features_of,
    sentences,
    spans_of,
)
from eagle_rag_biomed.tokens import Tokens
from eagle_rag_core.errors import PluginError

MODEL: Final = "model.crfsuite"
META: Final = "meta.json"


@dataclass(frozen=True, slots=True)
class ModelMeta:
    """What a model says of itself.

    :param digest: of its content; documents marked by another have another fingerprint.
    :param vocabulary: the vocabulary it was trained with, name and version.
    :param names: identifiers by type and :func:`~eagle_rag_biomed.normalising.name_key`.
    """

    types: tuple[ConceptType, ...]
    digest: str
    vocabulary: str
    documents: int
    names: dict[tuple[str, str], str]


class Recogniser:
    """Marks mentions by a model.

    :raises PluginError: there is no model in ``folder``, it was made by another version, or
        python-crfsuite is not installed.
    """

    def __init__(self, folder: Path) -> None:
        self.meta = read_model_meta(folder)
        self.types = frozenset(self.meta.types)
        self._tagger = crfsuite().Tagger()
        # A tagger holds the sentence it works on.
        self._lock = threading.Lock()
        try:
            self._tagger.open(str(folder / MODEL))
        except (OSError, ValueError):
            raise FileUnusable(
                f"The model in {folder.name!r} cannot be read; train it again with "
                "'eagle-rag-biomed train'.",
                folder,
            ) from None

    def spans(
        self, tokens: Tokens, dictionaries: Sequence[Sequence[str]]
    ) -> Iterator[tuple[TypedSpan, float]]:
        """What the model marks in a text, each with its probability, 0..1.

        :param dictionaries: as :func:`~eagle_rag_biomed.sequences.features_of` takes them.
        """
        for sentence in sentences(tokens):
            features = features_of(tokens, dictionaries, sentence)
            with self._lock:
                labels = self._tagger.tag(features)
                found = [
                    (span, min(self._tagger.marginal(labels[place], place) for place in places))
                    for span, places in spans_of(tokens, sentence.start, labels)
                ]
            yield from found


def read_model_meta(folder: Path) -> ModelMeta:
    """What the model in ``folder`` says of itself.

    :raises PluginError: there is none, or it was made by another version.
    """
    try:
        meta: dict[str, Any] = json.loads((folder / META).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise FileUnusable(
            f"There is no model in {folder.name!r}; make one with 'eagle-rag-biomed train'.",
            folder,
        ) from None
    if meta.get("features") != FEATURES_VERSION:
        raise FileUnusable(
            f"The model in {folder.name!r} was made by another version; train it again with "
            "'eagle-rag-biomed train'.",
            folder,
        )
    return ModelMeta(
        tuple(t for t in CONCEPT_TYPES if t in meta["types"]),
        meta["digest"],
        meta["vocabulary"],
        meta["documents"],
        {(kind, key): curie for kind, key, curie in meta["names"]},
    )


def crfsuite() -> Any:
    """The package that trains and applies models.

    :raises PluginError: it is not installed.
    """
    # Native code, and an extra: loaded where a model is used.
    try:
        import pycrfsuite  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise PluginError(
            "A model needs python-crfsuite: pip install 'eagle-rag-biomed[crf]'."
        ) from None
    return pycrfsuite
