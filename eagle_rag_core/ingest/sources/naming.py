"""From what a user names to a source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR

from eagle_rag_core.catalog.ids import check_kb_name
from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.ingest.fetch.addresses import check_url
from eagle_rag_core.ingest.fetch.s3_uris import s3_uri
from eagle_rag_core.ingest.fetch.uris import canonical_uri, path_of
from eagle_rag_core.ingest.sources.items import SourceKind, SourceSpec
from eagle_rag_core.ingest.sources.patterns import PatternList

_S3 = re.compile(r"\s*s3:", re.IGNORECASE)
_WEB = re.compile(r"\s*https?:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SourceWish:
    """What a user asks for, in words of the command line and of ``ingest.sources``.

    :param depth: follow links so far; 0 for no crawl.
    :param sitemap: ``uri`` is a sitemap.
    """

    uri: str
    kb_name: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    source_type: str = ""
    title: str = ""
    delete_missing: bool = False
    allow_empty: bool = False
    sitemap: bool = False
    depth: int = 0
    max_pages: int = 1000

    def spec(self, *, base: Path | None, absent: SourceKind = SourceKind.SINGLE) -> SourceSpec:
        """The source.

        :param base: absolute folder that relative paths start from; without it they are refused.
        :param absent: what a path means at which there is nothing, or nothing yet.
        :raises InvalidArgument: it names no source, or a pattern is malformed.
        :raises FetchError: a URL whose host is not public.
        """
        PatternList((*self.include, *self.exclude))  # malformed ones are told at once
        kind, uri = self._place(base, absent)
        return SourceSpec(
            kind=kind,
            uri=uri,
            kb_name=check_kb_name(self.kb_name),
            include=self.include,
            exclude=self.exclude,
            tags=self.tags,
            source_type=self.source_type,
            title=self.title if kind is SourceKind.SINGLE else "",
            delete_missing=self.delete_missing,
            allow_empty=self.allow_empty,
            depth=self.depth if kind is SourceKind.CRAWL else 0,
            max_pages=self.max_pages,
        )

    def _place(self, base: Path | None, absent: SourceKind) -> tuple[SourceKind, str]:
        web = _WEB.match(self.uri) is not None
        if (self.sitemap or self.depth) and not web:
            raise InvalidArgument(
                f"{self.uri[:200]!r} is no web page: sitemaps and crawls begin at http(s) URLs."
            )
        if _S3.match(self.uri):
            return SourceKind.S3, s3_uri(self.uri.strip(), prefix=True)
        uri = canonical_uri(self.uri, base=base)
        if web:
            check_url(uri)
            if self.sitemap:
                return SourceKind.SITEMAP, uri
            return (SourceKind.CRAWL if self.depth else SourceKind.SINGLE), uri
        return _kind_of_path(path_of(uri), absent), uri


def _kind_of_path(path: Path, absent: SourceKind) -> SourceKind:
    try:
        status = path.stat()
    except OSError:
        return absent  # that it cannot be reached is for its reader to say
    return SourceKind.FOLDER if S_ISDIR(status.st_mode) else SourceKind.SINGLE
