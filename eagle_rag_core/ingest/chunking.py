"""Cuts a document into chunks: passages that are embedded, indexed and found.

A chunk lies in one section. Blocks (paragraphs, tables, fenced code) are packed up to a target
size; a block that is too large is divided at sentences, then lines, then words, and only then
anywhere. Offsets are exact: ``text[chunk.start:chunk.end] == chunk.text``.

Sizes are characters of English; an ideograph, kana or Hangul syllable counts for 2.5, since it
carries as much meaning and as many tokens. The default keeps nearly all chunks inside the
256 word pieces (about 1,100 characters) small text embedders read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from eagle_rag_core.catalog.ids import node_id
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.ingest.sections import page_at
from eagle_rag_core.models.sentences import sentence_ends
from eagle_rag_core.types.documents import Chunk, PageSpan, Section

#: Part of the pipeline fingerprint: change it when the output changes.
CHUNKER_VERSION = "1"
#: What formats put around a heading's own words.
_HEADING_MARKS = "#=-* \t\n"

_DENSE = re.compile(
    "[\u1100-\u11ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)
_DENSE_EXTRA = 1.5
_FENCES = ("```", "~~~")
_SPACE = re.compile(r"\s+")
_LINE_END = re.compile("\n")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,4}[.)])[ \t]")

_Span = tuple[int, int]
_Splitter = Callable[[str, int, int], list[_Span]]


class _Piece(NamedTuple):
    """A stretch of text that goes into one chunk.

    :param splitters: ways of dividing it, best first; each is tried once.
    :param whole: divided only when it is too large for a chunk.
    """

    start: int
    end: int
    weight: float
    splitters: tuple[_Splitter, ...]
    whole: bool = False


def _only_introduces(text: str, section: Section) -> bool:
    """Whether the section's own text is its heading and subsections follow."""
    own = text[section.start : section.body_end].strip(_HEADING_MARKS)
    return bool(own) and own == section.title and section.body_end < section.end


@dataclass(frozen=True, slots=True)
class Chunker:
    """Cuts texts into chunks of about ``target_chars``, never above ``max_chars``.

    :param overlap: characters of the chunk before that a chunk repeats, from a word on; they
        come on top of the other two.
    :raises ConfigError: the sizes contradict each other.
    """

    target_chars: int = 1_200
    max_chars: int = 1_600
    overlap: int = 0

    def __post_init__(self) -> None:
        if not 50 <= self.target_chars <= self.max_chars:
            raise ConfigError("Chunk sizes must satisfy 50 <= target_chars <= max_chars.")
        if not 0 <= self.overlap <= self.target_chars // 2:
            raise ConfigError("The chunk overlap must lie between 0 and half of target_chars.")

    def fingerprint(self) -> str:
        """Names the algorithm and its sizes; part of the pipeline fingerprint."""
        return f"chunker={CHUNKER_VERSION}:{self.target_chars}:{self.max_chars}:{self.overlap}"

    def chunk(
        self,
        text: str,
        sections: Sequence[Section],
        pages: Sequence[PageSpan],
        version_id: str,
    ) -> tuple[Chunk, ...]:
        """Cut a document, section by section. Linear in the length of the text.

        Every character but white space lies in at least one chunk, save for headings that only
        introduce subsections: those carry them in their path, and a passage of a heading alone
        would rank high and say nothing. The chunks of a section begin with its heading.
        """
        chunks: list[Chunk] = []
        for section in sections:
            if _only_introduces(text, section):
                continue
            for start, end in self._spans(text, section.start, section.body_end):
                ordinal = len(chunks)
                chunks.append(
                    Chunk(
                        node_id=node_id(version_id, ordinal),
                        ordinal=ordinal,
                        section=section.ordinal,
                        start=start,
                        end=end,
                        text=text[start:end],
                        path=section.path,
                        level=section.level,
                        page=page_at(pages, start),
                    )
                )
        return tuple(chunks)

    def _spans(self, text: str, start: int, end: int) -> Iterator[_Span]:
        """The chunks of one section's own text."""
        previous = -1
        for chunk_start, chunk_end in self._pack(text, self._pieces(text, start, end)):
            yield self._widened(text, previous, chunk_start), chunk_end
            previous = chunk_start

    def _widened(self, text: str, previous: int, start: int) -> int:
        """Move a chunk's start back by the overlap, to a word after the previous start."""
        if previous < 0 or not self.overlap:
            return start
        earliest = max(start - self.overlap, previous + 1)
        if _DENSE.match(text, earliest, start):
            return earliest
        space = _SPACE.search(text, earliest, start)
        return space.end() if space else start

    def _pieces(self, text: str, start: int, end: int) -> list[_Piece]:
        """The blocks of a section with the ways of dividing them."""
        pieces = []
        for kind, block_start, block_end in _blocks(text, start, end):
            if kind == "text" and _LIST_ITEM.match(text, block_start, block_end):
                kind = "list"
            splitters = {
                "text": (_sentences, _lines, self._slices),
                "list": (_lines, _sentences, self._slices),
                "whole": (_lines, self._slices),
            }[kind]
            weight = text_weight(text, block_start, block_end)
            pieces.append(_Piece(block_start, block_end, weight, splitters, kind == "whole"))
        return pieces

    def _pack(self, text: str, pieces: list[_Piece]) -> Iterator[_Span]:
        """Join neighbouring pieces into spans of about equal weight.

        Equal, because a last chunk of a sentence or two finds nothing and is found by chance.
        """
        remaining = total = sum(piece.weight for piece in pieces)
        aim = total if total <= self.max_chars else total / ceil(total / self.target_chars)
        pieces.reverse()  # a stack: the parts of a divided piece go back on top
        start, end, weight = 0, 0, 0.0
        while pieces:
            piece = pieces.pop()
            joined = weight + piece.weight + (piece.start - end if weight else 0)
            if joined <= self.max_chars and (
                not weight
                or joined - aim < aim - weight
                or (remaining < aim / 2 and weight + remaining <= self.max_chars)
            ):
                start, end, weight = (start if weight else piece.start), piece.end, joined
                remaining -= piece.weight
            elif piece.splitters and (
                piece.weight > self.max_chars or (weight < aim / 4 and not piece.whole)
            ):
                parts = _divide(text, piece)
                remaining += sum(part.weight for part in parts) - piece.weight
                pieces.extend(reversed(parts))
            else:
                yield start, end
                weight = 0.0
                pieces.append(piece)
        if weight:
            yield start, end

    def _slices(self, text: str, start: int, end: int) -> list[_Span]:
        """Cut at white space; a word too long for a chunk is cut where it must be."""
        spans = []
        while start < end:
            stop = _reach(text, start, end, self.target_chars / 4)
            if stop < end:
                stop = self._boundary(text, start, stop, end)
            spans.append((start, stop))
            start = stop
        return spans

    def _boundary(self, text: str, start: int, stop: int, end: int) -> int:
        """The last word end up to ``stop``, or the first one after it that fits a chunk."""
        if _DENSE.match(text, stop, stop + 1):
            return stop
        for position in range(stop, start, -1):
            if text[position].isspace():
                return position
        limit = _reach(text, start, end, self.max_chars)
        space = _SPACE.search(text, stop, limit)
        if space or limit == end:
            return space.start() if space else end
        # Combining marks and joiners stay with the character before them.
        while limit > start + 1 and (text[limit] == "\u200d" or unicodedata.combining(text[limit])):
            limit -= 1
        return limit


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Paragraphs (``text``), Markdown tables and closed fenced code (``whole``), in order."""
    kind, block_start, block_end = "", start, start
    position = start
    unclosed: set[str] = set()
    while position < end:
        line_end = text.find("\n", position, end)
        line_end = end if line_end < 0 else line_end
        line = text[position:line_end].strip()
        line_kind = "" if not line else "table" if line.startswith("|") else "text"
        fence = text[position : position + 3]
        if fence in _FENCES and fence not in unclosed:
            closing = text.find(f"\n{fence}", line_end, end)
            if closing < 0:
                unclosed.add(fence)
            else:
                line_kind = "fence"
                line_end = text.find("\n", closing + 1, end)
                line_end = end if line_end < 0 else line_end
        if kind and (line_kind != kind or line_kind == "fence"):
            yield ("text" if kind == "text" else "whole"), *_trim(text, block_start, block_end)
            kind = ""
        if line_kind and not kind:
            kind, block_start = line_kind, position
        block_end = line_end
        position = line_end + 1
    if kind:
        yield ("text" if kind == "text" else "whole"), *_trim(text, block_start, block_end)


def _divide(text: str, piece: _Piece) -> list[_Piece]:
    splitter, *others = piece.splitters
    spans = (_trim(text, *span) for span in splitter(text, piece.start, piece.end))
    return [
        _Piece(start, end, text_weight(text, start, end), tuple(others))
        for start, end in spans
        if start < end
    ]


def _sentences(text: str, start: int, end: int) -> list[_Span]:
    ends = sentence_ends(text, start, end)
    return list(zip([start, *ends], ends, strict=False))


def _lines(text: str, start: int, end: int) -> list[_Span]:
    ends = [match.end() for match in _LINE_END.finditer(text, start, end)] + [end]
    return list(zip([start, *ends], ends, strict=False))


def _trim(text: str, start: int, end: int) -> _Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def text_weight(text: str, start: int, end: int) -> float:
    """Size of a stretch in characters of English."""
    stretch = text[start:end]
    if stretch.isascii():
        return float(end - start)
    dense = len(stretch) - len(_DENSE.sub("", stretch))
    return len(stretch) + _DENSE_EXTRA * dense


def _reach(text: str, start: int, end: int, limit: float) -> int:
    """A position up to which the text from ``start`` on weighs at most ``limit``."""
    stop = min(end, start + max(1, int(limit)))
    while (weight := text_weight(text, start, stop)) > limit and stop > start + 1:
        stop = start + max(1, int((stop - start) * limit / weight))
    return stop
