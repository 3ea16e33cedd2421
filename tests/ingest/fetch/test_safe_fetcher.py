from __future__ import annotations

import gzip
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from eagle_rag_core import __version__
from eagle_rag_core.errors import ErrorCode, FetchError, InvalidArgument
from eagle_rag_core.ingest.fetch.http import SafeFetcher

# The fixtures' classes live beside them; tests see them through the fixtures only.
Build = Callable[..., SafeFetcher]


def refusal(fetcher: SafeFetcher, url: str, **validators: str) -> FetchError:
    with pytest.raises(FetchError) as caught:
        fetcher.fetch(url, **validators)
    return caught.value


class TestAnswers:
    def test_what_the_server_said_is_reported(self, web, fetcher: Build) -> None:
        web.page(
            "/doc.html",
            "<p>é</p>".encode("latin-1"),
            Content_Type="Text/HTML; charset=ISO-8859-1",
            ETag='W/"1"',
            Last_Modified="Wed, 21 Oct 2015 07:28:00 GMT",
        )
        url = web.url("/doc.html")
        source = fetcher().fetch(url.replace("http", "HTTP") + "#part")
        assert source.data == b"<p>\xe9</p>"
        assert (source.media_type, source.charset) == ("text/html", "iso-8859-1")
        assert (source.uri, source.final_uri, source.name) == (url, url, "doc.html")
        assert (source.etag, source.not_modified) == ('W/"1"', False)
        assert source.metadata == {
            "charset": "iso-8859-1",
            "etag": 'W/"1"',
            "last_modified": "Wed, 21 Oct 2015 07:28:00 GMT",
        }

    def test_a_type_that_does_not_fit_the_bytes_is_reported_not_judged(
        self, web, fetcher: Build
    ) -> None:
        web.page("/paper.pdf", b"%PDF-1.7", Content_Type="text/html")
        source = fetcher().fetch(web.url("/paper.pdf"))
        assert (source.data, source.media_type, source.name) == (
            b"%PDF-1.7",
            "text/html",
            "paper.pdf",
        )

    def test_a_download_is_named_by_its_server(self, web, fetcher: Build) -> None:
        web.page("/get", Content_Disposition='attachment; filename="report.docx"')
        assert fetcher().fetch(web.url("/get?id=7")).name == "report.docx"

    def test_what_the_server_is_told(self, web, fetcher: Build) -> None:
        web.page("/a;v=1/b;w=2")
        fetcher().fetch(web.url("/a;v=1/b;w=2?q=%C3%A9&x=a;b"))
        path, headers = web.seen[0]
        assert path == "/a;v=1/b;w=2?q=%C3%A9&x=a;b"
        assert headers["Host"] == f"docs.example.com:{web.port}"
        assert headers["User-Agent"] == f"eagle-rag/{__version__}"
        assert headers["Accept-Encoding"] == "gzip"
        assert not {"Cookie", "Authorization", "Referer"} & set(headers)

    def test_compressed_pages_arrive_unpacked(self, web, fetcher: Build) -> None:
        web.page("/a", gzip.compress(b"text" * 1000), Content_Encoding="gzip")
        assert fetcher().fetch(web.url("/a")).data == b"text" * 1000

    def test_unchanged_pages_are_not_sent_again(self, web, fetcher: Build) -> None:
        web.page("/a", b"", 304, ETag='"é2"')
        source = fetcher().fetch(web.url("/a"), etag='"é1"', last_modified="yesterday")
        assert source.not_modified
        assert (source.data, source.etag, source.last_modified) == (b"", '"é2"', "yesterday")
        _, headers = web.seen[0]
        assert headers["If-None-Match"].encode("latin-1").decode() == '"é1"'
        assert headers["If-Modified-Since"] == "yesterday"

    def test_unchanged_is_no_answer_to_a_first_question(self, web, fetcher: Build) -> None:
        web.page("/a", b"", 304)
        assert refusal(fetcher(), web.url("/a")).code is ErrorCode.FETCH_FAILED
        _, headers = web.seen[0]
        assert "If-None-Match" not in headers and "If-Modified-Since" not in headers

    @pytest.mark.parametrize(
        ("status", "retryable"), [(404, False), (403, False), (429, True), (503, True)]
    )
    def test_error_pages_are_not_the_source(
        self, web, fetcher: Build, status: int, retryable: bool
    ) -> None:
        web.page("/a", b"<h1>Sorry</h1>", status, Retry_After="7")
        error = refusal(fetcher(), web.url("/a?key=secret"))
        missing = status == 404
        assert error.code is (ErrorCode.SOURCE_NOT_FOUND if missing else ErrorCode.FETCH_FAILED)
        assert (error.retryable, error.retry_after_s) == (retryable, 7)
        assert str(status) in error.message
        assert "secret" not in error.message and "Sorry" not in error.message

    def test_a_body_of_an_unwanted_type_is_not_read(self, web, fetcher: Build) -> None:
        web.page("/film", b"x" * 200_000, Content_Type="video/mp4")
        with pytest.raises(FetchError, match="video/mp4") as caught:
            fetcher().fetch(web.url("/film"), media_types={"text/html"})
        assert caught.value.code is ErrorCode.UNSUPPORTED_FORMAT
        web.page("/page", b"<p>x", Content_Type="text/html; charset=utf-8")
        assert fetcher().fetch(web.url("/page"), media_types={"text/html"}).data == b"<p>x"

    def test_an_empty_page_is_no_document(self, web, fetcher: Build) -> None:
        web.page("/a", b"")
        assert refusal(fetcher(), web.url("/a")).code is ErrorCode.EMPTY_DOCUMENT

    @pytest.mark.parametrize("url", ["file:///etc/passwd", "/etc/passwd", "ftp://example.com/", ""])
    def test_only_web_urls_are_fetched(self, fetcher: Build, url: str) -> None:
        with pytest.raises(InvalidArgument):
            fetcher().fetch(url)


class TestRedirects:
    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_are_followed(self, web, fetcher: Build, status: int) -> None:
        web.redirect("/old", "new/./page?x=1#top", status)
        web.page("/new/page", b"moved")
        source = fetcher().fetch(web.url("/old"))
        assert source.data == b"moved"
        assert source.uri == web.url("/old")
        assert source.final_uri == source.metadata["final_uri"] == web.url("/new/page?x=1")
        assert source.name == "page"

    def test_to_another_host_are_resolved_and_checked_there(
        self, web, fetcher: Build, hosts
    ) -> None:
        web.redirect("/old", web.url("/new", host="mirror.example.com"))
        web.page("/new", b"moved")
        assert fetcher().fetch(web.url("/old")).data == b"moved"
        assert hosts.asked == ["docs.example.com", "mirror.example.com"]
        assert web.seen[1][1]["Host"] == f"mirror.example.com:{web.port}"

    def test_end_after_five(self, web, fetcher: Build) -> None:
        for number in range(6):
            web.redirect(f"/{number}", f"/{number + 1}")
        web.page("/6", b"too far")
        assert fetcher().fetch(web.url("/1")).data == b"too far"
        error = refusal(fetcher(), web.url("/0"))
        assert "more than 5 times" in error.message and not error.retryable

    def test_in_a_circle_end(self, web, fetcher: Build) -> None:
        web.redirect("/a", "/b")
        web.redirect("/b", "/a")
        assert not refusal(fetcher(), web.url("/a")).retryable
        assert len(web.seen) == 6

    def test_without_a_target_fail(self, web, fetcher: Build) -> None:
        web.page("/a", b"", 302)
        assert refusal(fetcher(), web.url("/a")).code is ErrorCode.FETCH_FAILED

    @pytest.mark.parametrize(
        "location",
        [
            "http://localhost/",
            "http://LOCALHOST.:8001/admin",
            "//localhost/",
            "http://redis:6379/",
            "http://metadata.google.internal/",
            "http://127.0.0.2/",
            "http://127.2/",
            "http://2130706434/",
            "http://0x7f000002/",
            "http://0177.0.0.2/",
            "http://10.0.0.1/",
            "http://100.64.0.1/",
            "http://169.254.169.254/latest/meta-data/",
            "http://192.168.0.1/",
            "http://0.0.0.0/",
            "http://[::1]/",
            "http://[::]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[fd00:ec2::254]/",
            "http://①⑦②.16.0.1/",
            "https://10.0.0.1/",
            "file:///etc/passwd",
            "ftp://docs.example.com/a",
            "gopher://docs.example.com/",
            "data:text/plain,hello",
            "javascript:alert(1)",
            "http://user:secret@docs.example.com/",
            "http://docs.example.com\\@10.0.0.1/",
            "http://[::1",
            "http://docs.example.com:0/",
        ],
    )
    def test_to_forbidden_places_are_refused(self, web, fetcher: Build, location: str) -> None:
        web.redirect("/a", location)
        error = refusal(fetcher(), web.url("/a"))
        assert error.code is ErrorCode.URL_NOT_ALLOWED
        assert not error.retryable
        assert "secret" not in error.message
        assert len(web.seen) == 1

    def test_to_a_name_that_leads_inside_are_refused(self, web, inside, fetcher: Build) -> None:
        inside.page("/", b"secret")
        web.redirect("/a", inside.url("/", host="inside.example.com"))
        assert refusal(fetcher(), web.url("/a")).code is ErrorCode.URL_NOT_ALLOWED
        assert inside.seen == []


class TestAddresses:
    def test_a_name_is_resolved_once_and_the_answer_is_pinned(
        self, web, inside, fetcher: Build, hosts
    ) -> None:
        hosts.answers["docs.example.com"] = [["127.0.0.1"], ["127.0.0.2"]]
        web.redirect("/a", "/b")
        web.page("/b", b"public")
        assert fetcher().fetch(web.url("/a")).data == b"public"
        assert hosts.asked == ["docs.example.com"]

    def test_a_second_answer_is_checked_like_the_first(self, web, fetcher: Build, hosts) -> None:
        hosts.answers["docs.example.com"] = [["127.0.0.1"], ["127.0.0.2"]]
        web.page("/a", b"public")
        one = fetcher()
        assert one.fetch(web.url("/a")).data == b"public"
        assert refusal(one, web.url("/a")).code is ErrorCode.URL_NOT_ALLOWED

    @pytest.mark.parametrize(
        "answers",
        [
            ["127.0.0.2"],
            ["127.0.0.1", "127.0.0.2"],
            ["127.0.0.2", "127.0.0.1"],
            ["127.0.0.1", "::1"],
            ["127.0.0.1", "::ffff:127.0.0.1"],
            ["127.0.0.1", "fe80::1%1"],
            ["127.0.0.1", "64:ff9b::a00:1"],
            ["127.0.0.1", "169.254.169.254"],
        ],
    )
    def test_one_inside_address_spoils_the_answer(
        self, web, fetcher: Build, hosts, answers: list[str]
    ) -> None:
        hosts.answers["docs.example.com"] = [answers]
        web.page("/a")
        error = refusal(fetcher(), web.url("/a"))
        assert error.code is ErrorCode.URL_NOT_ALLOWED and not error.retryable
        assert not any(address in error.message for address in answers)
        assert web.seen == []

    def test_the_next_address_is_tried(self, web, fetcher: Build, hosts) -> None:
        hosts.answers["docs.example.com"] = [["127.0.0.3", "127.0.0.1"]]
        web.page("/a", b"text")
        anywhere = fetcher(allow=lambda address: address.is_loopback)
        assert anywhere.fetch(web.url("/a")).data == b"text"

    def test_without_an_exception_the_loopback_is_refused(self, web, hosts) -> None:
        web.page("/a")
        strict = SafeFetcher(max_bytes=1000, resolver=hosts)
        assert refusal(strict, web.url("/a")).code is ErrorCode.URL_NOT_ALLOWED
        with pytest.raises(FetchError):
            strict.fetch(web.url("/a", host="127.0.0.1"))
        assert web.seen == []

    def test_an_allowed_literal_needs_no_resolver(self, web, fetcher: Build, hosts) -> None:
        web.page("/a", b"text")
        assert fetcher().fetch(web.url("/a", host="127.1")).data == b"text"
        assert hosts.asked == []

    def test_an_ipv6_literal_is_named_with_brackets(self, fetcher: Build, web) -> None:
        try:
            server = type(web)("::1")
        except OSError:
            pytest.skip("this system has no IPv6 loopback address")
        with server:
            server.page("/a", b"six")
            loopback = fetcher(allow=lambda address: address.is_loopback)
            assert loopback.fetch(server.url("/a", host="[::1]")).data == b"six"
            assert server.seen[0][1]["Host"] == f"[::1]:{server.port}"

    @pytest.mark.parametrize(
        ("number", "retryable"), [(socket.EAI_NONAME, False), (socket.EAI_AGAIN, True)]
    )
    def test_unknown_names(self, fetcher: Build, number: int, retryable: bool) -> None:
        def unknown(host: str, port: int) -> list[str]:
            raise socket.gaierror(number, "foreign text")

        error = refusal(fetcher(resolver=unknown), "http://no.example.com/")
        assert error.code is ErrorCode.FETCH_FAILED
        assert error.retryable is retryable
        assert "no.example.com" in error.message and "foreign" not in error.message

    def test_the_system_resolver_is_asked_by_default(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[object] = []

        def getaddrinfo(*args: object, **options: object) -> list[tuple[object, ...]]:
            asked.append(args)
            return [(2, 1, 6, "", ("10.0.0.1", 80))]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        error = refusal(SafeFetcher(max_bytes=1000), "http://docs.example.com/")
        assert error.code is ErrorCode.URL_NOT_ALLOWED
        assert asked == [("docs.example.com", 80)]

    def test_proxies_of_the_environment_are_ignored(
        self, web, inside, fetcher: Build, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
            monkeypatch.setenv(name, inside.url("/", host="127.0.0.2"))
        web.page("/a", b"direct")
        assert fetcher().fetch(web.url("/a")).data == b"direct"
        assert inside.seen == []


class TestBounds:
    def test_a_declared_size_beyond_the_limit(self, web, fetcher: Build) -> None:
        web.page("/a", b"x", Content_Length="100001")
        error = refusal(fetcher(), web.url("/a"))
        assert error.code is ErrorCode.SOURCE_TOO_LARGE
        assert "100000 bytes" in error.message and "`ingest.max_bytes`" in error.message

    def test_an_endless_body_stops_at_the_limit(self, web, fetcher: Build) -> None:
        gone = threading.Event()

        def endless(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            try:
                while True:
                    handler.wfile.write(b"400\r\n" + b"x" * 0x400 + b"\r\n")
            except OSError:
                handler.close_connection = True
                gone.set()

        web.pages["/a"] = endless
        assert refusal(fetcher(), web.url("/a")).code is ErrorCode.SOURCE_TOO_LARGE
        assert gone.wait(10), "the connection was not closed"

    def test_a_decompression_bomb_stops_at_the_limit(self, web, fetcher: Build) -> None:
        web.page("/a", gzip.compress(b"\0" * 50_000_000), Content_Encoding="gzip")
        assert refusal(fetcher(), web.url("/a")).code is ErrorCode.SOURCE_TOO_LARGE

    @staticmethod
    def drip(web, path: str, start: bytes) -> threading.Event:
        """A page that sends a byte now and then, until the client leaves."""
        gone = threading.Event()

        def dripping(handler: BaseHTTPRequestHandler) -> None:
            handler.close_connection = True
            try:
                handler.wfile.write(start)
                while True:
                    handler.wfile.write(b"x")
                    time.sleep(0.02)
            except OSError:
                gone.set()

        web.pages[path] = dripping
        return gone

    @pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-Long: "])
    def test_a_slow_answer_ends_at_the_deadline(self, web, fetcher: Build, start: bytes) -> None:
        gone = self.drip(web, "/a", start)
        error = refusal(fetcher(total_timeout=0.3, read_timeout=60), web.url("/a"))
        assert error.code is ErrorCode.FETCH_FAILED and error.retryable
        assert " in time" in error.message or " within 0.3 seconds" in error.message
        assert gone.wait(10), "the connection was not closed"

    def test_redirects_share_the_deadline(self, web, fetcher: Build) -> None:
        def slow(handler: BaseHTTPRequestHandler) -> None:
            time.sleep(0.2)
            handler.send_response(302)
            handler.send_header("Location", "/a")
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        web.pages["/a"] = slow
        error = refusal(fetcher(total_timeout=0.5, max_redirects=1000), web.url("/a"))
        assert error.retryable and "redirects" not in error.message

    def test_silence_ends_with_the_read_timeout(self, web, fetcher: Build) -> None:
        release = threading.Event()
        web.pages["/a"] = lambda handler: release.wait(10)
        error = refusal(fetcher(read_timeout=0.2), web.url("/a"))
        release.set()
        assert error.retryable and "did not answer in time" in error.message


class TestBrokenConnections:
    def test_nobody_listens(self, fetcher: Build) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
            error = refusal(fetcher(), f"http://docs.example.com:{port}/")
        assert error.code is ErrorCode.FETCH_FAILED and error.retryable

    def raw(self, web, answer: bytes) -> None:
        def write(handler: BaseHTTPRequestHandler) -> None:
            handler.close_connection = True
            handler.wfile.write(answer)

        web.pages["/a"] = write

    @pytest.mark.parametrize(
        "answer",
        [
            b"",
            b"SSH-2.0-OpenSSH_9.6\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
        ],
    )
    def test_broken_answers_are_no_documents(self, web, fetcher: Build, answer: bytes) -> None:
        self.raw(web, answer)
        error = refusal(fetcher(), web.url("/a"))
        assert error.code is ErrorCode.FETCH_FAILED and error.retryable
        assert "SSH" not in error.message and "h11" not in error.message

    def test_a_body_that_ends_with_the_connection_is_taken(self, web, fetcher: Build) -> None:
        self.raw(web, b"HTTP/1.0 200 OK\r\n\r\nold style")
        assert fetcher().fetch(web.url("/a")).data == b"old style"


def test_threads_share_a_fetcher(web, fetcher: Build) -> None:
    for number in range(16):
        web.page(f"/{number}", str(number).encode())
    shared = fetcher()
    results: dict[int, bytes] = {}

    def fetch(number: int) -> None:
        results[number] = shared.fetch(web.url(f"/{number}")).data

    threads = [threading.Thread(target=fetch, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: str(number).encode() for number in range(16)}


def test_nothing_heavy_is_loaded_before_the_first_fetch() -> None:
    code = (
        "import sys; from eagle_rag_core.ingest.fetch import http, paths, uris, addresses;"
        "http.SafeFetcher(max_bytes=1);"
        "print(sorted({'httpcore2', 'httpx2', 'h11', 'idna', 'anyio'} & set(sys.modules)))"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    )
    assert done.stdout.strip() == "[]"
