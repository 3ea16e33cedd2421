"""The pages that a site lists in its sitemap (sitemaps.org/protocol)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from eagle_rag_core.errors import ErrorCode, FetchError, InvalidArgument
from eagle_rag_core.ingest.fetch.http import SafeFetcher
from eagle_rag_core.ingest.fetch.source import BoundedBuffer
from eagle_rag_core.ingest.fetch.uris import display_name
from eagle_rag_core.ingest.fetch.urls import WebUrl, parse_web_url
from eagle_rag_core.ingest.sources.crawl_urls import pattern_path
from eagle_rag_core.ingest.sources.items import SkippedItem, SourceItem, SourceSpec
from eagle_rag_core.ingest.sources.patterns import Selection
from eagle_rag_core.ingest.sources.site import Site

#: Bytes of one sitemap when unpacked; the protocol's own limit.
MAX_BYTES = 50 * 1024 * 1024
#: Sitemaps that an index leads to, and how deep indexes may nest.
MAX_SITEMAPS = 500
_MAX_NESTING = 3
_GZIP = 16 + zlib.MAX_WBITS
_PIECE = 1 << 18
_LONGEST_URL = 2048


class SitemapLister:
    """Reads a sitemap, or an index of sitemaps.

    Pages must lie on the host of the sitemap: nobody lists pages for others.

    :param spec: with the URL of the sitemap.
    :param delay: seconds between two pages at least; the site may ask for more.
    """

    def __init__(self, spec: SourceSpec, fetcher: SafeFetcher, *, delay: float) -> None:
        self.complete = False
        self.delay = delay
        self._spec = spec
        self._fetcher = fetcher
        self._selection = Selection(spec.include, spec.exclude)
        self._seen: set[str] = set()
        self._read = 0

    def items(self) -> Iterator[SourceItem | SkippedItem]:
        """:raises FetchError: the sitemap, or one of an index, cannot be read."""
        top = parse_web_url(self._spec.uri)
        site = Site.of(top, self._fetcher)
        self.delay = max(self.delay, site.robots.delay)
        for url, modified in self._entries(top, site, 1):
            item = self._item(url, modified, site)
            if item is None:
                continue
            yield item
            if len(self._seen) >= self._spec.max_pages:
                yield SkippedItem(
                    display_name(self._spec.uri),
                    f"It lists more than {self._spec.max_pages} pages; raise --max-pages.",
                )
                return
        self.complete = True

    def covers(self, uri: str) -> bool:
        return self._selection.takes(pattern_path(parse_web_url(uri)))

    def gone(self, uri: str) -> bool:
        return True

    def _entries(self, url: WebUrl, site: Site, nesting: int) -> Iterator[tuple[str, str]]:
        """The pages below a sitemap: URL and time of the last change, as written."""
        self._read += 1
        if self._read > MAX_SITEMAPS or nesting > _MAX_NESTING:
            raise FetchError(
                f"The sitemap index holds more than {MAX_SITEMAPS} sitemaps or nests deeper than "
                f"{_MAX_NESTING} levels. Name one of its sitemaps."
            )
        kind, entries = _parse(self._fetch(url), display_name(str(url)))
        for location, modified in entries:
            if kind == "urlset":
                yield location, modified
                continue
            inner = _web_url(location)
            if inner is None or not site.holds(inner):
                raise FetchError("The sitemap index names a sitemap on another host.")
            yield from self._entries(inner, site, nesting + 1)

    def _fetch(self, url: WebUrl) -> bytes:
        data = self._fetcher.fetch(str(url)).data
        return _unpacked(data, display_name(str(url)))

    def _item(self, location: str, modified: str, site: Site) -> SourceItem | SkippedItem | None:
        url = _web_url(location)
        if url is None:
            return SkippedItem(location[:200], "It is no web URL.")
        uri = str(url)
        if uri in self._seen:
            return None
        if not site.holds(url):
            return SkippedItem(display_name(uri), "It lies on another host than the sitemap.")
        if not self.covers(uri):
            return None
        if not site.robots.allows(url.target):
            return SkippedItem(display_name(uri), "The site asks robots to stay away from it.")
        self._seen.add(uri)
        return SourceItem(uri, modified)


def _web_url(text: str) -> WebUrl | None:
    if len(text) > _LONGEST_URL:
        return None
    try:
        return parse_web_url(text.strip())
    except InvalidArgument:
        return None


def _unpacked(data: bytes, label: str) -> bytes:
    """A sitemap without its gzip packing, bounded."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    buffer = BoundedBuffer(MAX_BYTES, label)
    unpacker = zlib.decompressobj(_GZIP)
    try:
        while data and not unpacker.eof:
            buffer.add(unpacker.decompress(data, _PIECE))
            data = unpacker.unconsumed_tail
    except zlib.error:
        raise FetchError(f"{label} is damaged: its gzip packing is broken.") from None
    if not unpacker.eof:
        raise FetchError(f"{label} arrived incomplete.", retryable=True)
    return buffer.whole()


def _parse(data: bytes, label: str) -> tuple[str, list[tuple[str, str]]]:
    """The kind of a sitemap (``urlset`` or ``sitemapindex``) and its entries."""
    from lxml import etree

    # No entities, no network, no external definitions: the document comes from anywhere.
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        root = None
    if root is None or _local(root) not in ("urlset", "sitemapindex"):
        raise FetchError(
            f"{label} is no sitemap. Give the URL of the XML file, such as /sitemap.xml.",
            code=ErrorCode.PARSE_FAILED,
        )
    return _local(root), [_entry(element) for element in root if _local(element)]


def _entry(element: Any) -> tuple[str, str]:
    texts = {_local(child): (child.text or "").strip() for child in element}
    return texts.get("loc", ""), texts.get("lastmod", "")[:64]


def _local(element: Any) -> str:
    """The name of an element without its XML namespace; "" for comments."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""
