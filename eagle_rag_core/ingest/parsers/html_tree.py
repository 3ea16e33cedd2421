"""Markup in any encoding to a tree of elements."""

from __future__ import annotations

import re
from typing import Any

from eagle_rag_core.ingest.parsers.charset import decode
from eagle_rag_core.ingest.parsers.failures import empty_document, parse_failed

_DECLARED = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?\s*([a-zA-Z0-9_.:-]{2,40})", re.I)
#: Browsers read these labels as their supersets.
_SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252", "us-ascii": "cp1252"}


def read_markup(data: bytes, declared: str = "") -> str | None:
    """The text of an HTML or XHTML page with its tags; None when it is no text.

    :param declared: encoding known from elsewhere; else that which the page names.
    """
    found = _DECLARED.search(data[:4096])
    declared = (declared or (found[1].decode("ascii") if found else "")).lower()
    return decode(data, _SUPERSETS.get(declared, declared))


def read_tree(data: bytes, name: str, declared: str = "") -> Any:
    """The root element of an HTML or XHTML page, without comments. Nothing it names is loaded,
    and entities it declares stay unexpanded.

    :param declared: encoding known from elsewhere; else that which the page names.
    :raises IngestError: it is no text, has no elements, or nests them too deep.
    """
    from lxml import etree
    from lxml.html import HTMLParser, document_fromstring

    text = read_markup(data, declared)
    if text is None:
        raise parse_failed(name, "is not a text file, so it cannot be HTML.")
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    source = text.encode("utf-8", errors="replace").replace(b"\x00", b"")
    try:
        root = document_fromstring(source, parser=parser)
    except (etree.LxmlError, ValueError) as error:
        raise empty_document(name, "holds no HTML elements with text.") from error
    # libxml2 stops there and hands over what it has; half a page must not pass for a page.
    if any("xcessive depth" in entry.message for entry in parser.error_log):
        raise parse_failed(name, "nests its elements more than 2,000 levels deep.")
    return root
