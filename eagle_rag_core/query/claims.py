"""The sentences of a model's answer, as they arrive, and the passages they cite."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final

from eagle_rag_core.query.sentences import split

#: ``[1]``, ``[1, 2]``.
_CITATION: Final = re.compile(r"\[\d+(?:\s*[,;]\s*\d+)*\]")
#: Citations behind the full stop, of the same paragraph: they belong to the sentence before it.
_BEHIND: Final = re.compile(rf"([.!?…。！？]+)((?:[^\S\n]*\n?[^\S\n]*{_CITATION.pattern})+)[.。]?")
#: What may yet become the end of the sentence before it, and a citation of it.
_OPEN_END: Final = re.compile(r"[.!?…。！？]*\s*(?:\[[\d\s,;\]\[]*)?$")


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence.

    :param before: the white space that separates it from the previous one.
    :param text: the sentence without its citations.
    :param cited: numbers of the passages it cites, in order, each once.
    """

    before: str
    text: str
    cited: tuple[int, ...]


def claims_in(pieces: Iterable[str]) -> Iterator[Claim]:
    """The claims of a text that arrives in pieces, each as soon as it is complete."""
    # How a sentence is read depends on the lines before it, back to a blank one.
    paragraph, said = "", 0
    # With something behind it that is no part of it, the last sentence is complete as well.
    for piece in chain(pieces, ["\n\n."]):
        paragraph += piece
        text = _BEHIND.sub(_in_front, paragraph)
        ends = _ends(text, said)
        for start, end in pairwise([said, *ends]):
            if (claim := _claim(text[start:end])).text:
                yield claim
        said = ends[-1] if ends else said
        begun = paragraph.rfind("\n\n", 0, said) + 2
        if begun > 1:
            paragraph, said = paragraph[begun:], said - begun


def _ends(text: str, said: int) -> list[int]:
    """Where the complete sentences behind ``said`` end.

    The last sentence may go on, and the one before it may get citations yet.
    """
    ends = [end for _, end in split(text) if end > said]
    while ends and _OPEN_END.fullmatch(text, ends[-1]):
        ends.pop()
    return ends


def _in_front(behind: re.Match[str]) -> str:
    """The citations in front of the stop, in as many characters."""
    return f"{behind[2]}{behind[1]}".ljust(len(behind[0]))


def _claim(raw: str) -> Claim:
    text = raw.lstrip()
    numbers = [
        int(number)
        for citation in _CITATION.findall(text)
        for number in re.findall(r"\d{1,6}", citation)
    ]
    bare = re.sub(r"\s+(?=[.,;:!?])", "", re.sub(rf"\s*{_CITATION.pattern}", _gap, text)).strip()
    return Claim(raw[: len(raw) - len(text)], bare, tuple(dict.fromkeys(numbers)))


def _gap(citation: re.Match[str]) -> str:
    """What stays of a citation: a space where it stands between words of its own language."""
    text, at = citation.string, citation.end()
    return " " if at < len(text) and text[at].isascii() and text[at].isalnum() else ""
