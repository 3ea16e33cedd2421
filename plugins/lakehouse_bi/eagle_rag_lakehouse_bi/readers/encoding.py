"""Text of files that rarely state their encoding."""

from __future__ import annotations

import codecs


def decoded(data: bytes) -> str:
    """The text of a script, whose encoding is rarely stated; NULs and CRs go."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return _clean(data.decode(encoding, errors="replace"))
    try:
        # The head of a file may end inside a character.
        return _clean(codecs.getincrementaldecoder("utf-8")().decode(data))
    except UnicodeDecodeError:
        return _clean(data.decode("cp1252", errors="replace"))


def _clean(text: str) -> str:
    return text.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")
