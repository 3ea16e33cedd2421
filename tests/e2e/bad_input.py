"""Every kind of bad input as a real file or URL, and how each one ends."""

from __future__ import annotations

import gzip
import os
import random
import socket
import time
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Final

from e2e import bad_files as bad
from e2e.bad_files import TEXT, WORD
from web_server import WebServer

#: Limits of the deployment, low enough to be met by small files.
LIMITS: Final = {
    "ingest.max_bytes": 150_000,
    "ingest.max_pages": 5,
    "ingest.fetch_timeout": 1.5,
    "ingest.max_attempts": 1,
    "ingest.processes": 1,
}
#: What :attr:`Case.ends` says of a document that is taken in, and found by its word.
TAKEN: Final = "succeeded"
NFD: Final = unicodedata.normalize("NFD", "Übergrößenträger é")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the files and pages of the cases are put."""

    inbox: Path
    web: WebServer
    inside: WebServer

    @property
    def secret(self) -> Path:
        """A file beside the home."""
        return self.inbox.parent.parent / "secret.md"

    def file(self, name: str, data: bytes) -> str:
        (self.inbox / name).write_bytes(data)
        return name

    def page(self, path: str, data: bytes, **headers: str) -> str:
        self.web.page(path, data, **headers)
        return self.web.url(path)


@dataclass(frozen=True, slots=True)
class Case:
    """One bad source.

    :param kind: as the manual lists it.
    :param name: what exactly is bad, unique.
    :param ends: code of the reason, or :data:`TAKEN`.
    :param make: puts it in place; what to ingest.
    :param says: words of the reason.
    :param at_once: refused in the call, before there is a job.
    """

    kind: str
    name: str
    ends: str
    make: Callable[[Place], str]
    says: str = ""
    at_once: bool = False


def file(name: str, data: bytes | Callable[[], bytes]) -> Callable[[Place], str]:
    return lambda place: place.file(name, data if isinstance(data, bytes) else data())


def text_file(name: str) -> Callable[[Place], str]:
    return file(name, f"# Animals\n\n{TEXT}\n".encode())


def link(name: str, to: str) -> Callable[[Place], str]:
    def make(place: Place) -> str:
        path = place.inbox / name
        path.symlink_to(place.secret if to == "secret" else to)
        return name

    return make


def node(name: str, make: Callable[[Path], object]) -> Callable[[Place], str]:
    """Something of the file system that is no regular file."""

    def put(place: Place) -> str:
        make(place.inbox / name)
        return name

    return put


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as endpoint:
        here = Path.cwd()
        os.chdir(path.parent)  # the path of a socket must be short
        try:
            endpoint.bind(path.name)
        finally:
            os.chdir(here)


def drip(place: Place, path: str, *, head: bool) -> str:
    """A page that comes byte by byte, for longer than a source may take."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if not head:
            handler.send_response(200)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
        with suppress(OSError):
            for _ in range(40):
                handler.wfile.write(b"H" if head else b"a")
                time.sleep(0.1)

    place.web.pages[path] = answer
    return place.web.url(path)


def redirected(place: Place, path: str, target: str) -> str:
    place.web.redirect(path, target)
    return place.web.url(path)


def inside_by_name(place: Place, path: str, host: str) -> str:
    """A name of the test's resolver, see ``PUBLIC`` there."""
    place.inside.page(path, f"# Inside\n\n{TEXT}".encode())
    return place.inside.url(path, host=host)


def loop(place: Place) -> str:
    place.web.redirect("/loop", place.web.url("/loop"))
    return place.web.url("/loop")


def endless(place: Place) -> str:
    """A page that does not say how long it is."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Connection", "close")
        handler.end_headers()
        with suppress(OSError):
            while True:
                handler.wfile.write(TEXT.encode() * 100)

    place.web.pages["/endless"] = answer
    return place.web.url("/endless")


_DOCX: Final = bad.word()
_PDF: Final = bad.pdf(TEXT, TEXT)
_OUTSIDE: Final = "outside the folders this server may read"
_HTML: Final = f"<!doctype html><h1>Animals</h1><p>{TEXT}</p>".encode()
_LATIN: Final = f"# Tiere\n\nDas {WORD} lebte im Süden, sagt die größere Hälfte.\n"

CASES: Final = (
    Case("0 bytes", "empty file", "empty_document", file("empty.md", b""), "empty", True),
    Case("0 bytes", "empty PDF", "empty_document", file("empty.pdf", b""), "empty", True),
    Case(
        "0 bytes", "empty page", "empty_document", lambda place: place.page("/empty", b""), "empty"
    ),
    Case("truncated", "PDF", "parse_failed", file("cut.pdf", _PDF[: len(_PDF) // 3]), "cut off"),
    Case("truncated", "Word document", "parse_failed", file("cut.docx", _DOCX[:9000]), "cut-off"),
    Case(
        "truncated", "picture", "parse_failed", file("cut.png", bad.png(300, 300)[:60]), "cut-off"
    ),
    Case(
        "truncated",
        "page shorter than announced",
        "fetch_failed",
        lambda place: place.page("/cut", _HTML, Content_Length=str(len(_HTML) + 500)),
    ),
    Case(
        "encrypted",
        "PDF",
        "parse_failed",
        file("locked.pdf", lambda: bad.pdf(TEXT, password="x")),
        "password",
    ),
    Case(
        "encrypted",
        "ZIP",
        "parse_failed",
        file("locked.docx", bad.flagged_as_encrypted(_DOCX)),
        "password",
    ),
    Case(
        "encrypted", "Office", "parse_failed", file("office.docx", bad.compound_file()), "password"
    ),
    Case("corrupt xref", "offsets wrong", TAKEN, file("offsets.pdf", bad.wrong_offsets(_PDF))),
    Case(
        "corrupt xref",
        "nothing to repair",
        "parse_failed",
        file("lost.pdf", bad.without_objects(_PDF)),
        "damaged",
    ),
    Case(
        "too many pages",
        "PDF",
        "parse_failed",
        file("pages.pdf", lambda: bad.pdf(*[TEXT] * 6)),
        "ingest.max_pages",
    ),
    Case(
        "too large",
        "file",
        "source_too_large",
        file("large.md", TEXT.encode() * 3000),
        "ingest.max_bytes",
        True,
    ),
    Case(
        "too large",
        "page",
        "source_too_large",
        lambda place: place.page("/large", TEXT.encode() * 3000),
        "ingest.max_bytes",
    ),
    Case(
        "too large",
        "page without a length",
        "source_too_large",
        endless,
    ),
    Case(
        "zip bomb",
        "Word document",
        "parse_failed",
        file(
            "bomb.docx",
            lambda: bad.changed(_DOCX, "word/document.xml", lambda xml: xml + b" " * 30_000_000),
        ),
        "unpacks to",
    ),
    Case(
        "zip bomb",
        "compressed page",
        "source_too_large",
        lambda place: place.page(
            "/bomb", gzip.compress(b"a" * 50_000_000), Content_Encoding="gzip"
        ),
        "ingest.max_bytes",
    ),
    Case(
        "zip bomb",
        "path that leads outside",
        "parse_failed",
        file(
            "slip.docx",
            bad.changed(_DOCX, "word/document.xml", lambda xml: xml)
            and bad.zipped(
                {
                    "[Content_Types].xml": b"<x/>",
                    "word/document.xml": b"<x/>",
                    "../../secret.md": b"x",
                }
            ),
        ),
        "outside of itself",
    ),
    Case(
        "XML bomb",
        "entities that multiply",
        "parse_failed",
        file("laughs.docx", bad.changed(_DOCX, "word/document.xml", bad.laughs)),
        "entities",
    ),
    Case(
        "XML bomb",
        "entity from a file",
        "parse_failed",
        file("entity.docx", bad.changed(_DOCX, "word/document.xml", bad.outside_entity)),
        "entities",
    ),
    Case(
        "pixel bomb",
        "PNG",
        "parse_failed",
        file("bomb.png", lambda: bad.png(12_000, 12_000)),
        "million pixels",
    ),
    Case(
        "polyglot", "PDF before a ZIP", TAKEN, file("polyglot.docx", _PDF + bad.zipped({"a": b"b"}))
    ),
    Case(
        "polyglot",
        "ZIP behind a picture",
        "parse_failed",
        file("polyglot.zip", b"GIF89a" + bytes(20) + bad.zipped({"a": b"b"})),
        "damaged",
    ),
    Case("wrong suffix", "PDF as .txt", TAKEN, file("paper.txt", _PDF)),
    Case("wrong suffix", "Word as .pdf", TAKEN, file("letter.pdf", _DOCX)),
    Case("wrong suffix", "HTML as .csv", TAKEN, file("page.csv", _HTML)),
    Case(
        "wrong suffix",
        "program as .pdf",
        "parse_failed",
        file("program.pdf", b"\x7fELF\x02\x01\x01" + random.Random(1).randbytes(3000)),
        "not a PDF",
    ),
    Case(
        "wrong suffix",
        "noise as .md",
        "unsupported_format",
        file("noise.md", random.Random(7).randbytes(2000)),
        "binary data",
    ),
    Case("names", "spaces", TAKEN, text_file("  two  spaces .md")),
    Case("names", "CJK", TAKEN, text_file("報告書 テスト 한국어.md")),
    Case("names", "NFD", TAKEN, text_file(f"{NFD}.md")),
    Case("names", "emoji", TAKEN, text_file("🦓 100% #1?&=.md")),
    Case("names", "255 bytes", TAKEN, text_file("ü" * 126 + ".md")),
    Case("names", "255 bytes of CJK", TAKEN, text_file("獣" * 84 + ".md")),
    Case("NUL bytes", "nothing else", "empty_document", file("nul.md", bytes(500)), "NUL"),
    Case(
        "NUL bytes",
        "between the letters",
        "unsupported_format",
        file("nuls.md", "\0".join(TEXT).encode() + bytes(100)),
    ),
    Case(
        "NUL bytes",
        "in the text of a PDF",
        TAKEN,
        file("nul.pdf", lambda: bad.pdf(TEXT.replace("striped", "striped\0 \x01"))),
    ),
    Case("NUL bytes", "in a name", "invalid_argument", lambda place: "nul\0.md", "", True),
    Case(
        "mixed encodings",
        "UTF-8 and Latin-1 in one file",
        TAKEN,
        file("mixed.md", _LATIN.encode() + _LATIN.encode("latin-1")),
    ),
    Case(
        "mixed encodings",
        "UTF-16 without a mark",
        TAKEN,
        file("16.txt", _LATIN.encode("utf-16-le")),
    ),
    Case(
        "mixed encodings",
        "page that names another encoding",
        TAKEN,
        lambda place: place.page("/charset", _HTML, Content_Type="text/html; charset=utf-7"),
    ),
    Case("blank pages", "all", "empty_document", file("blank.pdf", bad.pdf("", "")), "blank"),
    Case("blank pages", "some", TAKEN, file("some.pdf", bad.pdf("", TEXT, ""))),
    Case(
        "blank pages", "white space", "empty_document", file("white.md", b" \n\t \n\n"), "no text"
    ),
    Case(
        "symlinks and ..",
        "link to a file outside",
        "path_not_allowed",
        link("out.md", "secret"),
        _OUTSIDE,
        True,
    ),
    Case(
        "symlinks and ..",
        "link to a folder outside",
        "path_not_allowed",
        lambda place: link("folder", "/etc")(place) + "/hostname",
        _OUTSIDE,
        True,
    ),
    Case(
        "symlinks and ..",
        "link to itself",
        "source_unreadable",
        link("self.md", "self.md"),
        "",
        True,
    ),
    Case(
        "symlinks and ..",
        "dots",
        "path_not_allowed",
        lambda place: "../../secret.md",
        _OUTSIDE,
        True,
    ),
    Case(
        "symlinks and ..",
        "dots behind a folder",
        "path_not_allowed",
        lambda place: f"{place.inbox}/x/../../../secret.md",
        _OUTSIDE,
        True,
    ),
    Case(
        "symlinks and ..",
        "encoded dots",
        "path_not_allowed",
        lambda place: f"file://{place.inbox}/%2e%2e/%2e%2e/secret.md",
        _OUTSIDE,
        True,
    ),
    Case(
        "device files", "/dev/zero", "path_not_allowed", lambda place: "/dev/zero", _OUTSIDE, True
    ),
    Case(
        "device files",
        "link to /dev/zero",
        "path_not_allowed",
        link("zero.md", "/dev/zero"),
        "",
        True,
    ),
    Case(
        "device files",
        "environment of the process",
        "path_not_allowed",
        lambda place: "/proc/self/environ",
        _OUTSIDE,
        True,
    ),
    Case(
        "device files",
        "pipe without a writer",
        "source_unreadable",
        node("pipe.md", os.mkfifo),
        "",
        True,
    ),
    Case("device files", "socket", "source_unreadable", node("socket.md", unix_socket), "", True),
    Case("device files", "folder", "source_unreadable", node("folder.md", os.mkdir), "", True),
    Case(
        "redirects inside",
        "by address",
        "url_not_allowed",
        lambda place: redirected(place, "/r1", place.inside.url("/r1", host="127.0.0.2")),
    ),
    Case(
        "redirects inside",
        "by name",
        "url_not_allowed",
        lambda place: redirected(place, "/r2", place.inside.url("/r2", host="inside.example.com")),
    ),
    Case(
        "redirects inside",
        "metadata service",
        "url_not_allowed",
        lambda place: redirected(place, "/r3", "http://169.254.169.254/latest/meta-data"),
    ),
    Case(
        "redirects inside",
        "to a file",
        "url_not_allowed",
        lambda place: redirected(place, "/r4", "file:///etc/passwd"),
    ),
    Case("redirects inside", "round and round", "fetch_failed", loop, "redirects more than"),
    Case(
        "DNS rebinding",
        "name that means inside",
        "url_not_allowed",
        lambda place: inside_by_name(place, "/d1", "inside.example.com"),
    ),
    Case(
        "DNS rebinding",
        "one answer inside",
        "url_not_allowed",
        lambda place: inside_by_name(place, "/d2", "both.example.com"),
    ),
    Case("DNS rebinding", "another answer the second time", TAKEN, lambda place: rebinding(place)),
    Case(
        "slow bodies",
        "body",
        "fetch_failed",
        lambda place: drip(place, "/slow", head=False),
        "did not",
    ),
    Case(
        "slow bodies",
        "head",
        "fetch_failed",
        lambda place: drip(place, "/head", head=True),
        "did not",
    ),
    Case(
        "wrong content types",
        "PDF as HTML",
        TAKEN,
        lambda place: place.page("/paper", _PDF, Content_Type="text/html"),
    ),
    Case(
        "wrong content types",
        "HTML as PDF",
        TAKEN,
        lambda place: place.page("/page.html", _HTML, Content_Type="application/pdf"),
    ),
    Case(
        "wrong content types",
        "noise as HTML",
        "unsupported_format",
        lambda place: place.page(
            "/noise", random.Random(3).randbytes(2000), Content_Type="text/html"
        ),
        "binary data",
    ),
)


def rebinding(place: Place) -> str:
    """A name that means a public address first, and one inside from then on."""
    url = place.web.url("/start", host="rebind.example.com")
    place.web.redirect("/start", place.web.url("/end", host="rebind.example.com"))
    place.web.page("/end", _HTML)
    place.inside.page("/end", _HTML)
    return url
