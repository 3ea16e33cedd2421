"""Sitemaps of a real server on loopback."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import pytest

from eagle_rag_core.errors import FetchError
from eagle_rag_core.ingest.fetch.http import SafeFetcher
from eagle_rag_core.ingest.sources import sitemap
from eagle_rag_core.ingest.sources.items import SkippedItem, SourceItem, SourceKind, SourceSpec
from eagle_rag_core.ingest.sources.sitemap import SitemapLister

Build = Callable[..., SafeFetcher]
_XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


class Maps:
    def __init__(self, web: Any, fetcher: Build) -> None:
        self.web = web
        self.fetcher = fetcher
        web.page("/robots.txt", b"", 404)

    def urls(self, path: str, *pages: str, pack: bool = False, host: str = "") -> None:
        """Hang up a sitemap; a page is a path, or ``path@lastmod``."""
        entries = "".join(self._entry(page, host) for page in pages)
        data = f"<?xml version='1.0'?><urlset {_XMLNS}>{entries}</urlset>".encode()
        self.web.page(path, gzip.compress(data) if pack else data, Content_Type="text/xml")

    def index(self, path: str, *maps: str) -> None:
        inner = "".join(f"<sitemap><loc>{self.web.url(one)}</loc></sitemap>" for one in maps)
        self.web.page(path, f"<sitemapindex {_XMLNS}>{inner}</sitemapindex>".encode())

    def _entry(self, page: str, host: str) -> str:
        path, _, modified = page.partition("@")
        url = self.web.url(path, host=host) if host else self.web.url(path)
        lastmod = f"<lastmod>{modified}</lastmod>" if modified else ""
        return f"<url><loc> {url} </loc>{lastmod}<priority>1</priority></url>"

    def lister(self, path: str = "/sitemap.xml", **options: Any) -> SitemapLister:
        spec = SourceSpec(SourceKind.SITEMAP, self.web.url(path), "default", **options)
        return SitemapLister(spec, self.fetcher(), delay=0.0)

    def read(self, path: str = "/sitemap.xml", **options: Any) -> list[tuple[str, str]]:
        found = self.lister(path, **options).items()
        prefix = self.web.url("")
        return [
            (item.uri.removeprefix(prefix), item.revision)
            for item in found
            if isinstance(item, SourceItem)
        ]


@pytest.fixture
def maps(web: Any, fetcher: Build) -> Maps:
    return Maps(web, fetcher)


def test_pages_come_with_the_time_of_their_last_change(maps: Maps) -> None:
    maps.urls("/sitemap.xml", "/a@2026-01-02", "/b", "/a", "/%63#x")
    assert maps.read() == [("/a", "2026-01-02"), ("/b", ""), ("/c", "")]
    lister = maps.lister()
    list(lister.items())
    assert lister.complete
    assert [path for path, _ in maps.web.seen][:2] == ["/robots.txt", "/sitemap.xml"]


def test_indexes_and_packed_sitemaps_are_unfolded(maps: Maps) -> None:
    maps.index("/sitemap.xml", "/one.xml.gz", "/two.xml")
    maps.urls("/one.xml.gz", "/a", pack=True)
    maps.urls("/two.xml", "/b")
    assert [uri for uri, _ in maps.read()] == ["/a", "/b"]


def test_pages_of_other_hosts_and_forbidden_ones_are_skipped(maps: Maps) -> None:
    maps.web.page("/robots.txt", b"User-agent: *\nDisallow: /private\nCrawl-delay: 3")
    maps.urls("/sitemap.xml", "/a", "/private/b", "/c")
    lister = maps.lister(exclude=("c",))
    found = list(lister.items())
    assert sum(isinstance(item, SourceItem) for item in found) == 1
    assert [item.reason for item in found if isinstance(item, SkippedItem)] == [
        "The site asks robots to stay away from it."
    ]
    assert lister.delay == 3
    maps.urls("/sitemap.xml", "/a", host="mirror.example.com")
    assert maps.read() == []


@pytest.mark.parametrize(
    "body",
    [
        b"<html><body>Not found</body></html>",
        b"not xml",
        b"<urlset><url>",
        b"\x1f\x8bnot gzip at all",
        b"<!DOCTYPE x [<!ENTITY a 'b'>]><rss/>",
    ],
)
def test_what_is_no_sitemap_fails(maps: Maps, body: bytes) -> None:
    maps.web.page("/sitemap.xml", body)
    with pytest.raises(FetchError, match="sitemap"):
        maps.read()


def test_a_sitemap_that_is_cut_off_can_be_tried_again(maps: Maps) -> None:
    maps.web.page("/sitemap.xml", gzip.compress(b"<urlset/>" * 100)[:-12])
    with pytest.raises(FetchError) as caught:
        maps.read()
    assert caught.value.retryable


def test_entities_are_not_expanded_and_files_not_read(maps: Maps) -> None:
    laughs = "".join(
        f"<!ENTITY l{n} '{f'&l{n - 1};' * 10 if n else 'http://docs.example.com/'}'>"
        for n in range(9)
    )
    body = (
        f"<!DOCTYPE urlset [{laughs}<!ENTITY file SYSTEM 'file:///etc/passwd'>]>"
        "<urlset><url><loc>&l8;</loc></url><url><loc>&file;</loc></url></urlset>"
    )
    maps.web.page("/sitemap.xml", body.encode())
    with pytest.raises(FetchError, match="no sitemap"):
        maps.read()
    maps.web.page("/sitemap.xml", body.replace("&l8;", "").encode())
    assert maps.read() == []


def test_a_packed_bomb_does_not_unfold(maps: Maps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MAX_BYTES", 10_000)
    maps.web.page("/sitemap.xml", gzip.compress(b" " * 1_000_000))
    with pytest.raises(FetchError, match="larger than 10000 bytes"):
        maps.read()


def test_an_index_that_names_itself_ends(maps: Maps) -> None:
    maps.index("/sitemap.xml", "/sitemap.xml")
    with pytest.raises(FetchError, match="nests deeper"):
        maps.read()


def test_an_index_of_too_many_ends(maps: Maps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MAX_SITEMAPS", 3)
    maps.index("/sitemap.xml", *["/one.xml"] * 5)
    maps.urls("/one.xml", "/a")
    with pytest.raises(FetchError, match="more than 3 sitemaps"):
        maps.read()


def test_an_index_may_not_lead_elsewhere(maps: Maps, inside: Any) -> None:
    target = f"http://inside.example.com:{inside.port}/s.xml"
    body = f"<sitemapindex><sitemap><loc>{target}</loc></sitemap></sitemapindex>"
    maps.web.page("/sitemap.xml", body.encode())
    with pytest.raises(FetchError, match="another host"):
        maps.read()
    assert inside.seen == []


def test_the_number_of_pages_is_bounded_and_told(maps: Maps) -> None:
    maps.urls("/sitemap.xml", *(f"/{n}" for n in range(50)))
    lister = maps.lister(max_pages=10)
    found = list(lister.items())
    assert len(found) == 11 and "--max-pages" in str(found[-1]) and not lister.complete
