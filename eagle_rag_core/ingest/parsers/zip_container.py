"""Documents that are ZIP archives of XML: what is refused before anything is unpacked.

A small archive may unpack to gigabytes, a small XML file may expand to gigabytes, and either may
point at files of this machine. None of that is needed in a document.
"""

from __future__ import annotations

import io
import logging
import re
import struct
import zipfile
import zlib
from typing import Final

from eagle_rag_core.errors import IngestError
from eagle_rag_core.ingest.parsers.compound_file import is_compound_file, refuse_compound_file
from eagle_rag_core.ingest.parsers.failures import parse_failed
from eagle_rag_core.ingest.parsers.formats import describe
from eagle_rag_core.ingest.parsers.zip_sniff import LOCAL_HEADER

logger = logging.getLogger(__name__)

#: Twice what a source may have by default; the libraries hold all of it in memory.
MAX_UNPACKED: Final = 200 * 1024 * 1024
#: Text compresses to a twentieth, rarely to a hundredth; small files may do what they like.
MAX_RATIO: Final = 200
_RATIO_FROM = 20 * 1024 * 1024
#: Word and PowerPoint keep one member for each picture and slide; thousands are unusual.
MAX_MEMBERS: Final = 20_000
#: Documents have one line before their root element; what hides more has something to hide.
_MAX_PROLOGUE = 1 << 20
_BLOCK = 4_096
_OUTSIDE = re.compile(r"/|[A-Za-z]:|.*(?:^|[/\\])\.\.(?:[/\\]|$)", re.S)
#: What zipfile raises for archives and members that are damaged or of a kind it cannot read.
DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)


def open_archive(
    data: bytes, name: str, noun: str, member: str, *, doctype_allowed: bool = False
) -> zipfile.ZipFile:
    """Open a document that is a ZIP archive, after looking at all that it holds.

    :param noun: what the document should be, for messages: "Word document".
    :param member: how the name of a member begins that every such document has.
    :param doctype_allowed: the format's XML may name a document type; entities it never may.
    :raises IngestError: it is no such document, damaged, protected, unpacks to more than a document
        may, names members outside of itself, or its XML declares entities.
    """
    if is_compound_file(data):
        refuse_compound_file(data, name)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except DAMAGE as error:
        raise _damaged(data, name, noun) from error
    try:
        _check_size(archive, len(data), name)
        _check_members(archive, name)
        if not any(found.startswith(member) for found in archive.namelist()):
            raise _wrong_kind(data, name, noun)
        _check_xml(archive, name, doctype_allowed)
    except DAMAGE as error:
        archive.close()
        raise _damaged(data, name, noun) from error
    except IngestError:
        archive.close()
        raise
    return archive


def _damaged(data: bytes, name: str, noun: str) -> IngestError:
    """The error for bytes that cannot be read as the archive they should be."""
    if data.startswith(LOCAL_HEADER):
        return parse_failed(name, f"is a damaged or cut-off {noun}; fetch or copy the file again.")
    return _wrong_kind(data, name, noun)


def _wrong_kind(data: bytes, name: str, noun: str) -> IngestError:
    """The error for a source that is something else than its name or its first bytes say."""
    return parse_failed(name, f"is not {_article(noun)} {noun} but {describe(data[:65536])}.")


def _article(noun: str) -> str:
    return "an" if noun[0] in "AEIOU" else "a"


def _check_size(archive: zipfile.ZipFile, packed: int, name: str) -> None:
    """The sizes are those the archive declares; zipfile reads no further than declared."""
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    if unpacked > MAX_UNPACKED or (unpacked > _RATIO_FROM and unpacked > MAX_RATIO * packed):
        raise parse_failed(
            name, f"unpacks to {unpacked // 2**20:,} MB, more than a document may; it is refused."
        )
    if len(members) > MAX_MEMBERS:
        raise parse_failed(
            name,
            f"holds {len(members):,} files, more than the {MAX_MEMBERS:,} a document may; "
            "it is refused.",
        )


def _check_members(archive: zipfile.ZipFile, name: str) -> None:
    for member in archive.infolist():
        if member.flag_bits & 1:
            raise parse_failed(
                name, "is protected by a password; save a copy without one and ingest that."
            )
        if _OUTSIDE.match(member.filename):
            raise parse_failed(
                name, "names a file outside of itself, as no document does; it is refused."
            )


def _check_xml(archive: zipfile.ZipFile, name: str, doctype_allowed: bool) -> None:
    for member in archive.infolist():
        if not member.is_dir() and _declares(archive, member, doctype_allowed):
            raise parse_failed(
                name,
                "declares XML entities or a document type in its parts, as no such document "
                "does; it is refused.",
            )


def _declares(archive: zipfile.ZipFile, member: zipfile.ZipInfo, doctype_allowed: bool) -> bool:
    """Whether an XML member declares what it must not. The parser itself tells what is XML,
    so that no encoding hides a declaration from the look."""
    from lxml import etree

    parser = etree.XMLPullParser(
        events=("start",), resolve_entities=False, no_network=True, load_dtd=False
    )
    read = 0
    with archive.open(member) as stream:
        while block := stream.read(_BLOCK):
            broken = False
            try:
                parser.feed(block)
            except etree.XMLSyntaxError:
                broken = True
            for _, root in parser.read_events():
                declared = root.getroottree().docinfo.internalDTD
                if declared is None:
                    return False
                return not doctype_allowed or any(True for _ in declared.iterentities())
            if broken:
                return False  # no XML, or damaged: the library that needs it will say so
            read += len(block)
            if read > _MAX_PROLOGUE:
                return True
    return False
