"""Web URLs in canonical form: one spelling per resource, so that one page is one document.

Syntax-based normalisation of RFC 3986 §6.2.2, host names by UTS 46, numeric hosts by the IPv4
parser of the WHATWG URL standard. The standard library's parser is used for splitting only: it
accepts userinfo, backslashes and broken ports that clients disagree about, and disagreement
between a check and a connection is how address filters are passed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import urlsplit

from eagle_rag_core.errors import InvalidArgument

DEFAULT_PORTS = {"http": 80, "https": 443}

_AUTHORITY = re.compile(
    r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:]+))(?::(?P<port>[0-9]{0,6}))?"
)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_OCTET = re.compile(rb"%[0-9A-Fa-f]{2}|.", re.DOTALL)

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH_SAFE = frozenset(b"/:@!$&'()*+,;=")
_QUERY_SAFE = _PATH_SAFE | frozenset(b"?")


@dataclass(frozen=True, slots=True)
class WebUrl:
    """A canonical ``http`` or ``https`` URL. ``str()`` gives the URL.

    :param host: lower-case ASCII name without a final dot, or an address without brackets.
    :param port: ``None`` for the scheme's default.
    :param address: the address when the host is one, in whatever notation it was written.
    """

    scheme: str
    host: str
    port: int | None
    path: str
    query: str
    address: IPv4Address | IPv6Address | None = None

    @property
    def authority(self) -> str:
        """Host and port as the ``Host`` header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def target(self) -> str:
        """Path and query as the request line has them."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def parse_web_url(text: str) -> WebUrl:
    """Parse and normalise a URL. Nothing is resolved and nothing is judged.

    The fragment is dropped, as it never reaches the server.

    :raises InvalidArgument: not an absolute ``http`` or ``https`` URL, or one that clients would
        read differently.
    """
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise InvalidArgument("The URL contains control characters; remove them.")
    try:
        scheme, authority, path, query, _ = urlsplit(text)
        path, query = _normal(path, _PATH_SAFE), _normal(query, _QUERY_SAFE)
    except ValueError:  # UnicodeEncodeError (a lone surrogate) is one too
        raise InvalidArgument("The URL is malformed; copy it again from its page.") from None
    if scheme not in DEFAULT_PORTS or not authority:
        raise InvalidArgument("Give a full URL that starts with http:// or https:// and a host.")
    host, port, address = _parse_authority(authority)
    return WebUrl(
        scheme=scheme,
        host=host,
        port=None if port == DEFAULT_PORTS[scheme] else port,
        path=_without_dot_segments(path or "/"),
        query=query,
        address=address,
    )


def _parse_authority(authority: str) -> tuple[str, int | None, IPv4Address | IPv6Address | None]:
    if "@" in authority:
        raise InvalidArgument("The URL carries a user name or password; remove it.")
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        raise InvalidArgument("The URL's host or port is malformed.")
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 0 < port < 65536:
        raise InvalidArgument("The URL's port must be between 1 and 65535.")
    if match["v6"]:
        try:
            v6 = IPv6Address(match["v6"])
        except AddressValueError:
            raise InvalidArgument("The URL's IPv6 address is malformed.") from None
        return v6.compressed, port, v6
    name = _host_name(match["name"])
    v4 = _ipv4(name)
    return (name, port, None) if v4 is None else (str(v4), port, v4)


def _host_name(name: str) -> str:
    """Lower-case ASCII form of a host name, without the dot that marks the DNS root."""
    if not name.isascii():
        import idna  # its tables cost more than the rest of this module

        try:
            name = idna.encode(name, uts46=True).decode("ascii")
        except idna.IDNAError:
            raise InvalidArgument("The URL's host is not a valid international name.") from None
    name = name.lower().removesuffix(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise InvalidArgument("The URL's host is not a valid name.")
    return name


def _ipv4(host: str) -> IPv4Address | None:
    """The address a numeric host stands for: dotted, short, decimal, octal or hexadecimal.

    https://url.spec.whatwg.org/#concept-ipv4-parser

    :returns: ``None`` for a name.
    :raises InvalidArgument: it ends in a number, so no client takes it for a name, but it is no
        address either.
    """
    labels = host.split(".")
    if not _NUMBER.fullmatch(labels[-1]):
        return None
    try:
        return _address([_number(label) for label in labels])
    except ValueError:
        raise InvalidArgument("The URL's host ends in a number but is no IPv4 address.") from None


def _number(label: str) -> int:
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8 if label.startswith("0") else 10)


def _address(numbers: list[int]) -> IPv4Address:
    """One number per byte, the last one filling the bytes that are left."""
    *head, tail = numbers
    if len(numbers) > 4 or max(head, default=0) > 255 or tail >= 256 ** (4 - len(head)):
        raise ValueError("out of range")
    return IPv4Address(bytes(head) + tail.to_bytes(4 - len(head), "big"))


def _normal(text: str, safe: frozenset[int]) -> str:
    """Percent-encode as UTF-8 what must be, decode what need not be, upper-case the rest."""

    def octet(match: re.Match[bytes]) -> bytes:
        raw = match[0]
        byte = raw[0] if len(raw) == 1 else int(raw[1:], 16)
        if byte in _UNRESERVED or (len(raw) == 1 and byte in safe):
            return bytes((byte,))
        return b"%%%02X" % byte

    return _OCTET.sub(octet, text.encode("utf-8")).decode("ascii")


def _without_dot_segments(path: str) -> str:
    """RFC 3986 §5.2.4."""
    output: list[str] = []
    for segment in path.split("/")[1:]:
        if segment == "..":
            del output[-1:]
        elif segment != ".":
            output.append(segment)
    if path.endswith(("/.", "/..")):
        output.append("")
    return "/" + "/".join(output)
