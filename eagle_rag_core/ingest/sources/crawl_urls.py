"""Which URLs a crawler takes for the same page, and which it knows by their ending."""

from __future__ import annotations

import re
from dataclasses import replace

from eagle_rag_core.ingest.fetch.urls import WebUrl

#: Endings of what becomes a document without having links to follow.
DOCUMENTS = frozenset({".pdf", ".docx", ".pptx", ".xlsx", ".csv", ".md", ".rst", ".txt"})
#: Endings of what never becomes a document and is not asked for.
OTHERS = frozenset(
    ".7z .apk .avi .avif .bin .bmp .bz2 .css .deb .dmg .eot .exe .flac .gif .gz .ico .iso .jar "
    ".jpeg .jpg .js .json .m4a .m4v .mjs .mkv .mov .mp3 .mp4 .mpeg .mpg .ogg .ogv .otf .png .rar "
    ".rpm .svg .tar .tgz .tif .tiff .ttf .wasm .wav .webm .webmanifest .webp .woff .woff2 .xml "
    ".xz .zip .zst".split()
)
#: Parameters that say where a visitor came from, not what is shown.
_TRACKING = re.compile(
    r"(?:utm_[a-z]+|fbclid|gclid|dclid|msclkid|mc_cid|mc_eid|igshid|yclid|_ga|_gl"
    r"|phpsessid|jsessionid|sessionid|sid)(?:=|\Z)",
    re.IGNORECASE,
)
_SESSION = re.compile(r";jsessionid=[^/;]*", re.IGNORECASE)


def tidy(url: WebUrl) -> WebUrl:
    """A URL without what only tracks visitors."""
    kept = [part for part in url.query.split("&") if part and not _TRACKING.match(part)]
    return replace(url, path=_SESSION.sub("", url.path), query="&".join(kept))


def pattern_path(url: WebUrl) -> str:
    """What patterns are held against: path and query without the slash in front."""
    return url.target.removeprefix("/") or "index"
