"""Bytes to text: which encoding a source is in, and whether it is text at all."""

from __future__ import annotations

import codecs
import re

#: Longest first: the UTF-32 mark begins with the UTF-16 one.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 1 << 16
#: Encodings worth telling apart; an open search mistakes short Latin texts for UTF-16.
_CANDIDATES = [
    *("gb18030", "big5", "cp932", "euc_jp", "cp949", "cp1251", "koi8_r"),
    *("cp1252", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256"),
]
_CONTROLS = re.compile("[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_CONTROL_BYTES = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")
#: A share of control characters above this is no text, whatever decodes it.
_MAX_CONTROLS = 0.01


def decode(data: bytes, declared: str = "") -> str | None:
    """Decode a text of unknown encoding; ``None`` when the bytes are no text.

    Order: byte-order mark, UTF-16 without one, UTF-8 (which hardly fits anything else by chance),
    the encoding the source declares, the statistical guess of charset-normalizer, Windows-1252.

    :param declared: an encoding the source names itself; ignored when it does not fit.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _text_or_none(data[len(mark) :].decode(encoding, errors="replace"))
    if encoding := _utf16_without_mark(data):
        return _text_or_none(data.decode(encoding, errors="replace"))
    if looks_binary(data[:_SAMPLE]):
        return None
    for encoding in ("utf-8", declared):
        if encoding and (text := _try(data, encoding)) is not None:
            return _text_or_none(text)
    return _text_or_none(data.decode(_guess(data), errors="replace"))


def looks_binary(head: bytes) -> bool:
    """Whether the first bytes of a source cannot be text in any supported encoding."""
    if any(head.startswith(mark) for mark, _ in _BYTE_ORDER_MARKS) or _utf16_without_mark(head):
        return False
    return len(_CONTROL_BYTES.findall(head)) > max(2, len(head) * _MAX_CONTROLS)


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _utf16_without_mark(data: bytes) -> str:
    """The byte order when every second byte of the sample is mostly NUL, as in Latin UTF-16."""
    sample = data[: _SAMPLE & ~1]
    pairs = len(sample) // 2
    if pairs < 2:
        return ""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > 0.6 * pairs and even < 0.05 * pairs:
        return "utf-16-le"
    if even > 0.6 * pairs and odd < 0.05 * pairs:
        return "utf-16-be"
    return ""


def _guess(data: bytes) -> str:
    from charset_normalizer import from_bytes

    sample = data[:_SAMPLE]
    # A sample cut inside a character, or a few damaged bytes, is still UTF-8.
    damaged = sample.decode("utf-8", errors="replace").count("\ufffd")
    if damaged * 50 < sum(byte > 0x7F for byte in sample):
        return "utf-8"
    matches = list(from_bytes(sample, cp_isolation=_CANDIDATES))
    if not matches:
        return "cp1252"
    best = matches[0]
    # The two Latin pages share most letters and often tie; Western text is far more common.
    western = any(
        "cp1252" in match.could_be_from_charset for match in matches if match.chaos <= best.chaos
    )
    return "cp1252" if best.encoding == "cp1250" and western else best.encoding


def _text_or_none(text: str) -> str | None:
    sample = text[:_SAMPLE]
    controls = len(_CONTROLS.findall(sample))
    return None if controls > max(2, len(sample) * _MAX_CONTROLS) else text
