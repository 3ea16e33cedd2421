"""What a crawler reads from a page: its links and what the page says about itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.ingest.fetch.urls import WebUrl, parse_web_url

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_MOST_LINKS = 5000
_LONGEST_LINK = 2048


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What a page says.

    :param links: that may be followed, in page order, absolute, each once.
    :param canonical: the URL the page wants to be known by, if it names one.
    :param index: it may become a document.
    """

    links: tuple[WebUrl, ...] = ()
    canonical: WebUrl | None = None
    index: bool = True


def read_page(data: bytes, url: str, charset: str = "") -> PageFacts:
    """Read a page; a damaged one as far as it goes.

    :param url: where it came from, for relative links.
    :param charset: as the server declared it.
    """
    root = _tree(data, charset)
    if root is None:
        return PageFacts()
    base = _base(root, url)
    directives = _directives(root)
    follow = not directives & {"nofollow", "none"}
    return PageFacts(
        links=tuple(_links(root, base)) if follow else (),
        canonical=_canonical(root, base),
        index=not directives & {"noindex", "none"},
    )


def _tree(data: bytes, charset: str) -> Any | None:
    from lxml import etree, html

    try:
        return html.document_fromstring(data, parser=html.HTMLParser(encoding=charset or None))
    except (LookupError, ValueError, etree.ParserError):
        if charset:
            return _tree(data, "")
        return None


def _base(root: Any, url: str) -> str:
    for element in root.iter("base"):
        href = element.get("href")
        if href:
            return str(_absolute(url, href) or url)
    return url


def _directives(root: Any) -> set[str]:
    """What ``<meta name="robots">`` asks for."""
    found: set[str] = set()
    for meta in root.iter("meta"):
        if (meta.get("name") or "").strip().lower() in ("robots", "eagle-rag"):
            content = (meta.get("content") or "").lower()
            found.update(word.strip() for word in content.split(","))
    return found


def _canonical(root: Any, base: str) -> WebUrl | None:
    for link in root.iter("link"):
        if "canonical" in (link.get("rel") or "").lower().split():
            return _absolute(base, link.get("href") or "")
    return None


def _links(root: Any, base: str) -> Iterator[WebUrl]:
    seen: set[str] = set()
    for anchor in root.iter("a", "area"):
        href = anchor.get("href")
        if not href or "nofollow" in (anchor.get("rel") or "").lower().split():
            continue
        url = _absolute(base, href)
        if url is not None and str(url) not in seen:
            seen.add(str(url))
            yield url
            if len(seen) >= _MOST_LINKS:
                return


def _absolute(base: str, href: str) -> WebUrl | None:
    """The web URL a reference leads to; None for ``mailto:`` and what is broken."""
    # Browsers drop line ends and tabs inside references.
    text = "".join(href.split("\n")).replace("\r", "").replace("\t", "").strip()
    if not text or len(text) > _LONGEST_LINK:
        return None
    try:
        return parse_web_url(urljoin(base, text))
    except (InvalidArgument, ValueError):
        return None
