"""The errors parsers raise, worded for the caller."""

from __future__ import annotations

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.models.ocr import HOW_TO_INSTALL, READABLE_SCRIPTS


def label(name: str) -> str:
    """How messages call the source."""
    return name or "The source"


def empty_document(name: str, reason: str) -> IngestError:
    """There is nothing to index."""
    return IngestError(f"{label(name)} {reason}", code=ErrorCode.EMPTY_DOCUMENT)


def parse_failed(name: str, reason: str) -> IngestError:
    """The bytes are not what the format demands."""
    return IngestError(f"{label(name)} {reason}", code=ErrorCode.PARSE_FAILED)


def no_ocr(name: str, what: str) -> IngestError:
    """The text exists as pictures only, and there is no engine to read them.

    :param what: a sentence without its subject: "is a picture."
    """
    return IngestError(f"{label(name)} {what} {HOW_TO_INSTALL}", code=ErrorCode.NEEDS_OCR)


def illegible(name: str, what: str) -> IngestError:
    """The text exists as pictures only, and the engine cannot read it.

    :param what: the beginning of a sentence: "has 3 pages".
    """
    return IngestError(
        f"{label(name)} {what} with writing that the OCR engine cannot read: it is in another "
        f"script than {READABLE_SCRIPTS}, handwritten or blurred. Run another OCR on it and "
        "ingest the result.",
        code=ErrorCode.NEEDS_OCR,
    )


def refuse_empty(data: bytes, name: str) -> None:
    """Raise for a source of no bytes, or of NUL bytes only, as interrupted copies leave behind.

    :raises IngestError: code ``empty_document``.
    """
    if not data:
        raise empty_document(name, "is empty (0 bytes).")
    if not data.strip(b"\x00"):
        raise empty_document(name, "holds only NUL bytes; the copy of the file is damaged.")
