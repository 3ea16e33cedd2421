"""One web site: its origin and what it asks of robots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from eagle_rag_core.errors import ErrorCode, FetchError
from eagle_rag_core.ingest.fetch.http import SafeFetcher
from eagle_rag_core.ingest.fetch.urls import DEFAULT_PORTS, WebUrl
from eagle_rag_core.ingest.sources.robots import Robots, parse_robots

#: The name rules in a robots.txt address us by.
PRODUCT = "eagle-rag"


@dataclass(frozen=True, slots=True)
class Site:
    """Scheme, host and port, and the rules there."""

    scheme: str
    host: str
    port: int
    robots: Robots

    @classmethod
    def of(cls, url: WebUrl, fetcher: SafeFetcher) -> Self:
        """The site of a URL.

        :raises FetchError: its robots.txt cannot be had now, so nothing may be asked (RFC 9309
            §2.3.1.4).
        """
        return cls(url.scheme, url.host, _port(url), _robots(url, fetcher))

    def holds(self, url: WebUrl) -> bool:
        """Whether a URL has the same origin."""
        return (url.scheme, url.host, _port(url)) == (self.scheme, self.host, self.port)


def _port(url: WebUrl) -> int:
    return url.port or DEFAULT_PORTS[url.scheme]


def _robots(url: WebUrl, fetcher: SafeFetcher) -> Robots:
    try:
        data = fetcher.fetch(f"{url.scheme}://{url.authority}/robots.txt").data
    except FetchError as error:
        if error.retryable or error.code in (ErrorCode.URL_NOT_ALLOWED, ErrorCode.SOURCE_TOO_LARGE):
            raise
        return Robots()  # there is none
    return parse_robots(data, PRODUCT)
