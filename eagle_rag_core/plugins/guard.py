"""The guard: a tool's name must say that it reads.

It is a lint with teeth, not a sandbox. It keeps a pack's author from adding a side effect without
noticing and lets a reader of ``tools/list`` trust the names; it cannot contain malicious code,
which no check inside the same Python process can.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from eagle_rag_core.plugins.guard_findings import Finding, refuse_first
from eagle_rag_core.plugins.guard_spelling import disguised, glued, split_words, torn
from eagle_rag_core.plugins.guard_words import (
    ACTING_READS,
    ACTING_VERBS,
    COMMANDS,
    CONJUNCTIONS,
    NOUN_OR_VERB,
    PRONOUNS,
    READING_VERBS,
    SECRET_PAIRS,
    SECRETS,
    TRAILING_VERBS,
)
from eagle_rag_core.plugins.namespaces import CORE

#: The one tool that writes. Only the core may register it.
WRITER: Final = "core_ingest"

#: Longer names are refused before anything else is looked at; clients take 64 at most.
_LONGEST: Final = 128
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*([_-][A-Za-z0-9]+)*")


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
    refuse_first(name_findings(full_name, namespace=namespace))


def name_findings(full_name: str, *, namespace: str | None = None) -> Iterator[Finding]:
    """What is wrong with a tool's name; see :func:`assert_rag_only_tool_name`."""
    if problem := _misspelt(full_name):
        yield _refusal("name-spelling", full_name, f"{problem}.")
        return
    if full_name == WRITER and namespace in (None, CORE):
        return
    rest = full_name if namespace is None else full_name.removeprefix(f"{namespace}_")
    if namespace is not None and rest == full_name:
        problem = f"it does not begin with its namespace and an underscore ({namespace}_…)."
        yield _refusal("name-namespace", full_name, problem)
        return
    words = split_words(rest) if namespace is not None else _from_first_verb(split_words(rest))
    advice = (
        "Packs only retrieve; name the tool after what it reads, e.g. "
        f"'{namespace or 'pack'}_search_documents'."
    )
    for reason in _not_reading(words):
        yield _refusal("name-verb", full_name, f"{reason}. {advice}")
    for reason in _acting(words, rest):
        yield _refusal("name-action", full_name, f"{reason}. {advice}")
    if secret := _secret(words):
        problem = f"{secret!r} is no knowledge to retrieve. {advice}"
        yield _refusal("name-secret", full_name, problem)


def _refusal(rule: str, full_name: str, problem: str) -> Finding:
    shown = full_name if len(full_name) <= _LONGEST else f"{full_name[:_LONGEST]}…"
    return Finding(rule, f"name of tool {shown!a}", f"Tool name {shown!a} is refused: {problem}")


def _misspelt(name: str) -> str:
    if len(name) > _LONGEST:
        return f"it has {len(name)} characters; use 64 at most"
    if unicodedata.normalize("NFKC", name) != name or not name.isascii():
        return (
            "it holds characters that look like others; use ASCII letters, digits and underscores"
        )
    if not _NAME.fullmatch(name):
        return "use ASCII letters, digits and single underscores between words, a letter first"
    return ""


def _from_first_verb(words: Sequence[str]) -> Sequence[str]:
    for place, word in enumerate(words):
        if word in READING_VERBS or word in ACTING_VERBS or word in NOUN_OR_VERB:
            return words[place:]
    return words


def _not_reading(words: Sequence[str]) -> Iterator[str]:
    if not words:
        yield "it has no word after the namespace"
    elif words[0] not in READING_VERBS:
        yield f"it begins with {words[0]!r}, which is not a known reading verb"


def _acting(words: Sequence[str], name: str) -> Iterator[str]:
    """Why the words of a name act, one reason after the other."""
    for word in words:
        if _acts_alone(word) or glued(word):
            yield f"{word!r} acts"
    for parts in torn(words):
        if _acts_alone(parts):
            yield f"its parts spell {parts!r}"
    for word in disguised(name):
        if _acts_alone(word) or glued(word) or word in NOUN_OR_VERB or word in COMMANDS:
            yield f"its digits spell {word!r}"
    for left, right in pairwise(words):
        if _second_command(left, right):
            yield f"{right!r} is a second command after {left!r}"
        if _acts_on(left, right):
            yield f"'{left} {right}' acts"


def _acts_alone(word: str) -> bool:
    return word in ACTING_VERBS or (word.endswith("s") and word[:-1] in ACTING_VERBS)


def _second_command(left: str, right: str) -> bool:
    if left == "then":
        return right not in READING_VERBS
    if left not in CONJUNCTIONS:
        return False
    return right in NOUN_OR_VERB or (right in COMMANDS and left != "to")


def _acts_on(left: str, right: str) -> bool:
    if right in ACTING_READS.get(left, ()):
        return True
    if any(right in NOUN_OR_VERB.get(verb, ()) for verb in (left, left.removesuffix("s"))):
        return True
    if right in PRONOUNS and (left in NOUN_OR_VERB or left in COMMANDS):
        return True
    return right in TRAILING_VERBS and left in NOUN_OR_VERB[right]


def _secret(words: Sequence[str]) -> str:
    if words and words[-1] in SECRETS:
        return words[-1]
    if tuple(words[-2:]) in SECRET_PAIRS:
        return " ".join(words[-2:])
    return ""
