"""Web pages as PDF, by headless Chromium."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Final

from eagle_rag_core.ingest.parsers.html_tree import read_markup
from eagle_rag_core.ingest.renditions.confined import Bounds, ConversionFailed, run_converter

HTML: Final = "text/html"
MEDIA_TYPES: Final = frozenset({HTML})
#: Names of the program, and where macOS has it.
PROGRAMS: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
_FLAGS: Final = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-breakpad",
    "--disable-extensions",
    "--disable-plugins",
    "--disable-sync",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--password-store=basic",
    # Nothing listens there, and no name has an address.
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--no-pdf-header-footer",
)
#: No such address can exist (RFC 2606); relative links are resolved against it.
_ADDRESS: Final = "http://document.invalid/"
_BOUNDARY: Final = "=_document_of_one_part"


def web_pdf(program: Path, data: bytes, folder: Path, bounds: Bounds) -> bytes:
    """The PDF of a web page, with those pictures and styles that it carries itself.

    Chromium is given the page as an archive of one part (MHTML, RFC 2557): whatever such an
    archive does not hold is not loaded, from no network and no file, and it runs no scripts and
    follows no refreshing.

    :param folder: an empty one, which is filled.
    :raises ConversionFailed: there is none.
    """
    source, written = folder / "document.mhtml", folder / "document.pdf"
    source.write_bytes(archive(data))
    run_converter(
        [
            str(program),
            *flags(as_root=os.geteuid() == 0),
            f"--user-data-dir={folder / 'profile'}",
            f"--print-to-pdf={written}",
            source.as_uri(),
        ],
        folder,
        bounds,
    )
    try:
        return written.read_bytes()
    except OSError as error:
        raise ConversionFailed("Chromium cannot read it") from error


def flags(*, as_root: bool) -> tuple[str, ...]:
    """Chromium's flags. It refuses to run with its own sandbox as root."""
    return (*_FLAGS, "--no-sandbox") if as_root else _FLAGS


def archive(data: bytes) -> bytes:
    """A web page as an archive that holds nothing else."""
    head = (
        "From: <Saved>\r\nMIME-Version: 1.0\r\n"
        f'Content-Type: multipart/related; type="text/html"; boundary="{_BOUNDARY}"\r\n\r\n'
        f"--{_BOUNDARY}\r\nContent-Type: text/html; charset=utf-8\r\n"
        f"Content-Transfer-Encoding: base64\r\nContent-Location: {_ADDRESS}\r\n\r\n"
    )
    text = read_markup(data)
    if text is None:
        raise ConversionFailed("it is no text")
    body = base64.encodebytes(text.encode("utf-8", "replace")).replace(b"\n", b"\r\n")
    return head.encode() + body + f"\r\n--{_BOUNDARY}--\r\n".encode()
