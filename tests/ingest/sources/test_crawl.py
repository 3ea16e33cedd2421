"""Crawls of a real server on loopback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eagle_rag_core.errors import ErrorCode, FetchError
from eagle_rag_core.ingest.fetch.http import SafeFetcher
from eagle_rag_core.ingest.sources.crawl import CrawlLister
from eagle_rag_core.ingest.sources.items import SkippedItem, SourceItem, SourceKind, SourceSpec

Build = Callable[..., SafeFetcher]


class Site:
    """A site under test: its pages, and what a crawler makes of them."""

    def __init__(self, web: Any, fetcher: Build) -> None:
        self.web = web
        self.fetcher = fetcher
        self.waits: list[float] = []
        self.web.page("/robots.txt", b"", 404)

    def page(self, path: str, *links: str, head: str = "", **headers: str) -> None:
        anchors = "".join(link if "<" in link else f"<a href='{link}'>x</a>" for link in links)
        body = f"<html><head>{head}</head><body>{path} {anchors}</body></html>".encode()
        self.web.page(path, body, **{"Content_Type": "text/html; charset=utf-8", **headers})

    def lister(self, depth: int = 3, start: str = "/", delay: float = 0.0, **options: Any) -> Any:
        spec = SourceSpec(SourceKind.CRAWL, self.web.url(start), "default", depth=depth, **options)
        return CrawlLister(spec, self.fetcher(), delay=delay, sleep=self.waits.append)

    def crawl(self, **options: Any) -> list[str]:
        """Paths of the items."""
        prefix = self.web.url("")
        items = self.lister(**options).items()
        return [item.uri.removeprefix(prefix) for item in items if isinstance(item, SourceItem)]

    def skipped(self, **options: Any) -> dict[str, str]:
        return {
            item.name.partition(str(self.web.port))[2]: item.reason
            for item in self.lister(**options).items()
            if isinstance(item, SkippedItem)
        }

    @property
    def asked(self) -> list[str]:
        return [path for path, _ in self.web.seen]


@pytest.fixture
def site(web: Any, fetcher: Build) -> Site:
    return Site(web, fetcher)


def test_links_are_followed_breadth_first_to_the_depth(site: Site) -> None:
    site.page("/", "/a", "b", "#top", "/")
    site.page("/a", "/a/deep")
    site.page("/b", "/a")
    site.page("/a/deep", "/a/deeper")
    site.page("/a/deeper")
    assert site.crawl(depth=2) == ["/", "/a", "/b", "/a/deep"]
    assert site.asked == ["/robots.txt", "/", "/a", "/b", "/a/deep"]
    assert site.crawl(depth=1) == ["/", "/a", "/b"]


def test_a_complete_crawl_says_so_and_a_cut_one_does_not(site: Site) -> None:
    site.page("/", *(f"/{n}" for n in range(9)))
    for n in range(9):
        site.page(f"/{n}")
    whole, cut = site.lister(), site.lister(max_pages=5)
    assert len(list(whole.items())) == 10 and whole.complete
    found = list(cut.items())
    assert sum(isinstance(item, SourceItem) for item in found) == 5 and not cut.complete
    assert "--max-pages" in str(found[-1])


def test_the_crawl_stays_on_its_origin(site: Site) -> None:
    port = site.web.port
    site.page(
        "/",
        f"http://mirror.example.com:{port}/x",
        f"https://docs.example.com:{port}/x",
        f"http://docs.example.com:{port + 1}/x",
        f"http://inside.example.com:{port}/x",
        f"http://127.0.0.1:{port}/x",
        f"//DOCS.example.com:{port}/ok",
        "mailto:a@example.com",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "http://[broken/",
        "http://user:pw@docs.example.com/",
    )
    site.page("/ok")
    assert site.crawl() == ["/", "/ok"]
    assert site.asked == ["/robots.txt", "/", "/ok"]


def test_a_redirect_to_another_site_yields_nothing(site: Site) -> None:
    site.page("/", "/away", "/moved")
    site.web.redirect("/away", site.web.url("/x", host="mirror.example.com"))
    site.page("/x", "/never")
    site.web.redirect("/moved", "/new")
    site.page("/new")
    assert site.crawl() == ["/", "/new"]
    assert site.skipped() == {"/away": "It leads to another site."}


def test_a_redirect_inside_is_refused_and_told(site: Site, inside: Any) -> None:
    site.page("/", "/trap")
    site.web.redirect("/trap", f"http://inside.example.com:{inside.port}/")
    lister = site.lister()
    refused = [item for item in lister.items() if isinstance(item, SkippedItem)]
    assert [item.refused for item in refused] == [True]
    assert inside.seen == [] and not lister.complete


class TestRobots:
    def test_rules_hold_for_links_redirects_and_canonical_names(self, site: Site) -> None:
        site.web.page("/robots.txt", b"User-agent: *\nDisallow: /private\nAllow: /private/open")
        site.page("/", "/private/a", "/private/open", "/hop", "/canonical")
        site.page("/private/a")
        site.page("/private/open")
        site.web.redirect("/hop", "/private/a")
        site.page("/canonical", head="<link rel=canonical href=/private/b>")
        assert site.crawl() == ["/", "/private/open", "/canonical"]
        assert site.skipped() == {"/hop": "The site asks robots to stay away from it."}

    def test_our_own_rules_win_over_those_for_all(self, site: Site) -> None:
        site.web.page(
            "/robots.txt", b"User-agent: *\nDisallow: /\nUser-agent: eagle-rag\nDisallow: /x"
        )
        site.page("/", "/x", "/y")
        site.page("/y")
        assert site.crawl() == ["/", "/y"]
        assert site.web.seen[0][1]["User-Agent"].startswith("eagle-rag/")

    def test_a_site_that_wants_no_robots_is_left_alone(self, site: Site) -> None:
        site.web.page("/robots.txt", b"User-agent: *\nDisallow: /")
        with pytest.raises(FetchError, match="stay away"):
            site.crawl()
        assert site.asked == ["/robots.txt"]

    @pytest.mark.parametrize(("status", "crawled"), [(404, True), (403, True), (410, True)])
    def test_no_rules_allow_everything(self, site: Site, status: int, crawled: bool) -> None:
        site.web.page("/robots.txt", b"", status)
        site.page("/")
        assert site.crawl() == ["/"]

    @pytest.mark.parametrize("status", [500, 503, 429])
    def test_rules_that_cannot_be_read_now_forbid_everything(self, site: Site, status: int) -> None:
        site.web.page("/robots.txt", b"", status, Retry_After="30")
        with pytest.raises(FetchError) as caught:
            site.crawl()
        assert caught.value.retryable and caught.value.retry_after_s == 30

    def test_the_sites_delay_counts_when_it_is_longer(self, site: Site) -> None:
        site.web.page("/robots.txt", b"User-agent: *\nCrawl-delay: 7")
        site.page("/", "/a", "/b")
        site.page("/a")
        site.page("/b")
        site.crawl(delay=0.5)
        assert site.waits == [7, 7]

    def test_ours_counts_otherwise(self, site: Site) -> None:
        site.page("/", "/a")
        site.page("/a")
        site.crawl(delay=0.5)
        assert site.waits == [0.5]


class TestWhatPagesSay:
    def test_nofollow_and_noindex(self, site: Site) -> None:
        site.page("/", "<a rel='external nofollow' href=/n>x</a>", "/meta", "/noindex", "/none")
        site.page("/meta", "/m", head="<meta name=ROBOTS content='NOFOLLOW'>")
        site.page("/noindex", "/i", head="<meta name=robots content='noindex'>")
        site.page("/none", "/o", head="<meta name=robots content='none'>")
        for path in ("/n", "/m", "/i", "/o"):
            site.page(path)
        assert site.crawl() == ["/", "/meta", "/i"]

    def test_pages_are_known_by_their_canonical_url(self, site: Site) -> None:
        site.page("/", "/a?view=print", "/a", "/b", "/c")
        canonical = "<link rel='Canonical' href='/a'>"
        site.page("/a", head=canonical)
        site.page("/b", head="<link rel=canonical href='https://elsewhere.example/b'>")
        site.page("/c", head="<link rel=canonical href='http://[/'>")
        assert site.crawl() == ["/", "/a", "/b", "/c"]

    def test_links_start_at_the_base(self, site: Site) -> None:
        site.page("/", "x", head="<base href=/docs/>")
        site.page("/docs/x")
        assert site.crawl() == ["/", "/docs/x"]

    def test_damaged_and_foreign_pages_do_no_harm(self, site: Site) -> None:
        site.web.page(
            "/", b"<a href='/a'><a href='/b\xff\xfe'><p>\x00<<<<", Content_Type="text/html"
        )
        site.web.page("/a", b"\x00\x01", Content_Type="text/html; charset=no-such-charset")
        site.web.page("/b%FF%FE", b"<p>b", Content_Type="text/html")
        assert "/a" in site.crawl()


class TestUrls:
    def test_spellings_and_tracking_make_no_second_page(self, site: Site) -> None:
        port = site.web.port
        site.page(
            "/",
            "/a?utm_source=x&utm_medium=y",
            "/a?fbclid=1",
            "/a;jsessionid=ABC",
            "/./x/../a",
            "/%61",
            f"http://docs.example.com.:{port}/a#b",
            "/a?id=1&utm_campaign=z",
        )
        site.page("/a")
        assert site.crawl() == ["/", "/a", "/a?id=1"]

    def test_queries_do_not_explode(self, site: Site) -> None:
        site.page("/", *(f"/calendar?day={n}" for n in range(200)))
        site.page("/calendar", *(f"/calendar?day={n}" for n in range(200, 400)))
        assert len(site.crawl(depth=5)) == 21

    def test_media_are_not_asked_for_and_documents_once(self, site: Site) -> None:
        site.page("/", "/logo.png", "/style.css", "/film.MP4", "/paper.pdf", "/paper.pdf#p2")
        assert site.crawl() == ["/", "/paper.pdf"]
        assert site.asked == ["/robots.txt", "/"]

    def test_types_decide_where_the_name_does_not(self, site: Site) -> None:
        site.page("/", "/video", "/report", "/nothing")
        site.web.page("/video", b"x" * 500_000, Content_Type="video/mp4")
        site.web.page("/report", b"%PDF-1.7 x", Content_Type="application/pdf")
        site.web.page("/nothing", b"", 404)
        assert site.crawl() == ["/", "/report"]
        assert set(site.skipped()) == {"/video", "/nothing"}

    def test_patterns_hold_for_paths(self, site: Site) -> None:
        site.page("/", "/docs/a", "/blog/b")
        site.page("/docs/a", "/docs/c")
        site.page("/blog/b", "/docs/hidden")
        site.page("/docs/c")
        site.page("/docs/hidden")
        assert site.crawl(include=("docs/",), exclude=("blog/",)) == ["/docs/a", "/docs/c"]
        assert "/blog/b" not in site.asked


def test_a_first_page_that_fails_fails_the_crawl(site: Site) -> None:
    site.web.page("/", b"", 503)
    with pytest.raises(FetchError) as caught:
        site.crawl()
    assert caught.value.retryable


def test_a_later_page_that_fails_is_told_and_the_rest_is_read(site: Site) -> None:
    site.page("/", "/bad", "/good")
    site.web.page("/bad", b"", 500)
    site.page("/good")
    lister = site.lister()
    found = list(lister.items())
    assert [item.refused for item in found if isinstance(item, SkippedItem)] == [True]
    assert not lister.complete
    assert site.crawl() == ["/", "/good"]


def test_only_the_site_itself_says_that_a_page_is_gone(site: Site) -> None:
    site.page("/here")
    site.web.page("/gone", b"", 410)
    site.web.page("/broken", b"", 500)
    lister = site.lister()
    gone = {path: lister.gone(site.web.url(path)) for path in ("/here", "/gone", "/broken")}
    assert gone == {"/here": False, "/gone": True, "/broken": False}


def test_the_revision_is_the_content(site: Site) -> None:
    site.page("/")
    first = [item.revision for item in site.lister().items()]
    assert [item.revision for item in site.lister().items()] == first and first[0]
    site.page("/", "/new")
    site.page("/new")
    assert next(iter(site.lister().items())).revision != first[0]


def test_no_cookie_is_kept(site: Site) -> None:
    site.page("/", "/a", Set_Cookie="id=1; Path=/")
    site.page("/a")
    site.crawl()
    assert not any("Cookie" in headers for _, headers in site.web.seen)


def test_redirects_in_a_circle_end(site: Site) -> None:
    site.page("/", "/a")
    site.web.redirect("/a", "/b")
    site.web.redirect("/b", "/a")
    assert site.crawl() == ["/"]
    assert site.skipped()["/a"].endswith("Give the URL it ends at.")


def test_a_name_that_turns_inside_is_refused(site: Site, hosts: Any, inside: Any) -> None:
    """DNS rebinding: the second look at the name answers with an inside address."""
    hosts.answers["docs.example.com"] = [["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"]]
    site.page("/", "/a")
    site.page("/a")
    lister = site.lister()
    refused = [item for item in lister.items() if isinstance(item, SkippedItem)]
    assert [item.refused for item in refused] == [True]
    assert "public internet" in refused[0].reason
    assert inside.seen == []


def test_a_page_too_large_or_packed_too_tightly_is_refused(site: Site) -> None:
    import gzip

    site.page("/", "/big", "/bomb")
    site.web.page("/big", b"x" * 200_000, Content_Type="text/html")
    bomb = gzip.compress(b"x" * 20_000_000)
    site.web.page("/bomb", bomb, Content_Type="text/html", Content_Encoding="gzip")
    found = [item for item in site.lister().items() if isinstance(item, SkippedItem)]
    assert all(item.refused and "ingest.max_bytes" in item.reason for item in found)
    assert len(found) == 2


def test_a_path_to_a_local_host_is_refused_before_anything_is_asked(fetcher: Build) -> None:
    spec = SourceSpec(SourceKind.CRAWL, "http://localhost/", "default", depth=1)
    lister = CrawlLister(spec, fetcher(), delay=0)
    with pytest.raises(FetchError) as caught:
        list(lister.items())
    assert caught.value.code is ErrorCode.URL_NOT_ALLOWED
