"""Addresses in the settings of authentication."""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, urlsplit

from eagle_rag_core.errors import ConfigError


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches ``host``. Names other than ``localhost`` do not count."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def checked_url(key: str, url: str) -> str:
    """``url`` without a slash at its end, if secrets and keys may travel there.

    :param key: the setting, for messages.
    :raises ConfigError: it is neither https nor of this machine, or no plain address.
    """
    parts = _split(key, url)
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise ConfigError(
            f"{key} begins with http://: whoever is in between could forge what comes from there. "
            "Use https://; http:// is for servers on this machine."
        )
    return url.rstrip("/")


def checked_base_url(url: str) -> str:
    """The same for ``auth.base_url``, which is the root of a host."""
    found = checked_url("auth.base_url", url)
    if urlsplit(found).path:
        raise ConfigError(
            "auth.base_url has a path; give this server a host name of its own, such as "
            "https://rag.example.org."
        )
    return found


def _split(key: str, url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port_is_number = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_number = SplitResult("", "", "", "", ""), False
    plain = not (parts.query or parts.fragment or "@" in parts.netloc) and url.isascii()
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_number:
        raise ConfigError(f"{key} is no web address; write one such as https://id.example.org.")
    if not plain or any(c in url for c in " \t\r\n\"'\\<>"):
        raise ConfigError(f"{key} may have a host, a port and a path only.")
    return parts
