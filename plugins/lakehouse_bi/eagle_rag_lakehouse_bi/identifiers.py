"""Words of identifiers and questions, made comparable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

_RUN: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|[^\W\d_]+|\d+")

#: What schemas shorten, spelled out.
_ABBREVIATIONS: Final = {
    "acct": "account",
    "addr": "address",
    "amt": "amount",
    "avg": "average",
    "bal": "balance",
    "cnt": "count",
    "cust": "customer",
    "dept": "department",
    "desc": "description",
    "dim": "dimension",
    "disc": "discount",
    "dt": "date",
    "emp": "employee",
    "mfr": "manufacturer",
    "mgr": "manager",
    "num": "number",
    "ord": "order",
    "org": "organization",
    "pct": "percent",
    "phn": "phone",
    "prod": "product",
    "promo": "promotion",
    "qty": "quantity",
    "rev": "revenue",
    "sk": "key",
    "supp": "supplier",
    "txn": "transaction",
    "usr": "user",
    "yr": "year",
}
#: Endings glued to the word before them, as in ``orderkey`` and ``shipdate``.
_GLUED: Final = ("key", "date", "name", "code", "price", "cost", "type", "status", "priority", "id")
#: What stands before a glued ending has at least so many letters, unless it is an abbreviation.
_SHORTEST_HEAD: Final = 4
#: Words that merely end like a glued name.
_WHOLE: Final = frozenset(
    "android candidate consolidate hybrid intimidate invalid invalidate liquid liquidate mandate"
    " prepaid prototype unpaid validate".split()
)

_PLURALS: Final = (
    ("ies", "y"),
    ("ied", "y"),
    ("oes", "o"),
    ("sses", "ss"),
    ("xes", "x"),
    ("ches", "ch"),
)
_STOP_WORDS: Final = frozenset(
    "a an the of in on at by for from to with and or not is are was were be been do does did has"
    " have had all any each every per which what who whose how many much when where why that this"
    " these those it its their there than then as if so we us our i me my you your can could"
    " should would will show list give find tell get return display only most least more less top"
    " best highest lowest greater higher lower between over under during last first next before"
    " after whether one ones other others".split()
)


def identifier_words(identifier: str) -> list[str]:
    """The words of an identifier: split, spelled out and stemmed, each once.

    >>> identifier_words("o_custkey")
    ['o', 'customer', 'key']
    """
    return list(dict.fromkeys(word for run in runs(identifier) for word in words_of(run)))


def readable(identifier: str) -> str:
    """An identifier as plain words, for the search index.

    >>> readable("custAddr")
    'customer address'
    """
    words = (part for run in runs(identifier) for part in _unglued(run))
    return " ".join(_ABBREVIATIONS.get(w, w) for w in words)


def question_words(question: str) -> list[str]:
    """The words of a question that may name something, stemmed, each once."""
    return list(dict.fromkeys(word for run in content_runs(question) for word in words_of(run)))


def text_words(texts: Iterable[str]) -> set[str]:
    """The stemmed words of descriptions and names."""
    return {stem(w) for text in texts for w in runs(text)}


def content_runs(text: str) -> Iterator[str]:
    """The words of a question as they stand, without those that name nothing."""
    return (run for run in runs(text) if run not in _STOP_WORDS)


def runs(text: str) -> Iterator[str]:
    """The words of a text or identifier as they stand, in lower case."""
    return (run.lower() for run in _RUN.findall(text))


@lru_cache(maxsize=50_000)
def words_of(run: str) -> tuple[str, ...]:
    """The words glued together in one, spelled out and stemmed."""
    return tuple(stem(_ABBREVIATIONS.get(w, w)) for w in _unglued(run))


def stem(word: str) -> str:
    """A light English stem: plural, -ing and -ed endings off.

    It serves names of tables and columns, which are nouns; passages of text are searched by the
    core's own analyzer.
    """
    for ending, instead in _PLURALS:
        if word.endswith(ending) and len(word) >= len(ending) + 2:
            return word[: -len(ending)] + instead
    if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            return word[:-1] if word[-1] == word[-2] and word[-1] not in "ls" else word
    return word


def _unglued(word: str) -> Iterator[str]:
    """A word, or what stands before its glued ending and that ending."""
    for ending in _GLUED:
        head = word.removesuffix(ending)
        if head != word and word not in _WHOLE and _is_head(head):
            yield from (head, ending)
            return
    yield word


def _is_head(text: str) -> bool:
    return len(text) >= _SHORTEST_HEAD or text in _ABBREVIATIONS
