"""Texts as a sequence model sees them: sentences of tokens, and what is told of each token.

The features are the usual ones of named entity recognition (the word, its beginnings and
endings, its shape, its neighbours), and what a dictionary found there, which lets a small model
make use of a large vocabulary.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from eagle_rag_biomed.assertion import SENTENCE_END
from eagle_rag_biomed.tokens import Tokens

#: Changes with the features: a model is of use with those it was trained on only.
FEATURES_VERSION: Final = 1
OUTSIDE: Final = "O"
#: Longer sentences are cut: they are tables, and marking them takes time.
_LONGEST_SENTENCE: Final = 400
_RUNS: Final = re.compile(r"(.)\1+")
_DIGITS: Final = re.compile(r"\d")


class TypedSpan(NamedTuple):
    """Characters ``start``..``end`` of a text, and what they are an instance of."""

    start: int
    end: int
    type: str


def sentences(tokens: Tokens) -> list[range]:
    """The sentences of a text, as numbers of their tokens."""
    starts = [start for start, _ in tokens.spans]
    ends = [bisect_left(starts, m.end()) for m in SENTENCE_END.finditer(tokens.text)]
    found, first = [], 0
    for end in (*ends, len(starts)):
        while first < end:
            last = min(end, first + _LONGEST_SENTENCE)
            found.append(range(first, last))
            first = last
    return found


def labels_of(tokens: Tokens, spans: Iterable[TypedSpan]) -> list[str]:
    """A label for each token: :data:`OUTSIDE`, or a letter and the type of the span it is in.

    The letter is ``U`` for a span of one token, else ``B`` at its first, ``L`` at its last and
    ``I`` at those between. Of spans that overlap the first counts. A span that cuts a token
    takes in all of it.
    """
    labels = [OUTSIDE] * len(tokens.keys)
    ends = [end for _, end in tokens.spans]
    for span in spans:
        begin = number = bisect_left(ends, span.start + 1)
        while (
            number < len(labels)
            and tokens.spans[number][0] < span.end
            and labels[number] == OUTSIDE
        ):
            labels[number] = f"I-{span.type}"
            number += 1
        if number == begin + 1:
            labels[begin] = f"U-{span.type}"
        elif number > begin:
            labels[begin], labels[number - 1] = f"B-{span.type}", f"L-{span.type}"
    return labels


def spans_of(
    tokens: Tokens, first: int, labels: Sequence[str]
) -> Iterator[tuple[TypedSpan, range]]:
    """The spans that labels of the tokens from ``first`` on mark, with the places of each.

    Labels that do not fit together are read as what they most resemble.
    """
    begin, kind = -1, ""
    for place, label in enumerate((*labels, OUTSIDE)):
        if label[0] in "IL" and label[2:] == kind:
            continue
        if kind:
            start, end = tokens.spans[first + begin][0], tokens.spans[first + place - 1][1]
            yield TypedSpan(start, end, kind), range(begin, place)
        begin, kind = place, label[2:]


def features_of(
    tokens: Tokens, dictionaries: Sequence[Sequence[str]], sentence: range
) -> list[list[str]]:
    """What is told of each token of a sentence.

    :param dictionaries: labels of all of the text's tokens, by each of several dictionaries.
    """
    text, spans, keys = tokens.text, tokens.spans, tokens.keys
    own: list[tuple[str, ...]] = []
    gaps: list[str] = []
    for number in sentence:
        start, end = spans[number]
        own.append(_word_features(keys[number], text[start:end]))
        gaps.append(_gap(text, spans[number - 1][1] if number else 0, start))
    gaps.append("")
    last = len(own) - 1
    found = []
    for place, number in enumerate(sentence):
        word, shape, ending, *parts = own[place]
        features = [word, shape, ending, *parts, "g" + gaps[place] + gaps[place + 1]]
        for name, labels in enumerate(dictionaries):
            label = labels[number]
            if label != OUTSIDE:
                features.append(f"d{name}{label}")
            before = labels[number - 1] if place else OUTSIDE
            after = labels[number + 1] if place < last else OUTSIDE
            if before != OUTSIDE or after != OUTSIDE or label != OUTSIDE:
                features.append(f"D{name}{before}|{label}|{after}")
                features.append(f"E{name}{label}|{word}")
        if place:
            before_word, before_shape, before_ending, *_ = own[place - 1]
            features += (
                "-" + before_word,
                "-" + before_shape + shape,
                "-" + before_ending,
                "-" + before_word + gaps[place] + word,
            )
            if place > 1:
                features += ("--" + own[place - 2][0], "--" + own[place - 2][0] + before_word)
        else:
            features.append("first")
        if place < last:
            after_word, after_shape, after_ending, *_ = own[place + 1]
            features += (
                "+" + after_word,
                "+" + shape + after_shape,
                "+" + after_ending,
                "+" + word + gaps[place + 1] + after_word,
            )
            if place < last - 1:
                features += ("++" + own[place + 2][0], "++" + after_word + own[place + 2][0])
        else:
            features.append("last")
        found.append(features)
    return found


@lru_cache(maxsize=100_000)
def _word_features(key: str, surface: str) -> tuple[str, ...]:
    """The word, its shape, its ending; then its other beginnings and endings."""
    shape = "".join(
        "X" if c.isupper() else "x" if c.islower() else "0" if c.isdigit() else c for c in surface
    )
    short = _RUNS.sub(r"\1", shape)
    features = [
        "w" + _DIGITS.sub("0", key),
        "s" + short,
        "e" + key[-3:],
        "S" + (shape if len(shape) < 7 else short + "+"),
        *(f"p{size}{key[:size]}" for size in (2, 3, 4, 5) if len(key) > size),
        *(f"q{size}{key[-size:]}" for size in (2, 4, 5) if len(key) > size),
    ]
    return tuple(features)


def _gap(text: str, before: int, start: int) -> str:
    """What stands between two tokens: nothing, a hyphen, or space."""
    if before == start:
        return "."
    return "-" if start == before + 1 and not text[before].isspace() else "_"
