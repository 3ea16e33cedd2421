"""Words of a tool's name, also where it hides them: glued, torn apart, spelled with digits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final

from eagle_rag_core.plugins.guard_words import (
    ACTING_VERBS,
    COMMANDS,
    CONJUNCTIONS,
    GLUED_OBJECTS,
    LEET,
    NOUN_OR_VERB,
    READING_VERBS,
    TRAILING_VERBS,
)

_WORD: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
#: ``find2replace``, ``get4update``.
_DIGIT_FOR_WORD: Final = re.compile(r"(?<=[a-z])[24](?=[a-z])")
_GLUED_CONJUNCTIONS: Final = ("and", "then", "or", "plus")
_VERBS: Final = ACTING_VERBS | NOUN_OR_VERB.keys() | COMMANDS


def split_words(name: str) -> list[str]:
    """The words of a snake, kebab or camel case name, in lower case; digits are words too."""
    return [word.lower() for word in _WORD.findall(name)]


def glued(word: str) -> bool:
    """Whether ``word`` is a verb and its object without a separator, in either order."""
    return _verb_with_object(word) or _object_with_verb(word) or _conjunction_with_verb(word)


def torn(words: Sequence[str]) -> Iterator[str]:
    """Words that neighbours may be parts of: two, three, and runs of single letters."""
    yield from map("".join, pairwise(words))
    yield from map("".join, zip(words, words[1:], words[2:], strict=False))
    for single, run in groupby(words, key=lambda word: len(word) == 1):
        if single:
            yield "".join(run)


def disguised(name: str) -> Iterator[str]:
    """Words of ``name`` with letters in place of the digits between them."""
    for part in re.split(r"[_-]", name.lower()):
        if not part.isalpha() and not part.isdigit():
            yield from _undisguised(part)


def _undisguised(part: str) -> Iterator[str]:
    plain = "".join(LEET.get(character, character) for character in part)
    for one in "il":
        yield plain.replace("1", one)
    if _DIGIT_FOR_WORD.search(part):
        yield from _DIGIT_FOR_WORD.split(part)[1:]


def _verb_with_object(word: str) -> bool:
    for verb in ACTING_VERBS:
        if word != verb and word.startswith(verb) and word[len(verb) :] in GLUED_OBJECTS:
            return True
    return any(
        word.startswith(verb) and word[len(verb) :] in objects
        for verb, objects in NOUN_OR_VERB.items()
    )


def _object_with_verb(word: str) -> bool:
    for verb in ACTING_VERBS:
        if word != verb and word.endswith(verb):
            before = word[: -len(verb)]
            if before in GLUED_OBJECTS or before in CONJUNCTIONS or before in READING_VERBS:
                return True
    return any(
        word.endswith(verb) and word[: -len(verb)] in NOUN_OR_VERB[verb] for verb in TRAILING_VERBS
    )


def _conjunction_with_verb(word: str) -> bool:
    return any(
        word.startswith(conjunction) and word[len(conjunction) :] in _VERBS
        for conjunction in _GLUED_CONJUNCTIONS
    )
