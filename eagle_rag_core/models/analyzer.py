"""The lexical analyzer: text to index terms, the same for documents and queries.

* NFKC and case folding; format characters (soft hyphen, joiners, direction marks) vanish,
  control characters and lone surrogates separate.
* Latin words: English stop words out, the rest stemmed (Snowball ``english``).
* Identifiers are kept whole *and* split, so that ``getUserName``, ``foo_bar``, ``IL-6`` or
  ``v2.3.1`` are found by their whole name and by their parts. A hyphen compound stays whole
  only when it contains a digit, ``_`` or ``.``: whole ``wind-tunnel`` beside its parts lowers
  retrieval quality.
* Scripts written without spaces (Han, kana, Hangul, Thai, Lao, Khmer, Burmese) become
  character unigrams and bigrams, which beat word segmentation for retrieval and need no
  dictionary. Hangul has spaces, but its particles are glued to the noun.
* Words of every other script are folded only.

Terms are of bounded length, never empty and free of white space.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from eagle_rag_core.models.scripts import scripts_of

if TYPE_CHECKING:
    import Stemmer

__all__ = ["ANALYZER_VERSION", "analyze", "scripts_of"]

#: Part of the pipeline fingerprint: change it whenever any text yields other terms.
ANALYZER_VERSION = "1"

#: English function words. Question words are among them: they say nothing about the answer. "us"
#: is not: in capitals it is a country.
STOP_WORDS = frozenset(
    # articles, demonstratives, quantifiers
    "a an the this that these those some any each both such own same other few more most all"
    # conjunctions and negation
    " and or but nor not no if because while although though than so as"
    # prepositions and adverbs
    " of in on at by for from to with without into onto about above below under over between"
    " among through during before after against until up down out off again further then once"
    " here there too very only just also"
    # pronouns
    " i me my mine we our ours you your yours he him his she her hers it its they them their"
    " theirs myself ourselves yourself himself herself itself themselves"
    # question words
    " what which who whom whose when where why how"
    # auxiliary verbs and the stems of their contractions
    " am is are was were be been being do does did doing done have has had having can could"
    " may might must shall should will would cannot"
    " aren couldn didn doesn hadn hasn haven isn shouldn wasn weren wouldn".split()
)

# Runs are cut at these lengths so that a base64 blob or a dotted leader cannot become one
# endless term; the remainder starts a new term and nothing is lost.
_MAX_PIECE = 64
_MAX_PIECES = 8
#: Identifiers with more alternations than this are hashes; their fragments mean nothing.
_MAX_RUNS = 8

#: Scripts indexed by character n-grams: Thai, Lao, Burmese, Hangul, Khmer, kana, Han.
_NGRAM_SCRIPTS = (
    "\u0e01-\u0eff\u1000-\u1049\u1050-\u109f\u1100-\u11ff\u1780-\u17d3\u3005-\u3007"
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_JOINT = "(?:_+|[-.])"
#: Dropped after a word: "company's", "we've".
_CONTRACTION = r"(?:'(?i:s|t|d|m|ll|re|ve)\b)?"

_PIECES = re.compile(r"[-._]+")
_RUNS = re.compile(r"\d+|[A-Z]+(?![^A-Z\d])|[A-Z]?[^A-Z\d]+")
_ACRONYM_PLURAL = re.compile(r"[A-Z]{2,}s")
_MAKES_IDENTIFIER = re.compile(r"[\d_.]")

#: Invisible characters inside words vanish; typographic hyphens and apostrophes become plain.
_TYPOGRAPHY = {
    **dict.fromkeys([0x00AD, 0x034F, 0x061C, 0x180E, 0xFEFF, *range(0x200C, 0x2010)]),
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2060, 0x2070)]),
    0x2010: "-",
    0x2019: "'",
}

_local = threading.local()


def analyze(text: str) -> list[str]:
    """The index terms of ``text`` in reading order, repeated as often as they occur.

    Safe to call from any thread and for any string, lone surrogates included.
    """
    if text.isascii():
        return [term for word in _ascii_words().findall(text) for term in _word_terms(word)]
    text = unicodedata.normalize("NFKC", text).translate(_TYPOGRAPHY)
    terms: list[str] = []
    for run, word in _unicode_words().findall(text):
        terms.extend(_ngram_terms(run) if run else _word_terms(word))
    return terms


def _ngram_terms(run: str) -> list[str]:
    """Unigrams and bigrams of a run written without spaces."""
    units = _clusters().findall(run)
    return units + [first + second for first, second in pairwise(units)]


@lru_cache(maxsize=1 << 15)
def _word_terms(word: str) -> tuple[str, ...]:
    """The distinct terms of one word or compound, in its original spelling."""
    pieces = _PIECES.split(word)
    forms = [word] if len(pieces) == 1 or _MAKES_IDENTIFIER.search(word) else []
    for piece in pieces:
        forms.append(piece)
        forms.extend(_runs(piece))
    return tuple(dict.fromkeys(filter(None, map(_term, forms))))


def _runs(piece: str) -> list[str]:
    """Parts of a piece between changes of case and between letters and digits."""
    if _ACRONYM_PLURAL.fullmatch(piece):
        return [piece[:-1]]
    runs = _RUNS.findall(piece)
    return runs if 1 < len(runs) <= _MAX_RUNS else []


def _term(form: str) -> str:
    """Fold one form, and stem it if it is a word in Latin letters; "" for a stop word."""
    folded = form.casefold()
    if not folded.isascii():
        folded = unicodedata.normalize("NFKC", folded)
    if folded in STOP_WORDS:
        return ""
    if folded.isalpha() and scripts_of(folded) == {"latin"}:
        return str(_stemmer().stemWord(folded))
    return folded


def _stemmer() -> Stemmer.Stemmer:
    """This thread's stemmer: the C object keeps state during a call."""
    if not hasattr(_local, "stemmer"):
        import Stemmer

        # Its own cache is off: `_word_terms` already remembers every word.
        _local.stemmer = Stemmer.Stemmer("english", 0)
    return _local.stemmer


def _compound(piece: str) -> str:
    return f"{piece}(?:{_JOINT}{piece}){{0,{_MAX_PIECES - 1}}}"


@cache
def _ascii_words() -> re.Pattern[str]:
    return re.compile(f"({_compound(f'[A-Za-z0-9]{{1,{_MAX_PIECE}}}')}){_CONTRACTION}")


@cache
def _unicode_words() -> re.Pattern[str]:
    """Two groups: a run of n-gram scripts, or a word.

    Built on first need, because the combining marks, which ``\\w`` leaves out and without which
    Devanagari or Hebrew words fall apart, take some milliseconds to collect.
    """
    letter, marks = rf"[^\W_{_NGRAM_SCRIPTS}]", _combining_marks()
    piece = f"{letter}{{1,{_MAX_PIECE}}}(?:[{marks}]{{1,8}}{letter}{{0,{_MAX_PIECE}}}){{0,32}}"
    run = f"[{_NGRAM_SCRIPTS}][{_NGRAM_SCRIPTS}{marks}]*"
    return re.compile(f"({run})|({_compound(piece)}){_CONTRACTION}")


@cache
def _clusters() -> re.Pattern[str]:
    """A base character with the combining marks that follow it."""
    return re.compile(f".[{_combining_marks()}]*")


@cache
def _combining_marks() -> str:
    """All combining marks (category M) as the ranges of a character class."""
    last_block = 0x1E94A  # Adlam; after it only variation selectors
    marks = [c for c in range(0x300, last_block + 1) if unicodedata.category(chr(c))[0] == "M"]
    starts = [c for c, before in zip(marks, [0, *marks], strict=False) if c != before + 1]
    ends = [c for c, after in zip(marks, [*marks[1:], 0], strict=True) if c + 1 != after]
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(starts, ends, strict=True))
