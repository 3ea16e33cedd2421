"""Files that are damaged, dishonest or too much, made by the tests themselves."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping

import docx
from fpdf import FPDF

#: Of every sound part of these files, so that a search tells whether any of it was indexed.
WORD = "quagga"
TEXT = f"The {WORD} is a striped animal that once lived on the plains of the south."


def pdf(*pages: str, write: Callable[[FPDF], None] | None = None, password: str = "") -> bytes:
    """A PDF with one page per text, blank for an empty one."""
    document = FPDF()
    document.set_font("times", size=11)
    if password:
        document.set_encryption(owner_password=password, user_password=password)
    for text in pages:
        document.add_page()
        if text:
            document.multi_cell(0, 6, text)
    if write:
        write(document)
    return bytes(document.output())


def word() -> bytes:
    """A Word document."""
    document = docx.Document()
    document.add_heading("Animals", 1)
    document.add_paragraph(TEXT)
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def zipped(members: Mapping[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()


def changed(data: bytes, member: str, change: Callable[[bytes], bytes]) -> bytes:
    """A ZIP archive with one member changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[member] = change(members[member])
    return zipped(members)


def flagged_as_encrypted(data: bytes) -> bytes:
    """A ZIP archive whose directory says that every member needs a password."""
    copy = bytearray(data)
    for signature, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        at = copy.find(signature)
        while at >= 0:
            copy[at + offset] |= 1
            at = copy.find(signature, at + 4)
    return bytes(copy)


def compound_file() -> bytes:
    """How Office wraps what it encrypts: an OLE container with a stream of that name."""
    name = "EncryptedPackage".encode("utf-16-le")
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + name + bytes(4096)


def laughs(data: bytes) -> bytes:
    """XML whose entities expand to gigabytes."""
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    kind = f'<!DOCTYPE w:document [<!ENTITY l0 "{WORD} ">{levels}]>'
    head, root = data.split(b"<w:document", 1)
    return head + kind.encode() + b"<w:document" + root.replace(WORD.encode(), b"&l9;", 1)


def outside_entity(data: bytes) -> bytes:
    """XML that asks for a file of this machine."""
    kind = b'<!DOCTYPE w:document [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    head, root = data.split(b"<w:document", 1)
    return head + kind + b"<w:document" + root.replace(WORD.encode(), b"&x;", 1)


def png(width: int, height: int) -> bytes:
    """A white picture of one bit a pixel, packed to almost nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    packer = zlib.compressobj(9)
    line = b"\0" + b"\xff" * ((width + 7) // 8)
    body = b"".join(packer.compress(line) for _ in range(height)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    )


def wrong_offsets(data: bytes) -> bytes:
    """A PDF whose cross-reference table points beside every object."""
    at = data.rindex(b"xref", 0, data.rindex(b"startxref")) + 4
    return (
        data[:at]
        + data[at : data.index(b"trailer")]
        .replace(b"00 n", b"99 n")
        .replace(b"0000000", b"0000111")
        + data[data.index(b"trailer") :]
    )


def without_objects(data: bytes) -> bytes:
    """A PDF in which nothing can be found, neither by its table nor by looking for it."""
    return data.replace(b" obj", b" xbj").replace(b"xref", b"xxxx")
