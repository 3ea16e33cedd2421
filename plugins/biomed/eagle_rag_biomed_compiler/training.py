"""Training a model on texts that people annotated."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.concepts import ConceptType
from eagle_rag_biomed.marking import dictionary_labels
from eagle_rag_biomed.normalising import name_key
from eagle_rag_biomed.recogniser import META, MODEL, crfsuite
from eagle_rag_biomed.sequences import (
    FEATURES_VERSION,
    TypedSpan,
    features_of,
    labels_of,
    sentences,
)
from eagle_rag_biomed.tokens import Tokens
from eagle_rag_biomed_compiler.pubtator import AnnotatedDocument, GoldMention
from eagle_rag_core.errors import PluginError

#: Found on a development part; more iterations gain nothing on it.
_PARAMETERS: Final[dict[str, float | int | bool]] = {
    "c1": 0.05,
    "c2": 0.02,
    "max_iterations": 80,
    "feature.minfreq": 2,
}
#: An identifier is learned for a name that the corpus gives it in this share of its mentions.
_AGREEMENT: Final = 0.75


@dataclass(frozen=True, slots=True)
class Leak:
    """Documents of a test set that stand in a corpus as well."""

    test: str
    pmids: frozenset[str]


def leaks(
    documents: Iterable[AnnotatedDocument], tests: Iterable[tuple[str, Iterable[AnnotatedDocument]]]
) -> list[Leak]:
    """What of each test set, a name and its documents, stands in the corpus."""
    known = {document.pmid for document in documents}
    shared = ((name, known & {d.pmid for d in held_out}) for name, held_out in tests)
    return [Leak(name, frozenset(pmids)) for name, pmids in shared if pmids]


def train(
    annotator: Annotator,
    documents: Sequence[AnnotatedDocument],
    types: Collection[ConceptType],
    folder: Path,
) -> None:
    """Train a model and write it to ``folder``, which is replaced.

    :param annotator: without a model; what it finds is told to the model.
    :param types: that the corpus marks all mentions of.
    :raises PluginError: python-crfsuite is not installed, the corpus is empty, or the folder
        holds something else.
    """
    if not any(m.type in types for d in documents for m in d.mentions):
        raise PluginError("The corpus has no mentions of these types; name others with --types.")
    _clear(folder)
    trainer = crfsuite().Trainer(verbose=False)
    trainer.set_params(_PARAMETERS)
    dictionary = dictionary_labels(annotator.vocabulary)
    for document in documents:
        tokens = Tokens(document.text)
        labels = labels_of(tokens, _spans(document.mentions, types))
        dictionaries = dictionary(tokens, annotator.by_dictionary(tokens))
        for sentence in sentences(tokens):
            features = features_of(tokens, dictionaries, sentence)
            trainer.append(features, labels[sentence.start : sentence.stop])
    folder.mkdir(parents=True, exist_ok=True)
    trainer.train(str(folder / MODEL))
    names = sorted(learned_names(documents, types))
    meta: dict[str, Any] = {
        "features": FEATURES_VERSION,
        "types": sorted(types),
        "vocabulary": annotator.vocabulary.described,
        "documents": len(documents),
        "names": names,
    }
    content = (folder / MODEL).read_bytes() + json.dumps(meta).encode()
    meta["digest"] = hashlib.sha256(content).hexdigest()[:8]
    (folder / META).write_text(json.dumps(meta), encoding="utf-8")


def learned_names(
    documents: Iterable[AnnotatedDocument], types: Collection[ConceptType]
) -> Iterator[tuple[str, str, str]]:
    """Type, key of a name, and the one identifier that a corpus gives it."""
    found: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for document in documents:
        for mention in document.mentions:
            if mention.type in types and len(mention.identifiers) == 1:
                found[mention.type, name_key(mention.surface)][mention.identifiers[0]] += 1
    for (kind, key), identifiers in found.items():
        (identifier, times), *_ = identifiers.most_common(1)
        if times >= _AGREEMENT * identifiers.total():
            yield kind, key, identifier


def _spans(mentions: Iterable[GoldMention], types: Collection[ConceptType]) -> Iterator[TypedSpan]:
    """Mentions of the types, of those that begin together the longest first."""
    chosen = (m for m in mentions if m.type in types)
    for mention in sorted(chosen, key=lambda m: (m.start, -m.end)):
        yield TypedSpan(mention.start, mention.end, mention.type)


def _clear(folder: Path) -> None:
    """:raises PluginError: there is something in the folder that is no model."""
    if not folder.exists():
        return
    if not folder.is_dir() or not {p.name for p in folder.iterdir()} <= {MODEL, META}:
        raise PluginError(f"{folder.name!r} holds something that is no model; name a new folder.")
    shutil.rmtree(folder)
