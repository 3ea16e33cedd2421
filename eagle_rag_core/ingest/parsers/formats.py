"""Names what a source is when no parser reads it."""

from __future__ import annotations

from eagle_rag_core.ingest.parsers.compound_file import describe_compound_file, is_compound_file
from eagle_rag_core.ingest.parsers.zip_sniff import zip_kind

#: First bytes → what they are, in words for the caller.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
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
#: Kinds of ZIP archives.
_ARCHIVES: dict[str, str] = {
    "docx": "a Word document",
    "xlsx": "an Excel workbook",
    "pptx": "a PowerPoint presentation",
    "epub": "an EPUB book",
    "odt": "an OpenDocument text",
    "ods": "an OpenDocument spreadsheet",
    "odp": "an OpenDocument presentation",
    "jar": "a Java archive",
    "apk": "an Android package",
    "zip": "a ZIP archive",
}
#: What to do about formats that programs can save as one that is read.
_ADVICE: dict[str, str] = {
    "an RTF document": "Save it as .docx.",
    "an OpenDocument spreadsheet": "Save it as .xlsx.",
    "an OpenDocument presentation": "Save it as .pptx.",
    "a PostScript file": "Convert it to PDF.",
    "a ZIP archive": "Unpack it and ingest what it holds.",
}


def describe(head: bytes) -> str:
    """What the first bytes of a source look like, with an article: "a PNG image"."""
    if head.startswith(b"RIFF"):
        return "a WebP image" if head[8:12] == b"WEBP" else "an audio or video file"
    if head[4:8] == b"ftyp":
        return "a video or HEIF file"
    if is_compound_file(head):
        return describe_compound_file(head)[0]
    if kind := zip_kind(head):
        return _ARCHIVES[kind]
    found = next((name for mark, name in _SIGNATURES if head.startswith(mark)), "")
    return found or "binary data of an unknown format"


def advice(head: bytes) -> str:
    """What to do with a source that no parser reads: a sentence, or ""."""
    if is_compound_file(head):
        return f"Save it as {describe_compound_file(head)[1]} without a password."
    return _ADVICE.get(describe(head), "")


def is_markup_of_print(head: bytes) -> bool:
    """Whether a source is text that only programs read: RTF, PostScript."""
    return head.startswith((b"{\\rtf", b"%!PS"))
