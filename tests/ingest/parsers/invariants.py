"""What holds for every document, whichever parser made it."""

from __future__ import annotations

from eagle_rag_core.ingest.chunking import Chunker
from eagle_rag_core.ingest.parsers.declared import VOCABULARY
from eagle_rag_core.ingest.parsers.normalise import normalise, one_line
from eagle_rag_core.ingest.sections import build_sections
from eagle_rag_core.types import ParsedDocument

#: Authors choose the fields of their front matter themselves.
OWN_FIELDS = frozenset({"text/markdown"})
#: How far behind its offset a title may stand: markup, decorators, comments.
_REACH = 2_000


def check_document(document: ParsedDocument) -> None:
    """Assert that a document can be stored, cut and shown as the types promise."""
    _check_text(document)
    _check_headings(document)
    _check_pages(document)
    _check_sections(document)
    assert all(document.metadata.values())
    assert all(one_line(word) == word for word in document.keywords)
    assert one_line(document.title) == document.title
    if document.media_type not in OWN_FIELDS:
        assert set(document.metadata) <= set(VOCABULARY)


def _check_text(document: ParsedDocument) -> None:
    assert document.text.strip()
    assert normalise(document.text, keep_lines=True) == document.text
    assert "\x00" not in document.text
    document.text.encode("utf-8")
    for value in (document.title, document.language, *document.metadata.values()):
        assert normalise(value, keep_lines=True) == value
        value.encode("utf-8")


def _check_headings(document: ParsedDocument) -> None:
    starts = [heading.start for heading in document.headings]
    assert starts == sorted(starts)
    for heading in document.headings:
        assert heading.level >= 1
        assert heading.title == one_line(heading.title) != ""
        shown = _letters(document.text[heading.start : heading.start + _REACH])
        assert _is_subsequence(_letters(heading.title.partition(" (lines ")[0]), shown)


def _check_pages(document: ParsedDocument) -> None:
    position, number = 0, 0
    for page in document.pages:
        assert position <= page.start < page.end <= len(document.text)
        assert page.number > number
        position, number = page.end, page.number


def _check_sections(document: ParsedDocument) -> None:
    sections = build_sections(document)
    for section in sections[1:]:
        parent = sections[section.parent]
        assert parent.ordinal < section.ordinal
        assert parent.level < section.level
        assert parent.start <= section.start <= section.body_end <= section.end <= parent.end
    for chunk in Chunker().chunk(document.text, sections, document.pages, "v"):
        assert document.text[chunk.start : chunk.end] == chunk.text
        home = sections[chunk.section]
        assert home.start <= chunk.start < chunk.end <= home.body_end


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _is_subsequence(short: str, long: str) -> bool:
    rest = iter(long)
    return all(character in rest for character in short)
