"""From settings to the service that reads sources."""

from __future__ import annotations

import time
from collections.abc import Iterator

from eagle_rag_core.blobs.s3 import S3Access
from eagle_rag_core.errors import ConfigError, FetchError, InvalidArgument
from eagle_rag_core.ingest.fetch.http import SafeFetcher
from eagle_rag_core.ingest.fetch.reader import SourceReader
from eagle_rag_core.ingest.fetch.s3 import S3Client
from eagle_rag_core.ingest.fetch.s3_uris import s3_uri
from eagle_rag_core.ingest.sources.items import SourceKind
from eagle_rag_core.ingest.sources.naming import SourceWish
from eagle_rag_core.ingest.sources.opening import SourceTools
from eagle_rag_core.service.sources import ScheduledSource
from eagle_rag_core.settings import Settings


def source_reader(settings: Settings) -> SourceReader:
    """What reads single sources.

    :raises ConfigError: ``ingest.allowed_s3`` holds something else than prefixes.
    """
    ingest = settings.ingest
    s3 = ingest.s3
    return SourceReader(
        fetcher=SafeFetcher(max_bytes=ingest.max_bytes, total_timeout=ingest.fetch_timeout),
        s3=S3Client(
            S3Access(
                endpoint_url=s3.endpoint_url,
                region=s3.region,
                access_key_id=s3.access_key_id,
                secret_access_key=s3.secret_access_key.get_secret_value(),
                timeout=ingest.fetch_timeout,
            ),
            max_bytes=ingest.max_bytes,
        ),
        allowed_roots=settings.allowed_roots,
        allowed_s3=tuple(_prefixes(ingest.allowed_s3)),
        max_bytes=ingest.max_bytes,
    )


def source_tools(settings: Settings, reader: SourceReader) -> SourceTools:
    """What reads whole sources."""
    return SourceTools(
        fetcher=reader.fetcher,
        s3=reader.s3,
        crawl_delay=settings.ingest.crawl_delay,
        sleep=time.sleep,
    )


def scheduled_sources(settings: Settings) -> list[ScheduledSource]:
    """The sources of ``ingest.sources``.

    :raises ConfigError: one of them is no source.
    """
    found = []
    for number, one in enumerate(settings.ingest.sources):
        wish = SourceWish(
            uri=one.uri,
            kb_name=one.kb_name or settings.ingest.default_kb,
            include=tuple(one.include),
            exclude=tuple(one.exclude),
            tags=tuple(one.tags),
            source_type=one.source_type,
            delete_missing=one.delete_missing,
            allow_empty=one.allow_empty,
            sitemap=one.sitemap,
            depth=one.crawl,
            max_pages=one.max_pages,
        )
        try:
            # Servers are started in folders of all kinds, so a relative path means nothing here.
            # A folder may not be mounted yet.
            spec = wish.spec(base=None, absent=SourceKind.FOLDER)
            found.append(ScheduledSource(spec, one.every))
        except (InvalidArgument, FetchError) as error:
            raise ConfigError(f"ingest.sources.{number}: {error.message}") from None
    return found


def _prefixes(given: list[str]) -> Iterator[str]:
    for number, prefix in enumerate(given):
        try:
            yield s3_uri(prefix, prefix=True)
        except InvalidArgument as error:
            raise ConfigError(f"ingest.allowed_s3.{number}: {error.message}") from None
