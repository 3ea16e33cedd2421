"""Builds the section tree of a document from its headings."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from eagle_rag_core.errors import IngestError
from eagle_rag_core.models.sentences import sentence_ends
from eagle_rag_core.types.documents import PageSpan, ParsedDocument, Section

_SUMMARY_CHARS = 200
#: How far into a section its summary is looked for.
_SUMMARY_WITHIN = 4_000
#: What may stand before a heading's text on its line: white space and Markdown marks.
_BEFORE_TITLE = re.compile(r"[ \t#>]*")
_MAX_BEFORE_TITLE = 64
_UNDERLINE = re.compile(r"[=\-~*_\s]*")
#: Beginnings of paragraphs that say little when read alone: tables, code, images, markup.
_NOT_PROSE = ("|", "```", "~~~", "![", "[![", "<", "$$")


def build_sections(parsed: ParsedDocument) -> tuple[Section, ...]:
    """The sections of a document in reading order; the first is the document itself.

    A section belongs to the nearest section before it with a smaller level, so skipped levels
    are tolerated. The summary of a section without text of its own is that of its first
    subsection.

    :raises IngestError: the headings are not in order or lie outside of the text.
    """
    text = parsed.text
    starts = _section_starts(parsed)
    bounds = [*starts, len(text)]
    titles = [parsed.title, *(heading.title for heading in parsed.headings)]
    levels = [0, *(max(1, heading.level) for heading in parsed.headings)]
    parents = _parents(levels)
    ends = _ends(parents, bounds)
    bodies = [0, *(_behind_line(text, heading.start) for heading in parsed.headings)]
    summaries = _summaries(text, bodies, bounds, parents)
    paths = [""]
    for parent, title in zip(parents[1:], titles[1:], strict=True):
        paths.append(f"{paths[parent]} > {title}" if paths[parent] else title)
    return tuple(
        Section(
            ordinal=ordinal,
            parent=parents[ordinal],
            level=levels[ordinal],
            title=titles[ordinal],
            path=paths[ordinal],
            start=start,
            body_end=bounds[ordinal + 1],
            end=ends[ordinal],
            page=page_at(parsed.pages, start),
            summary=summaries[ordinal],
        )
        for ordinal, start in enumerate(starts)
    )


def page_at(pages: Sequence[PageSpan], position: int) -> int:
    """Number of the page a position of the text stands on, 0 without pages.

    A position between two pages belongs to the one before it.
    """
    index = bisect_right(pages, position, key=lambda page: page.start)
    return pages[max(index - 1, 0)].number if pages else 0


def _section_starts(parsed: ParsedDocument) -> list[int]:
    """Where every section begins: at the line of its heading, marks included."""
    starts = [0]
    previous = 0
    for heading in parsed.headings:
        if not previous <= heading.start <= len(parsed.text):
            raise IngestError(
                f"The parser reported the heading {heading.title!r} out of order; "
                "report this to the author of the parser."
            )
        previous = heading.start
        starts.append(max(starts[-1], _line_start(parsed.text, heading.start)))
    return starts


def _line_start(text: str, position: int) -> int:
    window = max(0, position - _MAX_BEFORE_TITLE)
    start = text.rfind("\n", window, position) + 1
    if start == 0 and window > 0:
        return position
    return start if _BEFORE_TITLE.fullmatch(text, start, position) else position


def _parents(levels: Sequence[int]) -> list[int]:
    """Ordinal of the nearest section before with a smaller level, -1 for the document."""
    parents = [-1]
    open_sections = [0]
    for ordinal, level in enumerate(levels[1:], start=1):
        while levels[open_sections[-1]] >= level:
            open_sections.pop()
        parents.append(open_sections[-1])
        open_sections.append(ordinal)
    return parents


def _ends(parents: Sequence[int], bounds: Sequence[int]) -> list[int]:
    """A section ends where its last descendant ends."""
    ends = list(bounds[1:])
    for ordinal in range(len(parents) - 1, 0, -1):
        ends[parents[ordinal]] = max(ends[parents[ordinal]], ends[ordinal])
    return ends


def _behind_line(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _summaries(
    text: str, bodies: Sequence[int], bounds: Sequence[int], parents: Sequence[int]
) -> list[str]:
    summaries = [
        _summary(text[body : min(bounds[ordinal + 1], body + _SUMMARY_WITHIN)])
        for ordinal, body in enumerate(bodies)
    ]
    for ordinal in range(len(summaries) - 1, 0, -1):
        first_child = parents[ordinal] == ordinal - 1
        if first_child and not summaries[ordinal - 1]:
            summaries[ordinal - 1] = summaries[ordinal]
    return summaries


def _summary(body: str) -> str:
    """The first sentences of the first paragraph of prose, whole ones where they fit."""
    paragraphs = [" ".join(part.split()) for part in body.split("\n\n")]
    told = [part for part in paragraphs if part and not _UNDERLINE.fullmatch(part)]
    prose = next((part for part in told if not part.startswith(_NOT_PROSE)), "")
    paragraph = prose or next(iter(told), "")
    if len(paragraph) <= _SUMMARY_CHARS:
        return paragraph
    whole = [end for end in sentence_ends(paragraph, 0, len(paragraph)) if end <= _SUMMARY_CHARS]
    if whole:
        return paragraph[: whole[-1]]
    cut = paragraph.rfind(" ", _SUMMARY_CHARS // 2, _SUMMARY_CHARS)
    return paragraph[: cut if cut > 0 else _SUMMARY_CHARS - 1].rstrip(" ,;:") + "…"
