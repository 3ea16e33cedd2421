"""A real web server on the loopback interface, and fetchers that may reach it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address
from typing import Any

import pytest
from web_server import WebServer

from eagle_rag_core.ingest.fetch.addresses import is_public
from eagle_rag_core.ingest.fetch.http import SafeFetcher


class HostTable:
    """A resolver over a table. A list of answers is given out one by one, the last for ever."""

    def __init__(self, answers: Mapping[str, list[list[str]]]) -> None:
        self.answers = dict(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        answers = self.answers[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


@pytest.fixture
def web() -> Iterator[WebServer]:
    with WebServer("127.0.0.1") as server:
        yield server


@pytest.fixture
def inside() -> Iterator[WebServer]:
    """A server on an address the tests' policy refuses; nothing may ever arrive here."""
    try:
        server = WebServer("127.0.0.2")
    except OSError:
        pytest.skip("this system has no second loopback address")
    with server:
        yield server


@pytest.fixture
def hosts() -> HostTable:
    return HostTable(
        {
            "docs.example.com": [["127.0.0.1"]],
            "mirror.example.com": [["127.0.0.1"]],
            "inside.example.com": [["127.0.0.2"]],
        }
    )


@pytest.fixture
def fetcher(hosts: HostTable) -> Callable[..., SafeFetcher]:
    """Builds fetchers that take 127.0.0.1 for a public address."""

    def build(**options: Any) -> SafeFetcher:
        settings: dict[str, Any] = {
            "max_bytes": 100_000,
            "resolver": hosts,
            "allow": lambda address: address == ip_address("127.0.0.1") or is_public(address),
        }
        return SafeFetcher(**(settings | options))

    return build
