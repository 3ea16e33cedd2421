"""What a drawing process is asked, and how: a line of JSON each way, with bytes behind it.

The process reads hostile files, so what comes from it is checked.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import IO, Any, Final, Literal

from eagle_rag_core.types import WHOLE, Box

#: Lengths of header and payload.
_LENGTHS: Final = struct.Struct(">II")
_MAX_HEADER: Final = 8_000_000
_MAX_PAYLOAD: Final = 2**32 - 1

Failure = Literal["no_page", "damaged"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing to be done with an original.

    :param content_hash: of the original, which the process keeps until it is asked of another.
    :param words: the words of the page and their places are wanted, else a picture of it.
    :param part: name of a picture inside the original.
    :param width: of the page in pixels.
    :param marks: places to be marked on it.
    """

    content_hash: str
    media_type: str
    page: int
    words: bool = False
    part: str = ""
    width: int = 0
    box: str = str(WHOLE)
    marks: tuple[str, ...] = ()
    format: Literal["png", "jpeg"] = "png"


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of it.

    :param failure: why there is nothing, "" when there is.
    :param pages: how many the original has, where the one asked for does not exist.
    :param words: text, place and turns of each.
    :param image: the picture as a file.
    """

    failure: Failure | Literal[""] = ""
    pages: int = 0
    words: Sequence[tuple[str, Box, int]] = ()
    image: bytes = b""


def send_ask(stream: IO[bytes], ask: Ask, original: bytes | None) -> None:
    """Ask, with the original if the process does not have it."""
    header = {**asdict(ask), "has_original": original is not None}
    _write(stream, header, original or b"")


def read_ask(stream: IO[bytes]) -> tuple[Ask, bytes | None] | None:
    """The next question and the original that came with it; None at the end."""
    frame = _read(stream)
    if frame is None:
        return None
    header, payload = frame
    has_original = header.pop("has_original")
    header["marks"] = tuple(header["marks"])
    return Ask(**header), payload if has_original else None


def send_answer(stream: IO[bytes], answer: Answer) -> None:
    header = {
        "failure": answer.failure,
        "pages": answer.pages,
        "words": [[text, str(box), turns] for text, box, turns in answer.words],
    }
    _write(stream, header, answer.image)


def read_answer(stream: IO[bytes]) -> Answer | None:
    """The answer; None when the process ended, or said what is none."""
    try:
        frame = _read(stream)
        if frame is None:
            return None
        header, payload = frame
        failure, pages = header["failure"], header["pages"]
        if failure not in ("", "no_page", "damaged") or not isinstance(pages, int):
            return None
        words = tuple(
            (str(text), Box.parse(box), int(turns)) for text, box, turns in header["words"]
        )
        return Answer(failure, pages, words, payload)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _write(stream: IO[bytes], header: Mapping[str, Any], payload: bytes) -> None:
    line = json.dumps(header).encode()
    stream.write(_LENGTHS.pack(len(line), len(payload)))
    stream.write(line)
    stream.write(payload)
    stream.flush()


def _read(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    header_length, payload_length = _LENGTHS.unpack(lengths)
    if header_length > _MAX_HEADER or payload_length > _MAX_PAYLOAD:
        raise ValueError("no message of a drawing process")
    header = stream.read(header_length)
    payload = stream.read(payload_length)
    if len(header) < header_length or len(payload) < payload_length:
        return None
    found = json.loads(header)
    return (found, payload) if isinstance(found, dict) else None
