"""Which hosts on the network may be asked: public ones only.

The server stands inside somebody's network and callers choose the URL, so every address that
means "here" or "inside" is refused (server-side request forgery).
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from eagle_rag_core.errors import ErrorCode, FetchError
from eagle_rag_core.ingest.fetch.urls import WebUrl, parse_web_url

#: Decides whether a connection to the address may be opened.
AddressPolicy = Callable[[IPv4Address | IPv6Address], bool]

# The IANA special-purpose registries as of 2025, spelt out: `ipaddress.is_global` answers
# differently from one Python release to the next.
_REFUSED_V4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # carrier-grade NAT
            "127.0.0.0/8",  # loopback
            "168.63.129.16/32",  # Azure's host agent: a public number that means the hypervisor
            "169.254.0.0/16",  # link-local, cloud metadata
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocol assignments
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # former 6to4 relays
            "192.168.0.0/16",  # private
            "198.18.0.0/15",  # benchmarking
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, broadcast
        ),
    )
)

# Everything outside global unicast is refused by that alone: loopback, unspecified,
# IPv4-mapped and -compatible, local NAT64 (64:ff9b:1::/48), ULA, link- and site-local, multicast.
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_REFUSED_V6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarking
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4: an IPv4 address in disguise
            "3fff::/20",  # documentation
        ),
    )
)
# On IPv6-only networks DNS64 gives every IPv4 site an address in here (RFC 6052), so it is
# judged by the address it embeds.
_NAT64 = IPv6Network("64:ff9b::/96")

_LOCAL_SUFFIXES = (
    ".home.arpa",
    ".internal",
    ".intranet",
    ".lan",
    ".local",
    ".localdomain",
    ".localhost",
)


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is an ordinary host of the public internet."""
    if isinstance(address, IPv6Address):
        if address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        return address in _GLOBAL_UNICAST and not any(address in net for net in _REFUSED_V6)
    return not any(address in net for net in _REFUSED_V4)


def check_url(url: str, *, allow: AddressPolicy = is_public) -> None:
    """Refuse a URL whose host is local by its very spelling. Nothing is resolved.

    What a name resolves to is checked when the connection is opened.

    :raises InvalidArgument: not a well-formed ``http(s)`` URL.
    :raises FetchError: ``url_not_allowed``.
    """
    check_host(parse_web_url(url), allow=allow)


def check_host(url: WebUrl, *, allow: AddressPolicy) -> None:
    """:func:`check_url` for a parsed URL."""
    if url.address is not None:
        allowed = allow(url.address)
    else:
        # A name without a dot is completed by the resolver's search list.
        allowed = "." in url.host and not url.host.endswith(_LOCAL_SUFFIXES)
    if not allowed:
        raise not_allowed(url.host)


def not_allowed(host: str) -> FetchError:
    """The error for a host that is not public. It tells nothing about what the host is."""
    return FetchError(
        f"{host} is not a host of the public internet. Only public URLs are fetched; download "
        "the source and ingest it as a file.",
        code=ErrorCode.URL_NOT_ALLOWED,
    )
