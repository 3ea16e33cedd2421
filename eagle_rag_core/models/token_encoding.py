"""Terms as text that every tokenizer keeps whole, and back.

Milvus tokenizes the text of a BM25 field itself, and its tokenizers disagree: one splits at
``_``, another at ``.`` and ``-``, a third lower-cases. All of them keep runs of ``[a-z0-9]``. So
such terms stay as they are, and every other term becomes ``zz`` followed by the hexadecimal
digits of its UTF-8 bytes. Terms that contain ``zz`` are encoded too, which makes the prefix
unmistakable.

A Chinese term costs 2 + 6 bytes per character; a VARCHAR field holds 65,535 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_PLAIN = re.compile(r"(?!.*zz)[a-z0-9]+")
_PREFIX = "zz"


def encode(terms: Iterable[str]) -> str:
    """Terms joined by spaces, for a full-text field or a query on one."""
    return " ".join(map(_encode_term, terms))


def decode(field: str) -> list[str]:
    """The terms of an encoded field.

    :raises ValueError: the text was not written by :func:`encode`.
    """
    return [_decode_term(word) for word in field.split()]


def _encode_term(term: str) -> str:
    if _PLAIN.fullmatch(term):
        return term
    # surrogatepass: the encoding is total, whatever a caller takes for a term.
    return _PREFIX + term.encode("utf-8", "surrogatepass").hex()


def _decode_term(word: str) -> str:
    if not word.startswith(_PREFIX):
        return word
    return bytes.fromhex(word.removeprefix(_PREFIX)).decode("utf-8", "surrogatepass")
