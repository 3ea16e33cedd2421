"""The pages of one site, found by following its links."""

from __future__ import annotations

import hashlib
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from eagle_rag_core.errors import ErrorCode, FetchError
from eagle_rag_core.ingest.fetch.http import SafeFetcher
from eagle_rag_core.ingest.fetch.source import FetchedSource
from eagle_rag_core.ingest.fetch.uris import display_name
from eagle_rag_core.ingest.fetch.urls import WebUrl, parse_web_url
from eagle_rag_core.ingest.sources.crawl_urls import DOCUMENTS, OTHERS, pattern_path, tidy
from eagle_rag_core.ingest.sources.items import SkippedItem, SourceItem, SourceSpec
from eagle_rag_core.ingest.sources.pages import HTML_TYPES, PageFacts, read_page
from eagle_rag_core.ingest.sources.patterns import Selection
from eagle_rag_core.ingest.sources.site import Site

#: What is fetched at all; anything else is closed after its headers.
_WANTED_TYPES = HTML_TYPES | {
    "",
    "application/msword",
    "application/octet-stream",
    "application/pdf",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "text/csv",
    "text/markdown",
    "text/plain",
    "text/x-rst",
}
#: Different queries followed on one path: calendars and filters have no end.
_MOST_QUERIES = 20
#: Requests for each page that may become an item: redirects, doubles and refusals count too.
_REQUESTS_PER_PAGE = 3


class CrawlLister:
    """Walks a site breadth first, from one page, along links within its origin.

    :param spec: with the URL of the first page, the depth and the number of pages.
    :param delay: seconds between two requests at least; the site may ask for more.
    :param sleep: waits; replaced in tests.
    """

    def __init__(
        self,
        spec: SourceSpec,
        fetcher: SafeFetcher,
        *,
        delay: float,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.complete = False
        self.delay = delay
        self._spec = spec
        self._fetcher = fetcher
        self._sleep = sleep
        self._selection = Selection(spec.include, spec.exclude)
        self._queue: deque[tuple[WebUrl, int]] = deque()
        self._queued: set[str] = set()
        self._yielded: set[str] = set()
        self._queries: Counter[str] = Counter()
        self._requests = 0
        self._unread = 0

    def items(self) -> Iterator[SourceItem | SkippedItem]:
        """The pages, and the documents they lead to.

        :raises FetchError: the site's robots.txt or the first page cannot be read.
        """
        first = tidy(parse_web_url(self._spec.uri))
        site = Site.of(first, self._fetcher)
        self.delay = max(self.delay, site.robots.delay)
        if not site.robots.allows(first.target):
            raise FetchError(
                f"{display_name(self._spec.uri)} asks robots to stay away.",
                code=ErrorCode.URL_NOT_ALLOWED,
            )
        self._add(first, 0, site)
        while self._queue:
            if len(self._yielded) >= self._spec.max_pages:
                yield self._too_many("pages")
                return
            if self._requests >= self._spec.max_pages * _REQUESTS_PER_PAGE:
                yield self._too_many("addresses")
                return
            url, depth = self._queue.popleft()
            yield from self._visit(url, depth, site)
        self.complete = not self._unread

    def covers(self, uri: str) -> bool:
        return self._selection.takes(pattern_path(parse_web_url(uri)))

    def gone(self, uri: str) -> bool:
        """Whether the site says so: a page that no link leads to any more may still be there."""
        self._pause()
        try:
            self._fetcher.fetch(uri, media_types=_WANTED_TYPES)
        except FetchError as error:
            return error.code is ErrorCode.SOURCE_NOT_FOUND
        return False

    def _visit(self, url: WebUrl, depth: int, site: Site) -> Iterator[SourceItem | SkippedItem]:
        if _suffix(url) in DOCUMENTS:  # no links in there; its job fetches it
            yield from self._item(str(url), "")
            return
        self._pause()
        try:
            page = self._fetcher.fetch(str(url), media_types=_WANTED_TYPES)
        except FetchError as error:
            if not self._yielded and depth == 0:
                raise  # nothing is known of the site without its first page
            if error.code is ErrorCode.UNSUPPORTED_FORMAT:
                yield SkippedItem(display_name(str(url)), "It is neither a page nor a document.")
                return
            self._unread += error.code is not ErrorCode.SOURCE_NOT_FOUND
            refused = error.code not in (ErrorCode.SOURCE_NOT_FOUND, ErrorCode.EMPTY_DOCUMENT)
            yield SkippedItem(display_name(str(url)), error.message, refused=refused)
            return
        yield from self._take(page, url, depth, site)

    def _take(
        self, page: FetchedSource, url: WebUrl, depth: int, site: Site
    ) -> Iterator[SourceItem | SkippedItem]:
        """The item that a fetched page is; its links go to the queue."""
        final = tidy(parse_web_url(page.final_uri))
        label = display_name(str(url))
        if not site.holds(final):
            yield SkippedItem(label, "It leads to another site.")
            return
        if not site.robots.allows(final.target):
            yield SkippedItem(label, "The site asks robots to stay away from it.")
            return
        self._queued.add(str(final))
        facts = PageFacts()
        if page.media_type in HTML_TYPES or not page.media_type:
            facts = read_page(page.data, page.final_uri, page.charset)
        if depth < self._spec.depth:
            for link in facts.links:
                self._add(tidy(link), depth + 1, site)
        if not facts.index:
            yield SkippedItem(label, "The page asks not to be indexed.")
            return
        known_as = facts.canonical and tidy(facts.canonical)
        if known_as is None or not (site.holds(known_as) and site.robots.allows(known_as.target)):
            known_as = final
        self._queued.add(str(known_as))
        yield from self._item(str(known_as), hashlib.sha256(page.data).hexdigest())

    def _item(self, uri: str, revision: str) -> Iterator[SourceItem]:
        if uri not in self._yielded and self.covers(uri):
            self._yielded.add(uri)
            yield SourceItem(uri, revision)

    def _add(self, url: WebUrl, depth: int, site: Site) -> None:
        """Put a URL into the queue, unless it is known, elsewhere, or not wanted."""
        text = str(url)
        if text in self._queued or not site.holds(url) or _suffix(url) in OTHERS:
            return
        # Left out means left out with everything behind it.
        if depth and not self._selection.admits(pattern_path(url)):
            return
        if depth and not site.robots.allows(url.target):
            return
        if url.query:
            self._queries[url.path] += 1
            if self._queries[url.path] > _MOST_QUERIES:
                return
        self._queued.add(text)
        self._queue.append((url, depth))

    def _pause(self) -> None:
        if self._requests:
            self._sleep(self.delay)
        self._requests += 1

    def _too_many(self, what: str) -> SkippedItem:
        return SkippedItem(
            display_name(self._spec.uri),
            f"There are more {what} than {self._spec.max_pages} pages allow; raise --max-pages.",
        )


def _suffix(url: WebUrl) -> str:
    return PurePosixPath(url.path).suffix.lower()
