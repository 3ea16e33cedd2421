"""What a file declares about itself, under one vocabulary for all formats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from types import MappingProxyType
from typing import Final

from eagle_rag_core.ingest.parsers.normalise import one_line

#: Metadata keys the core's parsers use, with their meaning. Dates are ISO 8601.
VOCABULARY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "author": "who wrote it; several are joined by `; `",
        "subject": "what it is about, in the author's words",
        "description": "abstract or summary the file carries",
        "category": "kind of document, in the author's words",
        "publisher": "who published it",
        "identifier": "ISBN, DOI, URN or message id",
        "site_name": "the web site a page belongs to",
        "created": "when it was written or sent",
        "modified": "when it was last changed",
        "published": "when it was published",
        "recipients": "to whom it was sent (To and Cc)",
        "attachments": "names of the files attached to a message",
        "attachments_unread": "attached files whose text is not part of the document",
        "messages": "number of messages in a mailbox",
        "pages": "number of pages or slides",
        "pages_without_text": "pages that show no text",
        "pages_unreadable": "pages that are damaged",
        "pages_by_ocr": "pages whose text was read from a picture, with the mistakes that may hold",
        "pages_need_ocr": "pages that show pictures instead of text, which nothing could read",
        "hidden": "names of sheets, or numbers of slides, that are hidden and therefore not read",
        "sheets": "names of the sheets that are read",
        "rows": "number of rows with content, the header not counted",
        "formulas_without_values": "formulas whose result the file does not hold",
        "records": "number of records in a data file",
        "programming_language": "of source code and notebooks",
    }
)
_MAX_VALUE = 1_000
_MAX_KEYWORDS = 64
_ISO_DATE = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)?"
    r"(Z|[+-]\d\d:?\d\d)?)?)?)?"
)
#: What programs write when nobody gave the document a title.
NO_TITLE: Final = re.compile(
    r"(?:untitled.*|microsoft word - .*|word document|powerpoint presentation"
    r"|powerpoint-präsentation|présentation powerpoint|presentación de powerpoint"
    r"|presentazione standard di powerpoint|powerpoint 演示文稿|powerpoint プレゼンテーション"
    r"|slide 1|.*\.(?:docx?|pptx?|xlsx?|indd|qxd|tex|dvi|pdf))",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Declared:
    """Title, language, keywords and further fields of a file; everything may be missing."""

    title: str = ""
    language: str = ""
    keywords: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


def fields(**values: str | int | date | None) -> dict[str, str]:
    """The fields that have a value, on one line each; dates become ISO 8601."""
    texts = {
        key: value.isoformat() if isinstance(value, date) else one_line(str(value or ""))
        for key, value in values.items()
    }
    return {key: text[:_MAX_VALUE] for key, text in texts.items() if text}


def keywords(values: Iterable[str], separators: str = ",;") -> tuple[str, ...]:
    """Single keywords of values that may each hold several; in order, without repetitions."""
    parts = (part for value in values for part in re.split(f"[{separators}]", value))
    words = (one_line(part)[:_MAX_VALUE] for part in parts)
    return tuple(dict.fromkeys(word for word in words if word))[:_MAX_KEYWORDS]


def iso_date(text: str) -> str:
    """A date as ISO 8601, to the second at most; "" for what is no date in that form."""
    match = _ISO_DATE.fullmatch(one_line(text))
    if not match:
        return ""
    year, month, day, clock, zone = match.groups()
    try:
        datetime.fromisoformat(f"{year}-{month or '01'}-{day or '01'}T{clock or '00:00'}")
    except ValueError:
        return ""
    moment = f"T{clock}{zone or ''}" if clock else ""
    return "-".join(filter(None, (year, month, day))) + moment
