"""Assembles a parser's findings into normalised text with exact offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eagle_rag_core.ingest.parsers.normalise import normalise, one_line
from eagle_rag_core.ingest.parsers.tables import table_text
from eagle_rag_core.types.documents import Heading, PageSpan, ParsedDocument


class DocumentBuilder:
    """Collects blocks in reading order; every block is normalised before its offset is taken.

    Blocks are separated by a blank line, the items of one list by a line end. Blocks without
    visible text leave no trace.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._headings: list[Heading] = []
        self._pages: list[PageSpan] = []
        self._page = 0
        self._page_start: int | None = None
        self._after_item = False

    @property
    def headings(self) -> Sequence[Heading]:
        """The headings so far."""
        return self._headings

    def heading(self, title: str, level: int) -> None:
        """Add a heading on a line of its own; ``level`` is 1 for the topmost."""
        title = one_line(title)
        if title:
            start = self._append(title, "\n\n")
            self._headings.append(Heading(title, level, start))

    def block(self, text: str) -> None:
        """Add a paragraph, table or piece of code; line ends inside it are kept."""
        text = normalise(text).strip("\n").rstrip()
        if text.strip():
            self._append(text, "\n\n")

    def item(self, text: str) -> None:
        """Add one item of a list, with its marker."""
        text = normalise(text).strip("\n").rstrip()
        if text.strip():
            self._append(text, "\n" if self._after_item else "\n\n")
            self._after_item = True

    def table(self, rows: Sequence[Sequence[str]], *, header: bool = True) -> None:
        """Add a table as Markdown rows; a long one repeats its header.

        :param header: the first row names the columns.
        """
        self.block(table_text(rows, header=header))

    def document(self, parsed: ParsedDocument, level: int) -> None:
        """Add a whole document, such as an attachment; its topmost headings stand at ``level``.

        Its pages are left out: they would be taken for pages of this document.
        """
        start = self._append(parsed.text, "\n\n")
        self._headings += (
            Heading(heading.title, heading.level + level - 1, start + heading.start)
            for heading in parsed.headings
        )

    def page(self, number: int) -> None:
        """Start page ``number``; what follows stands on it. Pages without text get no span."""
        self._close_page()
        self._page = number

    def text(self) -> str:
        return "".join(self._parts)

    def build(
        self,
        media_type: str,
        *,
        title: str = "",
        language: str = "",
        keywords: Sequence[str] = (),
        metadata: Mapping[str, str] | None = None,
    ) -> ParsedDocument:
        """The document. The caller has made sure that there is text."""
        self._close_page()
        return ParsedDocument(
            text=self.text(),
            media_type=media_type,
            headings=tuple(self._headings),
            pages=tuple(self._pages),
            title=one_line(title),
            language=language,
            keywords=tuple(keywords),
            metadata=dict(metadata or {}),
        )

    def _append(self, text: str, separator: str) -> int:
        if self._length:
            self._parts.append(separator)
            self._length += len(separator)
        start = self._length
        if self._page_start is None:
            self._page_start = start
        self._parts.append(text)
        self._length += len(text)
        self._after_item = False
        return start

    def _close_page(self) -> None:
        if self._page and self._page_start is not None:
            self._pages.append(PageSpan(self._page, self._page_start, self._length))
        self._page_start = None
