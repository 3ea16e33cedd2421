"""Documents that get pages, and a program that stands in for LibreOffice."""

from __future__ import annotations

import io
import stat
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import docx
from fpdf import FPDF

LOREM = "The harbour was dredged in spring, and boats of three metres may enter again. "
#: The paragraphs of the document, by page.
PAGES = (
    ("Harbour report", f"First paragraph of all. {LOREM * 3}", f"Dredging goes on. {LOREM * 4}"),
    ("Boats by month", "Counting began in January.", "Crews are counted by hand."),
)
ROWS = (("Month", "Boats"), ("January", "1207"), ("February", "1744"))


def word_document(change: Callable[[Any], object] = lambda document: None) -> bytes:
    """A Word document of two headings, a table, and a page break where :data:`PAGES` has it."""
    document = docx.Document()
    for number, (title, *paragraphs) in enumerate(PAGES):
        if number:
            document.add_paragraph().paragraph_format.page_break_before = True
        document.add_heading(title, 1)
        for paragraph in paragraphs:
            document.add_paragraph(paragraph)
    table = document.add_table(rows=0, cols=2)
    for row in ROWS:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    change(document)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def printed() -> bytes:
    """The pages of :func:`word_document` as a program prints them, with a running head."""
    pdf = FPDF(unit="pt", format=(600, 800))
    pdf.set_creation_date(datetime(2026, 1, 1, tzinfo=UTC))
    for number, (title, *paragraphs) in enumerate(PAGES, start=1):
        pdf.add_page()
        pdf.set_font("Helvetica", size=9)
        pdf.text(500, 30, f"Confidential {number}")
        pdf.set_y(60)
        pdf.set_font("Helvetica", size=20)
        pdf.multi_cell(500, 24, title, new_x="LMARGIN", new_y="NEXT")
        pdf.set_font("Helvetica", size=11)
        for paragraph in paragraphs:
            pdf.multi_cell(500, 15, paragraph, new_x="LMARGIN", new_y="NEXT")
    pdf.set_xy(60, 400)
    for row in ROWS:
        pdf.set_x(60)
        for text in row:
            pdf.cell(120, 20, text, border=1)
        pdf.ln()
    return bytes(pdf.output())


class FakeOffice:
    """A program that is called as LibreOffice is, and writes a PDF that was made before.

    :ivar program: its path.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.program = folder / "soffice"
        self._pdf = folder / "printed.pdf"
        self._runs = folder / "runs"
        self._runs.touch()
        self.prints(printed())

    def prints(self, pdf: bytes) -> None:
        """Let it write this from now on."""
        self._pdf.write_bytes(pdf)
        self._does(
            f"folder = Path(sys.argv[sys.argv.index('--outdir') + 1])\n"
            f"folder.mkdir()\n"
            f"(folder / 'document.pdf').write_bytes(Path({str(self._pdf)!r}).read_bytes())\n"
        )

    def fails(self, how: str = "sys.exit(1)") -> None:
        """Let it do nothing but this from now on."""
        self._does(f"{how}\n")

    @property
    def runs(self) -> int:
        """How often it was called."""
        return len(self._runs.read_text().splitlines())

    def _does(self, what: str) -> None:
        self.program.write_text(
            f"#!{sys.executable} -IS\n"
            "import sys, time\n"
            "from pathlib import Path\n"
            f"with open({str(self._runs)!r}, 'a') as runs:\n"
            "    print('run', file=runs)\n" + what
        )
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)
