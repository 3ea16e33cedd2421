"""The one normalisation every parser applies before it counts offsets.

It removes what no reader can see and leaves the rest alone: quotations taken from a document must
read as they do in the source, so there is no Unicode normalisation (NFC, NFKC) here.
"""

from __future__ import annotations

import re

_LINE_ENDS = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
# C0 and C1 controls but tab and newline, the soft hyphen (it would split a word for every
# search), byte-order marks left inside the text, and tag characters: models read the letters that
# these spell, and people see nothing.
_INVISIBLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\ufeff\U000e0000-\U000e007f]")
_NOT_CHARACTERS = re.compile("[\ud800-\udfff\ufffe\uffff]")
# The look-behind lets a run of blanks be tried once only; without it a document of nothing but
# blanks costs quadratic time.
_TRAILING_BLANKS = re.compile("(?<![ \t])[ \t]+(?=\n|\\Z)")
_BLANK_LINES = re.compile("\n{4,}")


def normalise(text: str, *, keep_lines: bool = False) -> str:
    """Return ``text`` as the index keeps it.

    Line ends become ``\\n``, control characters go, lone surrogates and non-characters become
    U+FFFD, blanks at line ends go, and more than two blank lines become two. Applying it twice
    changes nothing. Linear in the length of the text.

    :param keep_lines: all blank lines stay, so that line numbers are those of the source.
    """
    text = _LINE_ENDS.sub("\n", text)
    text = _INVISIBLE.sub("", text)
    text = _NOT_CHARACTERS.sub("\ufffd", text)
    text = _TRAILING_BLANKS.sub("", text)
    return text if keep_lines else _BLANK_LINES.sub("\n\n\n", text)


def one_line(text: str) -> str:
    """Normalised text with every run of white space as one space: titles, table cells."""
    if not text.isprintable():  # printable characters have nothing to normalise
        text = normalise(text)
    return " ".join(text.split())


def has_words(text: str) -> bool:
    """Whether the text holds at least one letter or digit."""
    return any(character.isalnum() for character in text)
