"""How often callers and strangers may come."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from fastmcp import Client
from fastmcp.client.auth import BearerAuth
from mcp import MCPError
from served import Served

from eagle_rag_core.api.auth.rates import Rate, peer_of

KEY = "key_4fJ2pQx7Rw9LmZ0aVb3sYd"
OTHER = "tok_9bK8nHs1Tq5GcE6uWj2rXf"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_is_spent_and_fills_again() -> None:
    clock = Clock()
    rate = Rate(60, 3, clock=clock)
    assert [rate.spend("a") for _ in range(3)] == [0.0] * 3
    assert rate.spend("a") == pytest.approx(1.0)
    assert rate.spend("b") == 0.0
    clock.now += 0.5
    assert rate.spend("a") == pytest.approx(0.5)
    clock.now += 0.5
    assert rate.spend("a") == 0.0
    clock.now += 3600
    assert [rate.spend("a") > 0 for _ in range(4)] == [False, False, False, True]


def test_no_limit_is_none() -> None:
    rate = Rate(0, 0)
    assert {rate.spend("a") for _ in range(10_000)} == {0.0}


def test_strangers_without_number_do_not_fill_the_memory() -> None:
    rate = Rate(60, 1, clock=Clock())
    for number in range(20_000):
        rate.spend(str(number))
    assert len(rate._buckets) == 10_000
    assert rate.spend("19999") > 0


@pytest.mark.parametrize(
    ("address", "party"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ],
)
def test_a_party_is_an_address_or_a_network(address: str, party: str) -> None:
    assert peer_of((address, 1)) == party
    assert peer_of(None) == "unknown"


def test_a_caller_is_held_back_alone_and_told_when_to_come_again(tmp_path: Path) -> None:
    auth = {
        "enabled": True,
        "api_key": KEY,
        "tokens": [{"name": "other", "token": OTHER}],
        "rate_limit": 30,
    }
    with Served(tmp_path / "home", auth=auth) as server:
        assert [server.get("/nothing", KEY).status_code for _ in range(5)] == [404] * 5
        answer = server.get("/nothing", KEY)
        assert answer.status_code == 429
        assert answer.headers["retry-after"] in ("1", "2")
        assert "www-authenticate" not in answer.headers
        problem = answer.json()
        assert (problem["code"], problem["retryable"]) == ("overloaded", True)
        assert (problem["status"], 0 < problem["retry_after_s"] <= 2) == (429, True)

        error = server.mcp("tools/list", {}, KEY)
        assert (error.status_code, "retry-after" in error.headers) == (429, True)
        assert error.json()["error"]["message"].startswith("overloaded: ")
        assert error.json()["error"]["data"]["retryable"]

        assert server.get("/nothing", OTHER).status_code == 404
        assert server.get("/health/live").status_code == 200


def test_a_client_goes_on_when_it_has_waited(tmp_path: Path) -> None:
    async def call_and_wait(url: str) -> None:
        async with Client(url, auth=BearerAuth(KEY)) as client:
            with pytest.raises(MCPError, match=r"^overloaded: ") as caught:
                for _ in range(20):
                    await client.call_tool("core_list_kbs", {})
            await asyncio.sleep(caught.value.error.data["retry_after_s"])
            await client.call_tool("core_list_kbs", {})

    auth = {"enabled": True, "api_key": KEY, "rate_limit": 60}
    with Served(tmp_path / "home", auth=auth) as server:
        asyncio.run(call_and_wait(f"{server.url}/mcp"))


def test_guessing_is_held_back_and_holds_nobody_else_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    auth = {"enabled": True, "api_key": KEY, "failure_limit": 5}
    with Served(tmp_path / "home", auth=auth) as server:
        statuses = [server.get("/mcp", f"guess-{n}").status_code for n in range(8)]
        assert statuses == [401] * 5 + [429] * 3
        assert int(server.get("/mcp", "guess").headers["retry-after"]) <= 12
        assert server.get("/nothing", KEY).status_code == 404
        assert server.get("/nothing").status_code == 401  # showing none is no guess
    assert caplog.text.count("Refused a token from 127.0.0.1") == 5
    assert "guess" not in caplog.text
