"""Connections to checked addresses, under one deadline.

A name is resolved once. Every answer is checked, and the connection goes to one of the checked
addresses, so that a second answer (DNS rebinding) never comes into play. TLS still names and
verifies the host, not the address.

Imported only when something is fetched: the HTTP library takes long to load.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

import httpcore2

from eagle_rag_core.errors import FetchError
from eagle_rag_core.ingest.fetch.addresses import AddressPolicy, not_allowed

#: Gives the addresses of a host name. Raises :class:`OSError` when there are none.
Resolver = Callable[[str, int], Sequence[str]]

_SocketOption = (
    tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
)


def system_resolver(host: str, port: int) -> list[str]:
    """The operating system's answer. How long it may take is the system's setting."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in answers))


class Deadline:
    """The moment by which a fetch has to be over, whatever each single step takes."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def cut(self, timeout: float | None) -> float:
        """The time one step may take.

        :raises FetchError: nothing is left; retryable.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise FetchError(
                f"The source did not arrive within {self._seconds:g} seconds.", retryable=True
            )
        return left if timeout is None else min(timeout, left)


class CheckedBackend(httpcore2.NetworkBackend):
    """Opens connections to allowed addresses only. One fetch, with its redirects, uses one."""

    def __init__(self, *, resolver: Resolver, allow: AddressPolicy, deadline: Deadline) -> None:
        self._resolver = resolver
        self._allow = allow
        self._deadline = deadline
        self._sockets = httpcore2.SyncBackend()
        self._pinned: dict[str, list[IPv4Address | IPv6Address]] = {}

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[_SocketOption] | None = None,
    ) -> httpcore2.NetworkStream:
        """:raises FetchError: ``url_not_allowed``, the name has no address, or no time is left."""
        failure: Exception = httpcore2.ConnectError()
        for address in self._checked_addresses(host, port):
            try:
                stream = self._sockets.connect_tcp(
                    str(address),
                    port,
                    timeout=self._deadline.cut(timeout),
                    local_address=local_address,
                    socket_options=socket_options,
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
            else:
                return _TimedStream(stream, self._deadline)
        raise failure

    def _checked_addresses(self, host: str, port: int) -> list[IPv4Address | IPv6Address]:
        if host not in self._pinned:
            addresses = [ip_address(text) for text in self._resolve(host, port)]
            # One private answer among public ones is no accident; the name is refused whole.
            if not all(self._allow(address) for address in addresses):
                raise not_allowed(host)
            self._pinned[host] = addresses
        return self._pinned[host]

    def _resolve(self, host: str, port: int) -> Sequence[str]:
        try:
            return [str(ip_address(host))]
        except ValueError:
            pass  # a name
        try:
            return self._resolver(host, port)
        except OSError as error:
            raise FetchError(
                f"The address of {host} could not be found. Check the host name.",
                retryable=error.errno == socket.EAI_AGAIN,
            ) from error


class _TimedStream(httpcore2.NetworkStream):
    """A connection whose every step ends at the deadline.

    A timeout per step alone lets a server send one byte at a time for ever.
    """

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.cut(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.cut(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        try:
            stream = self._stream.start_tls(
                ssl_context, server_hostname, self._deadline.cut(timeout)
            )
        except httpcore2.ConnectError as error:
            if isinstance(error.__cause__, ssl.SSLCertVerificationError):
                raise FetchError(
                    f"The TLS certificate of {server_hostname} could not be verified."
                ) from error
            raise
        return _TimedStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
