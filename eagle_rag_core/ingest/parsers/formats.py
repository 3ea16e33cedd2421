"""Names what a source is when no parser reads it."""

from __future__ import annotations

#: First bytes → what they are, in words for the caller.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or encrypted Office file (.doc, .xls, .ppt)"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"{\\rtf", "an RTF document"),
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"BM", "a BMP image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"SQLite format 3", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
    (b"%!PS", "a PostScript file"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"ID3", "an MP3 recording"),
    (b"OggS", "an Ogg recording"),
)
#: Names inside ZIP containers that tell the format.
_CONTAINERS: tuple[tuple[bytes, str], ...] = (
    (b"xl/", "an Excel workbook"),
    (b"ppt/", "a PowerPoint presentation"),
    (b"application/epub+zip", "an EPUB book"),
    (b"application/vnd.oasis.opendocument", "an OpenDocument file"),
)


def describe(head: bytes) -> str:
    """What the first bytes of a source look like, with an article: "a PNG image"."""
    if head.startswith(b"RIFF"):
        return "a WebP image" if head[8:12] == b"WEBP" else "an audio or video file"
    if head[4:8] == b"ftyp":
        return "a video or HEIF file"
    found = next((name for mark, name in _SIGNATURES if head.startswith(mark)), "")
    if found == "a ZIP archive":
        return next((name for mark, name in _CONTAINERS if mark in head), found)
    return found or "binary data of an unknown format"
