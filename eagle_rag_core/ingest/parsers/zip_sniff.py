"""Tells the documents that are ZIP archives apart by the members their first bytes show."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

LOCAL_HEADER: Final = b"PK\x03\x04"
_HEADER = struct.Struct("<4s5H3I2H")
_SIZE_FOLLOWS = 0x08
#: First part of member names → kind of document (ECMA-376 part 1, section 8).
_FOLDERS = {"word": "docx", "ppt": "pptx", "xl": "xlsx"}
#: Content of the member ``mimetype`` → kind (EPUB OCF 3.3, section 4.3; OpenDocument 1.3, 2.2.4).
_MIMETYPES = {
    b"application/epub+zip": "epub",
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/vnd.oasis.opendocument.spreadsheet": "ods",
    b"application/vnd.oasis.opendocument.presentation": "odp",
}
_MEMBERS = {
    "META-INF/container.xml": "epub",
    "AndroidManifest.xml": "apk",
    "META-INF/MANIFEST.MF": "jar",
}


def zip_kind(head: bytes) -> str:
    """``docx``, ``pptx``, ``xlsx``, ``epub``, ``odt``, ``ods``, ``odp``, ``apk`` or ``jar``;
    ``zip`` for other archives and for those that do not tell at once; "" for what is none.

    Members are followed from header to header, so that names inside of embedded archives do not
    count.
    """
    if not head.startswith(LOCAL_HEADER):
        return ""
    kind = "zip"
    for member, content in _members(head):
        if member == "mimetype":
            declared = content.strip().removesuffix(b"-template")
            if found := _MIMETYPES.get(declared):
                return found
        folder, _, rest = member.partition("/")
        if rest and folder in _FOLDERS:
            return _FOLDERS[folder]
        # A manifest does not exclude a document: some programs sign theirs.
        kind = _MEMBERS.get(member, kind) if kind in ("zip", "jar") else kind
    return kind


def zip_confidence(head: bytes, name: str, kind: str, suffixes: tuple[str, ...]) -> float:
    """Confidence of the parser for ``kind``, which knows its files by ``suffixes`` too."""
    named = name.lower().endswith(suffixes)
    found = zip_kind(head)
    if found == "zip":
        return 0.6 if named else 0.0
    if found:
        return 0.95 if found == kind else 0.0
    return 0.2 if named else 0.0


def _members(head: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and packed content, as far as it is there, of the members one after the other."""
    position = 0
    while head.startswith(LOCAL_HEADER, position) and position + _HEADER.size <= len(head):
        _, _, flags, *_, packed, _, name_length, extra_length = _HEADER.unpack_from(head, position)
        start = position + _HEADER.size + name_length + extra_length
        name = head[position + _HEADER.size :][:name_length].decode("utf-8", errors="replace")
        if flags & _SIZE_FOLLOWS:
            end = head.find(LOCAL_HEADER, start)
            end = len(head) if end < 0 else end
        else:
            end = start + packed
        yield name, head[start:end]
        position = end
