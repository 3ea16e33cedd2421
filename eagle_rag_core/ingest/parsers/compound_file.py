"""Office files of before 2007, and protected ones of today: OLE compound files ([MS-CFB])."""

from __future__ import annotations

from typing import Final, NoReturn

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.failures import label, parse_failed

_SIGNATURE = b"\xd0\xcf\x11\xe0"
#: Name of a stream → what the file is, and what to save it as. Best known first.
_STREAMS: Final = (
    ("WordDocument", "an old Word document (.doc)", ".docx"),
    ("Workbook", "an old Excel workbook (.xls)", ".xlsx"),
    ("PowerPoint Document", "an old PowerPoint presentation (.ppt)", ".pptx"),
    ("__properties_version1.0", "an Outlook message (.msg)", ".eml"),
)
_ENCRYPTED = "EncryptedPackage"
_UNKNOWN = ("an old or encrypted Office file (.doc, .xls, .ppt)", ".docx, .xlsx or .pptx")


def is_compound_file(data: bytes) -> bool:
    return data.startswith(_SIGNATURE)


def is_encrypted(data: bytes) -> bool:
    """Whether the file is a document under a password, as far as ``data`` goes."""
    return _has_stream(data, _ENCRYPTED)


def describe_compound_file(data: bytes) -> tuple[str, str]:
    """What the file is, with an article, and the formats to save it in."""
    if is_encrypted(data):
        return "an Office document protected by a password", ".docx, .xlsx or .pptx"
    found = (entry for entry in _STREAMS if _has_stream(data, entry[0]))
    _, description, target = next(found, ("", *_UNKNOWN))
    return description, target


def refuse_compound_file(data: bytes, name: str) -> NoReturn:
    """Raise the error that says what the file is and what to do with it."""
    if is_encrypted(data):
        raise parse_failed(
            name, "is protected by a password; save a copy without one and ingest that."
        )
    description, target = describe_compound_file(data)
    raise IngestError(
        f"{label(name)} is {description}; save it as {target} without a password.",
        code=ErrorCode.UNSUPPORTED_FORMAT,
    )


def _has_stream(data: bytes, stream: str) -> bool:
    return stream.encode("utf-16-le") in data
