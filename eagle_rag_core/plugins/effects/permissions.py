"""What the tools of one pack may do besides reading."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any


class Permissions:
    """What a pack's manifest declares, and which files are the engine's alone.

    :param network: addresses its tools may reach, ``host:port`` each.
    :param private: files and folders of the library, which packs read through their context only.
    :param package: top-level package of the pack, to name the place of an effect.
    :param variables: of the environment, which libraries may set while they are imported.
    """

    def __init__(
        self,
        network: Iterable[str] = (),
        *,
        private: Iterable[Path] = (),
        package: str = "",
        variables: Iterable[str] = (),
    ) -> None:
        self.package = package
        self.variables = frozenset(variables)
        self.network = frozenset(_address(entry) for entry in network)
        self._hosts = frozenset(host for host, _ in self.network)
        self._private = tuple(os.path.realpath(path) for path in private)
        # A connection shows the number a host's name was resolved to, not the name. Names that
        # change their numbers from one look-up to the next are common, so the port has to do.
        self._ports: set[int] = set()

    def may_look_up(self, host: str) -> bool:
        """Whether the name may be resolved; connections to its declared ports are fine then."""
        host = host.lower().rstrip(".")
        self._ports.update(port for name, port in self.network if name == host)
        return host in self._hosts

    def may_connect(self, address: Any) -> bool:
        """Whether a socket may be connected.

        :param address: as the socket takes it: (host, port, …), or the path of a local one.
        """
        if not isinstance(address, tuple) or len(address) < 2:
            return False
        host, port = str(address[0]).lower(), address[1]
        return (host, port) in self.network or port in self._ports

    def private(self, path: str) -> bool:
        """Whether a path is the engine's, or is a companion of one of its files (``….db-wal``)."""
        if not self._private:
            return False
        real = os.path.realpath(path)
        return any(
            real == own or real.startswith((own + os.sep, own + "-")) for own in self._private
        )


def _address(entry: str) -> tuple[str, int]:
    host, _, port = entry.rpartition(":")
    return host.strip("[]").lower(), int(port)
