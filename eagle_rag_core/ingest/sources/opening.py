"""From what a user names to a source, and from a source to its lister."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle_rag_core.ingest.sources.items import (
    Lister,
    SkippedItem,
    SourceItem,
    SourceKind,
    SourceSpec,
)

if TYPE_CHECKING:
    from eagle_rag_core.ingest.fetch.http import SafeFetcher
    from eagle_rag_core.ingest.fetch.s3 import S3Client


@dataclass(frozen=True, slots=True)
class SourceTools:
    """What listers reach the world with.

    :param crawl_delay: seconds between two requests to one site, at least.
    :param sleep: waits between requests.
    """

    fetcher: SafeFetcher
    s3: S3Client
    crawl_delay: float
    sleep: Callable[[float], object]


def open_lister(spec: SourceSpec, tools: SourceTools) -> Lister:
    """The lister of a source.

    :raises FetchError: the source cannot be read at all.
    :raises InvalidArgument: a pattern is malformed.
    """
    match spec.kind:
        case SourceKind.FOLDER:
            from eagle_rag_core.ingest.sources.folder import FolderLister

            return FolderLister(spec)
        case SourceKind.CRAWL:
            from eagle_rag_core.ingest.sources.crawl import CrawlLister

            return CrawlLister(spec, tools.fetcher, delay=tools.crawl_delay, sleep=tools.sleep)
        case SourceKind.SITEMAP:
            from eagle_rag_core.ingest.sources.sitemap import SitemapLister

            return SitemapLister(spec, tools.fetcher, delay=tools.crawl_delay)
        case SourceKind.S3:
            from eagle_rag_core.ingest.sources.bucket import BucketLister

            return BucketLister(spec, tools.s3)
        case SourceKind.SINGLE:
            return SingleLister(spec)


class SingleLister:
    """The one item that a file or page is; whether it has changed is for its job to find out."""

    delay = 0.0

    def __init__(self, spec: SourceSpec) -> None:
        self.complete = True
        self._uri = spec.uri

    def items(self) -> Iterator[SourceItem | SkippedItem]:
        yield SourceItem(self._uri)

    def covers(self, uri: str) -> bool:
        return uri == self._uri

    def gone(self, uri: str) -> bool:
        return False
