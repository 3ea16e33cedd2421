"""The guard: a tool's name must say that it reads.

It is a lint with teeth, not a sandbox. It keeps a pack's author from adding a side effect without
noticing and lets a reader of ``tools/list`` trust the names; it cannot contain malicious code,
which no check inside the same Python process can.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, pairwise
from typing import Final

from eagle_rag_core.errors import GuardError
from eagle_rag_core.plugins.guard_words import (
    ACTING_READS,
    ACTING_VERBS,
    CONJUNCTIONS,
    GLUED_OBJECTS,
    NOUN_OR_VERB,
    READING_VERBS,
)
from eagle_rag_core.plugins.namespaces import CORE

#: The one tool that writes. Only the core may register it.
WRITER: Final = "core_ingest"

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_WORD: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def assert_rag_only_tool_name(full_name: str, *, namespace: str | None = None) -> None:
    """Refuse the name of a tool that does anything but retrieve.

    The first word after the namespace must be a known reading verb; words that act are refused as
    verbs, alone, after a conjunction (``get_and_delete``), with an object (``search_drop_table``)
    or glued to one (``query_sqlexec``). Nouns pass (``search_orders``, ``get_deletion_policy``).

    :param full_name: the public name, namespace first.
    :param namespace: the tool's namespace. Without it, words before the first verb are taken for
        the namespace.
    :raises GuardError: names the word and says what to do.
    """
    _check_spelling(full_name)
    if full_name == WRITER and namespace in (None, CORE):
        return
    words = _words_after_namespace(full_name, namespace)
    if reason := next(chain(_not_reading(words), _acting(words)), ""):
        raise GuardError(
            f"Tool name {full_name!r} is refused: {reason}. Packs only retrieve; name the tool "
            f"after what it reads, e.g. '{namespace or 'pack'}_search_documents'."
        )


def _check_spelling(name: str) -> None:
    if unicodedata.normalize("NFKC", name) != name or not name.isascii():
        raise GuardError(
            f"Tool name {name!a} is refused: it holds characters that look like others. "
            "Use ASCII letters, digits and underscores."
        )
    if not _NAME.fullmatch(name):
        raise GuardError(
            f"Tool name {name!a} is refused: use ASCII letters, digits and underscores only, "
            "beginning with a letter."
        )


def _words_after_namespace(name: str, namespace: str | None) -> list[str]:
    if namespace is not None:
        rest = name.removeprefix(f"{namespace}_")
        if rest == name:
            raise GuardError(
                f"Tool name {name!r} is refused: it does not begin with its namespace and an "
                f"underscore ({namespace}_…)."
            )
        return split_words(rest)
    words = split_words(name)
    for place, word in enumerate(words):
        if word in READING_VERBS or word in ACTING_VERBS or word in NOUN_OR_VERB:
            return words[place:]
    return words


def split_words(name: str) -> list[str]:
    """The words of a snake, kebab or camel case name, in lower case; digits are words too."""
    return [word.lower() for word in _WORD.findall(name)]


def _not_reading(words: Sequence[str]) -> Iterator[str]:
    if not words:
        yield "it has no word after the namespace"
    elif words[0] not in READING_VERBS:
        yield f"it begins with {words[0]!r}, which is not a known reading verb"


def _acting(words: Sequence[str]) -> Iterator[str]:
    """Why the words of a name act, one reason after the other."""
    for word in words:
        if _acts_alone(word) or _glued(word):
            yield f"{word!r} acts"
    for torn in _torn(words):
        if _acts_alone(torn):
            yield f"its parts spell {torn!r}"
    for left, right in pairwise(words):
        if left in CONJUNCTIONS and right in NOUN_OR_VERB:
            yield f"{right!r} is a second command after {left!r}"
        if right in NOUN_OR_VERB.get(left, ()) or right in ACTING_READS.get(left, ()):
            yield f"'{left} {right}' acts"


def _acts_alone(word: str) -> bool:
    return word in ACTING_VERBS or (word.endswith("s") and word[:-1] in ACTING_VERBS)


def _glued(word: str) -> bool:
    """Whether ``word`` is a verb and its object without a separator, in either order."""
    for verb in ACTING_VERBS:
        before, after = word.removesuffix(verb), word.removeprefix(verb)
        if after != word and after in GLUED_OBJECTS:
            return True
        if before != word and (before in GLUED_OBJECTS or before in CONJUNCTIONS):
            return True
    return any(
        word.removeprefix(verb) in objects
        for verb, objects in NOUN_OR_VERB.items()
        if word.startswith(verb)
    )


def _torn(words: Sequence[str]) -> Iterator[str]:
    """Words that neighbours may be parts of: pairs, and runs of single letters."""
    yield from map("".join, pairwise(words))
    for single, run in groupby(words, key=lambda word: len(word) == 1):
        if single:
            yield "".join(run)
