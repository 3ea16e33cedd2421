"""What the head of an HTML page declares about itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from eagle_rag_core.ingest.parsers.declared import iso_date
from eagle_rag_core.ingest.parsers.normalise import one_line

#: Metadata key → the names (``name``, ``property``, ``itemprop``) pages use for it, best first.
_FIELDS = {
    "description": ("description", "og:description", "dcterms.description"),
    "author": ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author"),
    "published": (
        *("article:published_time", "date", "dc.date", "dcterms.date", "dcterms.created"),
        *("citation_publication_date", "datepublished"),
    ),
    "modified": ("article:modified_time", "last-modified", "dcterms.modified", "datemodified"),
    "site_name": ("og:site_name", "application-name"),
}
_DATES = frozenset({"published", "modified"})
_KEYWORDS = ("keywords", "news_keywords", "article:tag", "dc.subject", "citation_keywords")
_TITLES = ("og:title", "citation_title", "dc.title", "dcterms.title", "twitter:title")
_LANGUAGES = ("content-language", "og:locale", "dc.language", "dcterms.language")
_MAX_VALUE = 1_000
_MAX_KEYWORDS = 64


@dataclass(frozen=True, slots=True)
class HtmlMetadata:
    title: str
    language: str
    keywords: tuple[str, ...]
    metadata: dict[str, str]


def read_metadata(root: Any) -> HtmlMetadata:
    """Read the title, the language, the keywords and a few well-known fields."""
    declared: dict[str, list[str]] = {}
    for element in root.iter("meta"):
        for attribute in ("name", "property", "itemprop", "http-equiv"):
            if key := element.get(attribute):
                value = one_line(element.get("content") or "")[:_MAX_VALUE]
                declared.setdefault(key.strip().lower(), []).append(value)
    title = _first(declared, _TITLES) or one_line(root.findtext(".//title") or "")
    language = root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang")
    fields = {key: _first(declared, names) for key, names in _FIELDS.items()}
    return HtmlMetadata(
        title=title[:_MAX_VALUE],
        language=(language or _first(declared, _LANGUAGES)).strip().replace("_", "-"),
        keywords=tuple(_keywords(declared))[:_MAX_KEYWORDS],
        metadata={
            # A date in words still tells a reader more than none.
            key: (iso_date(value) or value) if key in _DATES else value
            for key, value in fields.items()
            if value
        },
    )


def _first(declared: dict[str, list[str]], names: Iterable[str]) -> str:
    return next((value for name in names for value in declared.get(name, ()) if value), "")


def _keywords(declared: dict[str, list[str]]) -> list[str]:
    values = [value for name in _KEYWORDS for value in declared.get(name, ())]
    words = [word.strip() for value in values for word in value.split(",")]
    return list(dict.fromkeys(word for word in words if word))
