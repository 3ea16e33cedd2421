"""Excel workbooks (.xlsx) by openpyxl: each visible sheet is a section, its tables stay tables."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from eagle_rag_core.errors import IngestError
from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.declared import fields
from eagle_rag_core.ingest.parsers.failures import empty_document, parse_failed, refuse_empty
from eagle_rag_core.ingest.parsers.grid import GridWriter
from eagle_rag_core.ingest.parsers.normalise import has_words
from eagle_rag_core.ingest.parsers.office_properties import read_properties
from eagle_rag_core.ingest.parsers.xlsx_sheets import SheetReader
from eagle_rag_core.ingest.parsers.zip_container import open_archive
from eagle_rag_core.ingest.parsers.zip_sniff import zip_confidence
from eagle_rag_core.types.documents import ParsedDocument

logger = logging.getLogger(__name__)

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_NOUN = "Excel workbook"


class XlsxParser:
    """Reads Office Open XML workbooks: values as displayed, results of formulas as saved."""

    name = "xlsx"
    version = "1"

    def sniff(self, head: bytes, name: str) -> float:
        return zip_confidence(head, name, "xlsx", (".xlsx", ".xlsm", ".xltx", ".xltm"))

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        with open_archive(data, name, _NOUN, "xl/") as archive:
            if "xl/workbook.bin" in archive.namelist():
                raise parse_failed(name, "is a binary workbook (.xlsb); save it as .xlsx.")
            declared = read_properties(archive)
        builder = DocumentBuilder()
        writer = GridWriter(builder)
        reader = SheetReader(name)
        with _damage_named(name), _workbook(data) as workbook:
            visible = [s for s in workbook.worksheets if s.sheet_state == "visible"]
            hidden = [s.title for s in workbook.worksheets if s.sheet_state != "visible"]
            read = [s.title for s in visible if _write_sheet(builder, writer, reader, s)]
        if not read:
            raise empty_document(name, _without_content(hidden))
        return builder.build(
            _MEDIA_TYPE,
            title=declared.title,
            language=declared.language,
            keywords=declared.keywords,
            metadata={
                **declared.metadata,
                **fields(
                    sheets=", ".join(read),
                    hidden=", ".join(hidden),
                    rows=writer.rows,
                    formulas_without_values=reader.formulas_without_values,
                ),
            },
        )


def _write_sheet(
    builder: DocumentBuilder, writer: GridWriter, reader: SheetReader, sheet: Any
) -> bool:
    """Write a sheet below a heading; a sheet without content leaves no trace."""
    rows = list(reader.rows(sheet))
    if not any(has_words(cell) for row in rows for cell in row.cells):
        return False
    builder.heading(sheet.title, 1)
    writer.write(rows)
    return True


def _without_content(hidden: list[str]) -> str:
    if hidden:
        return f"shows nothing: the sheets {', '.join(hidden)} are hidden and not read."
    return "has no cells with text or numbers."


@contextmanager
def _workbook(data: bytes) -> Iterator[Any]:
    import openpyxl

    with warnings.catch_warnings():
        # About styles and extensions that it leaves out; none of them is text.
        warnings.simplefilter("ignore")
        workbook = openpyxl.load_workbook(
            io.BytesIO(data), read_only=True, data_only=True, keep_links=False
        )
        try:
            yield workbook
        finally:
            workbook.close()


@contextmanager
def _damage_named(name: str) -> Iterator[None]:
    """Turn whatever openpyxl stumbles over into our error."""
    try:
        yield
    except IngestError:
        raise
    except Exception as error:
        # Damage shows as KeyError, ValueError, TypeError, XML, ZIP and zlib errors alike.
        logger.info("a workbook cannot be read: %s", type(error).__name__)
        raise parse_failed(
            name, "is a damaged Excel workbook; open it in Excel and save it as .xlsx."
        ) from error
