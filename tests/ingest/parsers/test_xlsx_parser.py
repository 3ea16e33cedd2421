"""Workbooks: sheets, tables, what cells show, and files made to harm."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Callable

import pytest
from format_samples import workbook, zipped
from invariants import check_document
from openpyxl.workbook import Workbook

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.chunking import Chunker
from eagle_rag_core.ingest.parsers import xlsx_sheets
from eagle_rag_core.ingest.parsers.xlsx import XlsxParser
from eagle_rag_core.ingest.parsers.xlsx_display import display
from eagle_rag_core.ingest.sections import build_sections
from eagle_rag_core.types import ParsedDocument

PARSER = XlsxParser()


def parse(write: Callable[[Workbook], None]) -> ParsedDocument:
    document = PARSER.parse(workbook(write), "a.xlsx")
    check_document(document)
    return document


SHEET = "xl/worksheets/sheet1.xml"


def rewritten(data: bytes, member: str, change: Callable[[str], str]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[member] = change(members[member].decode()).encode()
    return zipped(members)


def test_each_sheet_is_a_section_and_its_table_stays_one() -> None:
    def write(book: Workbook) -> None:
        book.active.title = "Fruit"
        for row in (["Name", "Price"], ["Apple", 1.5], ["Pear", 2]):
            book.active.append(row)
        book.create_sheet("Towns 城市").append(["Town", "People"])
        book["Towns 城市"].append(["Bern", 134_000])
        book.create_sheet("Nothing")

    document = parse(write)
    assert document.text == (
        "Fruit\n\n| Name | Price |\n| --- | --- |\n| Apple | 1.5 |\n| Pear | 2 |\n\n"
        "Towns 城市\n\n| Town | People |\n| --- | --- |\n| Bern | 134000 |"
    )
    assert [(h.level, h.title) for h in document.headings] == [(1, "Fruit"), (1, "Towns 城市")]
    assert (document.metadata["sheets"], document.metadata["rows"]) == ("Fruit, Towns 城市", "3")


def test_captions_stand_above_their_table_and_blank_rows_divide_tables() -> None:
    def write(book: Workbook) -> None:
        rows = (
            ["Sales 2024"],
            [],
            ["Region", "Sum"],
            ["North", 1],
            [],
            ["South", 2],
            [],
            [],
            ["x"],
        )
        for row in rows:
            book.active.append(row)

    text = parse(write).text
    assert text == (
        "Sheet\n\nSales 2024\n\n| Region | Sum |\n| --- | --- |\n| North | 1 |\n\n"
        "| Region | Sum |\n| --- | --- |\n| South | 2 |\n\nx"
    )


def test_a_table_without_names_goes_by_letters() -> None:
    def write(book: Workbook) -> None:
        for row in ([1, 2.5], [3, 4.5]):
            book.active.append([None, *row])

    assert "| B | C |\n| --- | --- |\n| 1 | 2.5 |" in parse(write).text


def test_merged_cells_are_repeated_where_they_reach() -> None:
    def write(book: Workbook) -> None:
        sheet = book.active
        sheet["A1"], sheet["B1"], sheet["D1"] = "Region", "2023", "2024"
        for column, text in zip("BCDE", ("Q1", "Q2", "Q1", "Q2"), strict=True):
            sheet[f"{column}2"] = text
        sheet["A3"] = "North"
        for cell, value in (("B3", 1), ("C3", 2), ("D3", 3), ("E3", 4), ("B4", 5), ("E4", 6)):
            sheet[cell] = value
        for merged in ("B1:C1", "D1:E1", "A3:A4"):
            sheet.merge_cells(merged)

    text = parse(write).text
    assert "| Region | 2023 Q1 | 2023 Q2 | 2024 Q1 | 2024 Q2 |" in text
    assert "| North | 1 | 2 | 3 | 4 |\n| North | 5 |  |  | 6 |" in text


def test_a_merge_over_the_whole_sheet_costs_nothing() -> None:
    def write(book: Workbook) -> None:
        book.active.append(["Title"])
        book.active.append(["a", "b"])

    huge = '<mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells><pageMargins'
    data = rewritten(
        workbook(write),
        SHEET,
        lambda xml: xml.replace("<pageMargins", huge, 1),
    )
    assert PARSER.parse(data, "a.xlsx").text.startswith("Sheet\n\nTitle")


@pytest.mark.timeout(60)
def test_merges_over_merges_are_bounded() -> None:
    def write(book: Workbook) -> None:
        for _ in range(2_000):
            book.active.append(["a", "b"])

    ranges = "".join(f'<mergeCell ref="A1:B{2_000 + n}"/>' for n in range(20_000))
    merged = f"<mergeCells>{ranges}</mergeCells><pageMargins"
    data = rewritten(workbook(write), SHEET, lambda xml: xml.replace("<pageMargins", merged, 1))
    with pytest.raises(IngestError, match="beyond any sheet"):
        PARSER.parse(data, "a.xlsx")


def test_hidden_sheets_are_named_but_not_read() -> None:
    def write(book: Workbook) -> None:
        book.active["A1"] = "shown"
        for state in ("hidden", "veryHidden"):
            sheet = book.create_sheet(state)
            sheet["A1"] = "secret"
            sheet.sheet_state = state

    document = parse(write)
    assert "secret" not in document.text
    assert document.metadata["hidden"] == "hidden, veryHidden"


def test_a_workbook_that_shows_nothing_says_why() -> None:
    def write(book: Workbook) -> None:
        book.create_sheet("Data")["A1"] = "secret"
        book["Data"].sheet_state = "hidden"

    with pytest.raises(IngestError, match="Data are hidden") as caught:
        parse(write)
    assert caught.value.code is ErrorCode.EMPTY_DOCUMENT


def test_formulas_show_their_saved_result_and_are_counted_without_one() -> None:
    def write(book: Workbook) -> None:
        book.active.append(["Name", "Sum"])
        book.active.append(["a", "=1+1"])
        book.active.append(["b", "=2+2"])

    saved = rewritten(
        workbook(write),
        SHEET,
        lambda xml: re.sub(r"(<f>1\+1</f>)<v\s*/?>(</v>)?", r"\1<v>2</v>", xml),
    )
    document = PARSER.parse(saved, "a.xlsx")
    assert "| a | 2 |\n| b |  |" in document.text
    assert document.metadata["formulas_without_values"] == "1"


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (0.125, "0.0%", "12.5%"),
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (-5.5, "0.00", "-5.50"),
        (-0.001, "0.00", "0.00"),
        (12, '"€" #,##0', "€ 12"),
        (12, "$#,##0.00", "$12.00"),
        (12.5, "[$CHF-807] 0.00", "CHF 12.50"),
        (7, '0 "days"', "7 days"),
        (7, '0" 日"', "7 日"),
        (3, "#,##0_);(#,##0)", "3"),
        (0.1 + 0.2, "General", "0.3"),
        (1e21, "General", "1e+21"),
        (5, "General", "5"),
        (1.5, "# ?/?", "1.5"),
        (150000, "0.00E+00", "150000"),
        (True, "General", "TRUE"),
        (datetime.datetime(2024, 5, 6), "mm-dd-yy", "2024-05-06"),
        (datetime.datetime(2024, 5, 6, 7, 8), "m/d/yy h:mm", "2024-05-06 07:08"),
        (datetime.time(7, 8), "h:mm", "07:08:00"),
        (datetime.timedelta(hours=26), "[h]:mm", "1 day, 2:00:00"),
        ("text", "@", "text"),
        (None, "General", ""),
        (float("inf"), "0.00", "inf"),
    ],
)
def test_values_are_shown_as_their_format_says(
    value: object, number_format: str, shown: str
) -> None:
    assert display(value, number_format) == shown


def test_passages_of_a_long_table_keep_the_names_of_columns() -> None:
    def write(book: Workbook) -> None:
        book.active.append(["Name", "Note"])
        for number in range(300):
            book.active.append([f"Item {number}", "some words about it"])

    document = parse(write)
    chunks = Chunker().chunk(document.text, build_sections(document), (), "v")
    assert len(chunks) > 5
    assert all("| Name | Note |" in chunk.text for chunk in chunks)


def test_wide_tables_are_read_as_records() -> None:
    def write(book: Workbook) -> None:
        book.active.append([f"Property number {n}" for n in range(60)])
        book.active.append([f"value {n}" if n % 2 else None for n in range(60)])

    text = parse(write).text
    assert "Property number 1: value 1\nProperty number 3: value 3" in text
    assert "Property number 2:" not in text


def test_long_cells_make_records_of_a_table() -> None:
    def write(book: Workbook) -> None:
        book.active.append(["Question", "Answer"])
        book.active.append(["Why?", "Because. " * 150])

    assert "Question: Why?\nAnswer: Because. Because." in parse(write).text


@pytest.mark.parametrize("reference", ["A1048577", "A999999999999"])
def test_rows_beyond_any_sheet_are_refused(reference: str) -> None:
    def write(book: Workbook) -> None:
        book.active.append(["a", "b"])

    row = re.sub(r"\D", "", reference)
    cell = f'<row r="{row}"><c r="{reference}"><v>1</v></c></row></sheetData>'
    data = rewritten(workbook(write), SHEET, lambda xml: xml.replace("</sheetData>", cell))
    with pytest.raises(IngestError, match="beyond any sheet"):
        PARSER.parse(data, "a.xlsx")


def test_a_cell_in_the_last_column_of_the_last_row_is_read() -> None:
    cell = '<row r="1048576"><c r="XFD1048576"><v>77</v></c></row></sheetData>'
    data = rewritten(
        workbook(lambda book: book.active.append(["a", "b"])),
        SHEET,
        lambda xml: xml.replace("</sheetData>", cell),
    )
    assert PARSER.parse(data, "a.xlsx").text.endswith("77")


def test_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_sheets, "MAX_CELLS", 10)

    def write(book: Workbook) -> None:
        for _ in range(5):
            book.active.append([1, 2, 3])

    with pytest.raises(IngestError, match="more than 10 cells"):
        parse(write)


def test_a_binary_workbook_says_what_to_do() -> None:
    data = zipped({"[Content_Types].xml": "<Types/>", "xl/workbook.bin": b"x"})
    with pytest.raises(IngestError, match=r"save it as \.xlsx"):
        PARSER.parse(data, "a.xlsb")


def test_properties_become_metadata_and_keywords() -> None:
    def write(book: Workbook) -> None:
        book.active["A1"] = "x"
        book.properties.title, book.properties.creator = "Stock list", "A. Writer"
        book.properties.keywords, book.properties.language = "fruit; trade", "en-GB"
        book.properties.created = datetime.datetime(2024, 5, 6)

    document = parse(write)
    assert (document.title, document.language) == ("Stock list", "en-GB")
    assert document.keywords == ("fruit", "trade")
    assert document.metadata["author"] == "A. Writer"
    assert document.metadata["created"] == "2024-05-06T00:00:00Z"
