"""Word documents: structure in body order, numbering, revisions, and bad archives."""

from __future__ import annotations

import datetime
import io
import random
import zipfile

import pytest
from docx.document import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from parser_samples import archive, word

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.docx import DocxParser
from eagle_rag_core.types import ParsedDocument

PARSER = DocxParser()


def parse(data: bytes) -> ParsedDocument:
    return PARSER.parse(data, "a.docx")


def refused(data: bytes) -> IngestError:
    with pytest.raises(IngestError) as caught:
        parse(data)
    return caught.value


def outline(document: ParsedDocument) -> list[tuple[int, str]]:
    for heading in document.headings:
        end = heading.start + len(heading.title)
        assert document.text[heading.start : end] == heading.title
    return [(heading.level, heading.title) for heading in document.headings]


def numbered(paragraph: object, number_id: int, depth: int) -> None:
    properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()  # type: ignore[attr-defined]
    properties.get_or_add_numId().val = number_id
    properties.get_or_add_ilvl().val = depth


def add_scheme(document: Document, identifier: int, levels: str, override: str = "") -> None:
    numbering = document.part.numbering_part.element
    numbering.insert(
        0,
        parse_xml(
            f'<w:abstractNum {nsdecls("w")} w:abstractNumId="{identifier}">{levels}</w:abstractNum>'
        ),
    )
    numbering.append(
        parse_xml(
            f'<w:num {nsdecls("w")} w:numId="{identifier}">'
            f'<w:abstractNumId w:val="{identifier}"/>{override}</w:num>'
        )
    )


def level(depth: int, text: str, number_format: str = "decimal", start: int = 1) -> str:
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="{start}"/><w:numFmt w:val="{number_format}"/>'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def test_headings_nest_below_the_title() -> None:
    def write(document: Document) -> None:
        document.add_heading("The Title", 0)
        document.add_heading("One", 1)
        document.add_paragraph("Text of one.")
        document.add_heading("Two", 3)

    parsed = parse(word(write))
    assert outline(parsed) == [(1, "The Title"), (2, "One"), (4, "Two")]
    assert parsed.text == "The Title\n\nOne\n\nText of one.\n\nTwo"
    assert parsed.title == "The Title"


def test_without_a_title_headings_begin_at_the_top() -> None:
    assert outline(parse(word(lambda document: document.add_heading("One", 1)))) == [(1, "One")]


def test_styles_based_on_headings_and_outline_levels_count() -> None:
    def write(document: Document) -> None:
        style = document.styles.add_style("Clause", 1)
        style.base_style = document.styles["Heading 2"]
        document.add_paragraph("By style", style="Clause")
        paragraph = document.add_paragraph("By outline level")
        properties = paragraph._p.get_or_add_pPr()
        properties.append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="2"/>'))

    assert outline(parse(word(write))) == [(2, "By style"), (3, "By outline level")]


def test_a_table_of_contents_is_left_out() -> None:
    def write(document: Document) -> None:
        document.styles.add_style("toc 1", 1)
        document.add_paragraph("One ..... 3", style="toc 1")
        document.add_heading("One", 1)

    assert parse(word(write)).text == "One"


def test_automatic_numbers_are_written_out() -> None:
    def write(document: Document) -> None:
        add_scheme(document, 90, level(0, "%1.") + level(1, "%1.%2", "upperLetter"))
        add_scheme(
            document,
            91,
            level(0, "(%1)", "lowerRoman"),
            '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="4"/></w:lvlOverride>',
        )
        for depth, text in ((0, "First"), (1, "Inner"), (1, "Inner"), (0, "Second"), (1, "New")):
            numbered(document.add_heading(text, depth + 1), 90, depth)
        numbered(document.add_paragraph("clause"), 91, 0)
        numbered(document.add_paragraph("clause"), 91, 0)

    parsed = parse(word(write))
    assert outline(parsed) == [
        (1, "1. First"),
        (2, "1.A Inner"),
        (2, "1.B Inner"),
        (1, "2. Second"),
        (2, "2.A New"),
    ]
    assert parsed.text.endswith("(iv) clause\n(v) clause")


def test_bulleted_and_numbered_lists() -> None:
    def write(document: Document) -> None:
        document.add_paragraph("apple", style="List Bullet")
        document.add_paragraph("pear", style="List Bullet")
        document.add_paragraph("Then:")
        document.add_paragraph("one", style="List Number")
        document.add_paragraph("two", style="List Number")

    assert parse(word(write)).text == "- apple\n- pear\n\nThen:\n\n1. one\n2. two"


def test_tables_stand_where_they_stand() -> None:
    def write(document: Document) -> None:
        document.add_paragraph("Before")
        table = document.add_table(3, 2)
        for row, cells in enumerate((("A", "B"), ("1", "x|y"), ("2", ""))):
            for column, text in enumerate(cells):
                table.cell(row, column).text = text
        table.cell(1, 0).merge(table.cell(2, 0))
        document.add_paragraph("After")

    assert parse(word(write)).text == (
        "Before\n\n| A | B |\n| --- | --- |\n| 1 2 | x\\|y |\n\nAfter"
    )


def test_a_frame_of_one_column_is_no_table() -> None:
    def write(document: Document) -> None:
        cell = document.add_table(1, 1).cell(0, 0)
        cell.text = "Note"
        cell.add_paragraph("Mind the gap.")

    assert parse(word(write)).text == "Note\n\nMind the gap."


def test_revisions_controls_and_text_boxes_are_read_as_shown() -> None:
    namespaces = nsdecls("w") + (
        ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    )
    box = "<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>"

    def write(document: Document) -> None:
        paragraph = document.add_paragraph("kept ")._p
        paragraph.append(parse_xml(f"<w:ins {nsdecls('w')}><w:r><w:t>inserted</w:t></w:r></w:ins>"))
        paragraph.append(
            parse_xml(f"<w:del {nsdecls('w')}><w:r><w:delText>deleted</w:delText></w:r></w:del>")
        )
        paragraph.append(
            parse_xml(
                f"<w:r {namespaces}><mc:AlternateContent><mc:Choice Requires='wps'>"
                f"<w:drawing>{box}</w:drawing></mc:Choice><mc:Fallback><w:pict>{box}</w:pict>"
                "</mc:Fallback></mc:AlternateContent></w:r>"
            )
        )
        paragraph.addnext(
            parse_xml(
                f"<w:sdt {nsdecls('w')}><w:sdtContent><w:p><w:r><w:t>control</w:t></w:r></w:p>"
                "</w:sdtContent></w:sdt>"
            )
        )

    assert parse(word(write)).text == "kept inserted\n\nboxed\n\ncontrol"


def test_tabs_and_line_breaks_inside_a_paragraph() -> None:
    def write(document: Document) -> None:
        run = document.add_paragraph("a").add_run()
        run.add_tab()
        run.add_text("b")
        run.add_break()
        run.add_text("c")

    assert parse(word(write)).text == "a\tb\nc"


def test_core_properties_become_metadata() -> None:
    def write(document: Document) -> None:
        properties = document.core_properties
        properties.title, properties.language = "Report", "de-DE"
        properties.keywords, properties.author = "x; y, x", "A. Writer"
        properties.created = datetime.datetime(2024, 5, 6, tzinfo=datetime.UTC)
        document.add_paragraph("text")

    parsed = parse(word(write))
    assert (parsed.title, parsed.language, parsed.keywords) == ("Report", "de-DE", ("x", "y"))
    assert parsed.metadata["author"] == "A. Writer"
    assert parsed.metadata["created"].startswith("2024-05-06T00:00:00")


def test_a_document_without_text_is_empty() -> None:
    assert refused(word(lambda document: None)).code == ErrorCode.EMPTY_DOCUMENT


def test_an_archive_of_something_else_is_named() -> None:
    assert "no Word" not in refused(archive(a__b=b"x")).message
    error = refused(archive(xl__workbook=b"<workbook/>"))
    assert "not a Word document but an Excel workbook" in error.message


def test_random_bytes_are_named() -> None:
    error = refused(random.Random(5).randbytes(2_000))
    assert error.code == ErrorCode.PARSE_FAILED
    assert "not a Word document" in error.message


def test_an_old_or_encrypted_file_is_named() -> None:
    assert "password" in refused(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)).message


@pytest.mark.parametrize("share", [0.2, 0.7, 0.98])
def test_a_document_cut_off_is_named(share: float) -> None:
    whole = word(lambda document: document.add_paragraph("text"))
    error = refused(whole[: int(len(whole) * share)])
    assert error.code == ErrorCode.PARSE_FAILED
    assert "cut-off" in error.message


def test_damaged_parts_do_not_leak_the_words_of_the_library() -> None:
    whole = zipfile.ZipFile(io.BytesIO(word(lambda document: document.add_paragraph("text"))))
    entries = {entry: whole.read(entry) for entry in whole.namelist()}
    entries["word/document.xml"] = b"<broken"
    error = refused(archive(**{name.replace("/", "__"): data for name, data in entries.items()}))
    assert error.message.startswith("a.docx is a damaged Word document")


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = archive(word__document=bytes(40 * 1024 * 1024))
    assert len(bomb) < 100_000
    assert "unpacks to 40 MB" in refused(bomb).message
