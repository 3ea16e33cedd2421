"""Fetching a web page or file for callers who are not trusted with this machine's network."""

from __future__ import annotations

import ssl
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from eagle_rag_core import __version__
from eagle_rag_core.errors import ErrorCode, FetchError, InvalidArgument
from eagle_rag_core.ingest.fetch import responses
from eagle_rag_core.ingest.fetch.addresses import AddressPolicy, check_host, is_public
from eagle_rag_core.ingest.fetch.source import FetchedSource
from eagle_rag_core.ingest.fetch.uris import display_name, name_of
from eagle_rag_core.ingest.fetch.urls import WebUrl, parse_web_url

if TYPE_CHECKING:
    import httpcore2

    from eagle_rag_core.ingest.fetch.network import CheckedBackend, Resolver

USER_AGENT = f"eagle-rag/{__version__}"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NOT_MODIFIED = 304


class SafeFetcher:
    """Fetches public ``http(s)`` URLs. Safe to share between threads; each fetch stands alone.

    Proxies, credentials and cookies of the environment play no part. Redirects are followed one
    by one, each checked like the first URL. Timeouts are in seconds.

    :param max_bytes: bound on the decoded body.
    :param total_timeout: bound on a whole fetch, redirects included. Name resolution itself
        cannot be interrupted and ends when the system's resolver gives up.
    :param connect_timeout: bound on opening one connection.
    :param read_timeout: bound on the silence between two pieces of an answer.
    :param allow: which addresses may be asked. Not a setting: nothing a deployment configures
        opens its inside to callers.
    :param resolver: name resolution, the system's by default.
    :param ssl_context: trusted certificates, the system's by default.
    """

    def __init__(
        self,
        *,
        max_bytes: int,
        total_timeout: float = 60.0,
        connect_timeout: float = 10.0,
        read_timeout: float = 20.0,
        max_redirects: int = 5,
        allow: AddressPolicy = is_public,
        resolver: Resolver | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._max_bytes = max_bytes
        self._total_timeout = total_timeout
        self._step_timeouts = {
            "connect": connect_timeout,
            "read": read_timeout,
            "write": read_timeout,
        }
        self._max_redirects = max_redirects
        self._allow = allow
        self._resolver = resolver
        self._given_ssl_context = ssl_context

    def fetch(
        self,
        url: str,
        *,
        etag: str = "",
        last_modified: str = "",
        media_types: Collection[str] = (),
    ) -> FetchedSource:
        """Fetch one URL.

        :param etag: validators of an earlier fetch; with them the answer may be ``not_modified``.
        :param media_types: declared types whose bodies are wanted ("" for none declared); empty
            for all. Others are not read.
        :raises InvalidArgument: not a well-formed URL.
        :raises FetchError: ``url_not_allowed``, ``source_not_found`` (the server says so),
            ``unsupported_format`` (not of ``media_types``), ``source_too_large``,
            ``empty_document``, or ``fetch_failed``, which is retryable for timeouts, broken
            connections and statuses that pass.
        """
        hop = parse_web_url(url)
        uri = str(hop)
        validators = _validators(etag, last_modified)
        backend = self._backend()
        with _explained(display_name(uri)):
            for _ in range(self._max_redirects + 1):
                check_host(hop, allow=self._allow)
                with self._asked(hop, validators, backend) as response:
                    headers = responses.header_texts(response.headers)
                    if response.status == _NOT_MODIFIED and validators:
                        return _unchanged(uri, str(hop), validators | headers)
                    if response.status not in _REDIRECTS:
                        return self._source(uri, str(hop), response, headers, media_types)
                hop = _next_hop(hop, headers.get("location", ""))
        raise FetchError(
            f"{display_name(uri)} redirects more than {self._max_redirects} times. "
            "Give the URL it ends at."
        )

    def _backend(self) -> CheckedBackend:
        """The network as one fetch sees it."""
        from eagle_rag_core.ingest.fetch.network import CheckedBackend, Deadline, system_resolver

        return CheckedBackend(
            resolver=self._resolver or system_resolver,
            allow=self._allow,
            deadline=Deadline(self._total_timeout),
        )

    @cached_property
    def _ssl_context(self) -> ssl.SSLContext:
        import httpcore2

        return self._given_ssl_context or httpcore2.default_ssl_context()

    @contextmanager
    def _asked(
        self, hop: WebUrl, validators: Mapping[str, str], backend: CheckedBackend
    ) -> Iterator[httpcore2.Response]:
        """The response to a GET over a connection of its own, the body not yet read."""
        import httpcore2

        # Component by component: parsing the text again drops `;` parameters from paths and
        # the brackets of an IPv6 host from the Host header.
        url = httpcore2.URL(scheme=hop.scheme, host=hop.host, port=hop.port, target=hop.target)
        headers = {
            "host": hop.authority,
            "user-agent": USER_AGENT,
            "accept": "*/*",
            "accept-encoding": "gzip",
        }
        if "etag" in validators:
            headers["if-none-match"] = validators["etag"]
        if "last-modified" in validators:
            headers["if-modified-since"] = validators["last-modified"]
        connection = httpcore2.HTTPConnection(
            url.origin,
            ssl_context=self._ssl_context if hop.scheme == "https" else None,
            network_backend=backend,
        )
        with (
            connection,
            connection.stream(
                "GET",
                url,
                headers=[(name.encode(), value.encode()) for name, value in headers.items()],
                extensions={"timeout": self._step_timeouts},
            ) as response,
        ):
            yield response

    def _source(
        self,
        uri: str,
        final_uri: str,
        response: httpcore2.Response,
        headers: Mapping[str, str],
        media_types: Collection[str],
    ) -> FetchedSource:
        label = display_name(final_uri)
        responses.check_status(response.status, headers, label)
        media_type, charset = responses.media_type_of(headers)
        if media_types and media_type not in media_types:
            raise FetchError(
                f"{label} is of the type {media_type}, which is not wanted here.",
                code=ErrorCode.UNSUPPORTED_FORMAT,
            )
        return FetchedSource(
            data=responses.read_body(
                response.iter_stream(), headers, max_bytes=self._max_bytes, label=label
            ),
            name=responses.file_name_of(headers) or name_of(final_uri),
            uri=uri,
            final_uri=final_uri,
            media_type=media_type,
            charset=charset,
            etag=headers.get("etag", ""),
            last_modified=headers.get("last-modified", ""),
        )


def _validators(etag: str, last_modified: str) -> dict[str, str]:
    """What is known of the copy at hand, named like the headers it came with."""
    known = {"etag": etag, "last-modified": last_modified}
    return {name: value for name, value in known.items() if value}


def _unchanged(uri: str, final_uri: str, headers: Mapping[str, str]) -> FetchedSource:
    return FetchedSource(
        data=b"",
        name=name_of(final_uri),
        uri=uri,
        final_uri=final_uri,
        etag=headers.get("etag", ""),
        last_modified=headers.get("last-modified", ""),
        not_modified=True,
    )


def _next_hop(hop: WebUrl, location: str) -> WebUrl:
    """The URL a redirect leads to; as untrusted as one a caller gives."""
    label = display_name(str(hop))
    if not location:
        raise FetchError(f"{label} redirects without saying where.")
    try:
        return parse_web_url(urljoin(str(hop), location))
    except (InvalidArgument, ValueError):
        raise FetchError(
            f"{label} redirects to something that is not a web URL.",
            code=ErrorCode.URL_NOT_ALLOWED,
        ) from None


@contextmanager
def _explained(label: str) -> Iterator[None]:
    """Failures of the connection as errors a caller can act on."""
    import httpcore2

    try:
        yield
    except httpcore2.TimeoutException as error:
        raise FetchError(f"{label} did not answer in time.", retryable=True) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise FetchError(
            f"The connection to {label} failed or broke off.", retryable=True
        ) from error
