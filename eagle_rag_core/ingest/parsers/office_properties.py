"""Core properties of Office Open XML packages (ECMA-376 part 2, section 11)."""

from __future__ import annotations

import logging
import zipfile
from typing import Any

from eagle_rag_core.ingest.parsers.declared import (
    NO_TITLE,
    Declared,
    fields,
    iso_date,
    keywords,
)
from eagle_rag_core.ingest.parsers.normalise import one_line
from eagle_rag_core.ingest.parsers.zip_container import DAMAGE

logger = logging.getLogger(__name__)

_USUAL_PLACE = "docProps/core.xml"
#: Where .NET's packaging puts them.
_OTHER_PLACE = ".psmdcp"


def read_properties(archive: zipfile.ZipFile) -> Declared:
    """Read them as they stand; a package without readable ones declares nothing."""
    from lxml import etree

    names = archive.namelist()
    member = next((n for n in names if n == _USUAL_PLACE or n.endswith(_OTHER_PLACE)), "")
    if not member:
        return Declared()
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(archive.read(member), parser)
    except (*DAMAGE, etree.LxmlError) as error:
        logger.info("core properties are not readable: %s", type(error).__name__)
        return Declared()
    texts = _texts(root)
    title = texts.get("title", "")
    return Declared(
        title="" if NO_TITLE.fullmatch(title) else title,
        language=texts.get("language", ""),
        keywords=keywords([texts.get("keywords", "")]),
        metadata=fields(
            author=texts.get("creator"),
            subject=texts.get("subject"),
            description=texts.get("description"),
            category=texts.get("category"),
            created=iso_date(texts.get("created", "")),
            modified=iso_date(texts.get("modified", "")),
        ),
    )


def _texts(root: Any) -> dict[str, str]:
    """Local name of each property → its text; names are unique among the namespaces in use."""
    found: dict[str, str] = {}
    for element in root.iterchildren("*"):
        text = one_line("".join(element.itertext()))
        found.setdefault(element.tag.rpartition("}")[2], text)
    return found
