"""Documents the parser tests make for themselves."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable

import docx
from docx.document import Document
from fpdf import FPDF
from PIL import Image, ImageDraw

WORDS = "the quick brown fox jumps over a lazy dog while many readers wonder about order".split()


def sentence(tag: str, words: int = 70) -> str:
    """A sentence that begins with ``tag``, the same on every call."""
    rng = random.Random(tag)
    return f"{tag} {' '.join(rng.choice(WORDS) for _ in range(words))}."


def pdf(write: Callable[[FPDF], None], **encryption: object) -> bytes:
    """A PDF with what ``write`` puts on its pages."""
    document = FPDF()
    document.set_font("times", size=11)
    if encryption:
        document.set_encryption(**encryption)
    write(document)
    return bytes(document.output())


def text_pages(*texts: str) -> Callable[[FPDF], None]:
    """Writes one page per text; an empty text leaves its page blank."""

    def write(document: FPDF) -> None:
        for text in texts:
            document.add_page()
            if text:
                document.multi_cell(0, 6, text)

    return write


def heading_and_text(document: FPDF, title: str, text: str, size: float = 18) -> None:
    document.set_font("times", "B", size)
    document.cell(0, 12, title, new_x="LMARGIN", new_y="NEXT")
    document.set_font("times", "", 11)
    document.multi_cell(0, 6, text, new_x="LMARGIN", new_y="NEXT")


def scan(text: str) -> Image.Image:
    """A page as a scanner delivers it."""
    image = Image.new("L", (600, 800), "white")
    ImageDraw.Draw(image).text((100, 100), text)
    return image


def word(write: Callable[[Document], None]) -> bytes:
    """A Word document with what ``write`` puts into it."""
    document = docx.Document()
    write(document)
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def archive(**entries: bytes) -> bytes:
    """A ZIP archive; ``__`` in the names stands for ``/``."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as container:
        for name, content in entries.items():
            container.writestr(name.replace("__", "/"), content)
    return target.getvalue()
