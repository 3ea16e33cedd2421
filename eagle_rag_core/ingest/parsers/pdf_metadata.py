"""Title, keywords, language and dates a PDF declares in its XMP packet."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eagle_rag_core.ingest.parsers.declared import NO_TITLE
from eagle_rag_core.ingest.parsers.normalise import one_line

if TYPE_CHECKING:
    from liteparse.types import DocumentMetadata

logger = logging.getLogger(__name__)

_DC = "{http://purl.org/dc/elements/1.1/}"
_PDF = "{http://ns.adobe.com/pdf/1.3/}"
_DATE = re.compile(r"D:(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2}))?")


@dataclass(frozen=True, slots=True)
class PdfMetadata:
    title: str = ""
    language: str = ""
    keywords: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


def read_metadata(declared: DocumentMetadata | None) -> PdfMetadata:
    """Read what the document declares; everything may be missing.

    Source of the fields: ISO 16684-1 (XMP), Dublin Core and Adobe PDF schemas.
    """
    if declared is None:
        return PdfMetadata()
    packet = _packet(declared.xmp or "")
    title = " ".join(_values(packet, f"{_DC}title")[:1])
    listed = [one_line(word) for word in _values(packet, f"{_DC}subject")]
    joined = " ".join(_values(packet, f"{_PDF}Keywords"))
    keywords = listed or [one_line(word) for word in re.split("[,;]", joined)]
    fields = {
        "author": "; ".join(_values(packet, f"{_DC}creator")),
        "description": " ".join(_values(packet, f"{_DC}description")[:1]),
        "created": _date(declared.creation_date),
        "modified": _date(declared.mod_date),
    }
    return PdfMetadata(
        title="" if NO_TITLE.fullmatch(title) else title,
        language=" ".join(_values(packet, f"{_DC}language")[:1]),
        keywords=tuple(dict.fromkeys(word for word in keywords if word)),
        metadata={key: value for key, value in fields.items() if value},
    )


def _packet(xmp: str) -> Any:
    from lxml import etree

    if not xmp.strip():
        return None
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    try:
        return etree.fromstring(xmp.encode("utf-8", errors="replace"), parser)
    except etree.LxmlError:
        logger.info("the XMP packet of a PDF is not readable and is ignored")
        return None


def _values(packet: Any, name: str) -> list[str]:
    """The texts of a property: its list items, or its own text, or the attribute form."""
    if packet is None:
        return []
    values = [one_line(" ".join(found.itertext())) for found in _leaves(packet, name)]
    values += [one_line(element.get(name)) for element in packet.iter() if element.get(name)]
    return [value for value in values if value]


def _leaves(packet: Any, name: str) -> list[Any]:
    items = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}li"
    return [leaf for found in packet.iter(name) for leaf in (list(found.iter(items)) or [found])]


def _date(value: str | None) -> str:
    """A PDF date (``D:20240131093519-06'00'``) as ISO 8601, without its time zone."""
    match = _DATE.match(value or "")
    if not match:
        return ""
    year, month, day, hour, minute, second = match.groups()
    return f"{year}-{month}-{day}" + (f"T{hour}:{minute}:{second}" if hour else "")
