"""One document of every format, each with a word of its own to be found by."""

from __future__ import annotations

import datetime
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from email.message import EmailMessage

import openpyxl
import pptx
from docx.document import Document
from fpdf import FPDF
from ocr_samples import page_picture, picture
from openpyxl.workbook import Workbook
from parser_samples import heading_and_text, pdf, sentence, word
from pptx.presentation import Presentation
from pptx.util import Inches


def presentation(write: Callable[[Presentation], object]) -> bytes:
    """A presentation with what ``write`` puts into it."""
    document = pptx.Presentation()
    write(document)
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def workbook(write: Callable[[Workbook], None]) -> bytes:
    """A workbook with what ``write`` puts into it; its first sheet is called "Sheet"."""
    document = openpyxl.Workbook()
    write(document)
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def zipped(members: Mapping[str, bytes | str]) -> bytes:
    """A ZIP archive; a member called ``mimetype`` is stored as its format demands."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(name, content, kind)
    return target.getvalue()


CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
    '<rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)


def epub(
    chapters: Mapping[str, str],
    *,
    metadata: str = "<dc:title>A Book</dc:title>",
    navigation: str = "",
    extra: Mapping[str, bytes | str] | None = None,
) -> bytes:
    """A book of chapters (file name → body), with the list items of a table of contents."""
    items = "".join(
        f'<item id="c{number}" href="{name.replace(" ", "%20")}"'
        ' media-type="application/xhtml+xml"/>'
        for number, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    members: dict[str, bytes | str] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": (
            '<package xmlns="http://www.idpf.org/2007/opf"'
            ' xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<metadata>{metadata}</metadata><manifest>{items}"
            '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
            f"</manifest><spine>{spine}</spine></package>"
        ),
        "OEBPS/nav.xhtml": (
            '<html xmlns="http://www.w3.org/1999/xhtml"'
            ' xmlns:epub="http://www.idpf.org/2007/ops"><body>'
            f'<nav epub:type="toc"><ol>{navigation}</ol></nav></body></html>'
        ),
    }
    for name, body in chapters.items():
        members[f"OEBPS/{name}"] = (
            '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html>'
            '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head>'
            f"<body>{body}</body></html>"
        )
    return zipped({**members, **(extra or {})})


ODF_NAMESPACES = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
    ' xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
)


def odt(body: str, metadata: str = "") -> bytes:
    """An OpenDocument text."""
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": (
                f"<office:document-content {ODF_NAMESPACES}><office:body><office:text>"
                f"{body}</office:text></office:body></office:document-content>"
            ),
            "meta.xml": (
                f"<office:document-meta {ODF_NAMESPACES}><office:meta>{metadata}</office:meta>"
                "</office:document-meta>"
            ),
        }
    )


def mail(text: str, subject: str = "News of the day") -> EmailMessage:
    """A plain message."""
    message = EmailMessage()
    message["From"] = "Ann Author <ann@example.org>"
    message["To"] = "bob@example.org"
    message["Subject"] = subject
    message["Date"] = datetime.datetime(2024, 5, 6, 7, 8, tzinfo=datetime.UTC)
    message["Message-ID"] = "<1@example.org>"
    message.set_content(text)
    return message


def _pages(document: FPDF) -> None:
    for number, text in enumerate(("First page.", "The word of this format is pdfword."), start=1):
        document.add_page()
        heading_and_text(document, f"Chapter {number}", f"{text} {sentence('Then')}")


def _word(document: Document) -> None:
    document.add_heading("Chapter", 1)
    document.add_paragraph("The word of this format is docxword.")


def _deck(document: Presentation) -> None:
    for number in (1, 2):
        slide = document.slides.add_slide(document.slide_layouts[1])
        slide.shapes.title.text = f"Slide title {number}"
        slide.placeholders[1].text = "First point\nSecond point"
    box = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(3), Inches(1))
    box.text_frame.text = "The word of this format is pptxword."


def _sheets(document: Workbook) -> None:
    sheet = document.active
    sheet.title = "Stock"
    sheet.append(["Item", "Price", "Since"])
    sheet.append(["xlsxword", 1.5, datetime.date(2024, 5, 6)])
    sheet.append(["apple", 2.25, datetime.date(2024, 5, 7)])


_ATTACHED = "The word of this format is mailword.\n> quoted text\n"

#: Format → file name and content. Each holds the word ``<format>word``, the dash left out.
SAMPLES: dict[str, tuple[str, bytes]] = {
    "pdf": ("paper.pdf", pdf(_pages)),
    "docx": ("letter.docx", word(_word)),
    "pptx": ("deck.pptx", presentation(_deck)),
    "xlsx": ("stock.xlsx", workbook(_sheets)),
    "odt": ("note.odt", odt('<text:h text:outline-level="1">Top</text:h><text:p>odtword</text:p>')),
    "epub": (
        "book.epub",
        epub(
            {"one.xhtml": "<h1>One</h1><p>Text.</p>", "two.xhtml": "<p>epubword</p>"},
            navigation='<li><a href="one.xhtml">One</a></li><li><a href="two.xhtml">Two</a></li>',
        ),
    ),
    "html": (
        "page.html",
        b"<!doctype html><title>Page</title><h1>Page</h1><p>The word is htmlword.</p>",
    ),
    "markdown": ("readme.md", b"# Title\n\nThe word is markdownword.\n\n## Part\n\nMore.\n"),
    "rst": ("guide.rst", b"Guide\n=====\n\nThe word is rstword.\n\nPart\n----\n\nMore.\n"),
    "csv": ("table.csv", b"name,amount\ncsvword,1\napple,2\n"),
    "notebook": (
        "analysis.ipynb",
        json.dumps(
            {
                "nbformat": 4,
                "metadata": {"language_info": {"name": "python"}},
                "cells": [
                    {"cell_type": "markdown", "source": ["# Study\n", "notebookword"]},
                    {"cell_type": "code", "source": "1 + 1", "outputs": []},
                ],
            }
        ).encode(),
    ),
    "json": ("data.json", b'{"title": "Data", "text": "The word is jsonword.", "n": [1, 2]}'),
    "source-code": (
        "tool.py",
        b'class Tool:\n    def run(self):\n        "sourcecodeword"\n',
    ),
    "plain-text": ("notes.txt", b"Some notes with the word plaintextword.\n"),
    "image": ("page.png", picture(page_picture("The word is imageword"))),
    "mail": ("message.eml", mail(_ATTACHED).as_bytes()),
}
