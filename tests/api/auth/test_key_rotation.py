"""An issuer's keys: fetched when needed, not too often, not for too long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from identity_provider import AUDIENCE, PATH, Issuer, public_jwk, rsa_key
from served import Served

from eagle_rag_core.api.auth import key_set
from eagle_rag_core.api.auth.key_set import KeySet
from eagle_rag_core.api.auth.refusals import Refusal

ONE, TWO = (public_jwk(rsa_key(name), kid=name) for name in ("one", "two"))


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with Issuer() as issuer:
        yield issuer


class Keys:
    """A key set that is asked like a server asks it."""

    def __init__(self, issuer: Issuer) -> None:
        self.clock = Clock()
        self.keys = KeySet(issuer.address + PATH, ["RS256"], clock=self.clock)
        self._issuer = issuer

    def has(self, kid: str, *, after: float = 0.0) -> bool:
        self.clock.now += after
        return asyncio.run(self.keys.key(kid, "RS256")) is not None

    @property
    def fetches(self) -> int:
        return len(self._issuer.seen)


@pytest.fixture
def keys(issuer: Issuer) -> Keys:
    return Keys(issuer)


def test_keys_are_kept(keys: Keys) -> None:
    assert all(keys.has("one", after=1) for _ in range(50))
    assert keys.fetches == 1


def test_a_new_key_is_found(issuer: Issuer, keys: Keys) -> None:
    assert keys.has("one")
    issuer.publish(ONE, TWO)
    assert keys.has("two", after=11)
    assert keys.has("one")
    assert keys.fetches == 2


def test_a_withdrawn_key_is_forgotten(issuer: Issuer, keys: Keys) -> None:
    assert keys.has("one")
    issuer.publish(TWO)
    assert not keys.has("one", after=301)
    assert keys.has("two")


def test_an_issuer_may_withdraw_all(issuer: Issuer, keys: Keys) -> None:
    assert keys.has("one")
    issuer.publish()
    assert not keys.has("one", after=301)


def test_unknown_keys_do_not_make_it_ask_on_and_on(keys: Keys) -> None:
    assert keys.has("one")
    for number in range(300):
        assert not keys.has(f"guess {number}", after=0.1)
    assert keys.fetches <= 4  # one in ten seconds


def test_many_at_once_ask_once(issuer: Issuer, keys: Keys) -> None:
    async def all_at_once() -> None:
        found = await asyncio.gather(*(keys.keys.key("one", "RS256") for _ in range(30)))
        assert all(found)

    asyncio.run(all_at_once())
    assert keys.fetches == 1


def test_known_keys_outlive_an_outage_for_a_while(issuer: Issuer, keys: Keys) -> None:
    assert keys.has("one")
    issuer.page(PATH, b"down", status=503)
    assert keys.has("one", after=301)
    assert keys.has("one", after=3000)
    with pytest.raises(Refusal) as caught:
        keys.has("one", after=400)
    assert (caught.value.status, caught.value.code) == (503, "auth_unavailable")
    issuer.publish(ONE)
    assert keys.has("one", after=11)


def _redirect(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(302)
    handler.send_header("Location", "/elsewhere")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


@pytest.mark.parametrize(
    "body",
    [b"no JSON", b"[]", b'"keys"', b"{}", b'{"keys": {}}', b'{"keys": ' + b"[" * 100_000, None],
    ids=["text", "list", "string", "empty", "mapping", "deep", "huge"],
)
def test_an_answer_that_is_no_key_set_is_none(
    issuer: Issuer, keys: Keys, body: bytes | None
) -> None:
    issuer.page(PATH, body if body is not None else b'{"keys": []}'.ljust(300_000))
    with pytest.raises(Refusal, match="keys cannot be fetched"):
        keys.has("one")


def test_redirects_lead_nowhere(issuer: Issuer, keys: Keys) -> None:
    issuer.pages[PATH] = _redirect
    issuer.page("/elsewhere", b'{"keys": []}')
    with pytest.raises(Refusal):
        keys.has("one")
    assert [path for path, _ in issuer.seen] == [PATH]


def test_nobody_there_is_told_without_details(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Issuer() as issuer:
        token, address = issuer.token(), issuer.address
    auth = {"enabled": True, "issuer_url": address, "audience": AUDIENCE}
    with Served(tmp_path / "h", auth=auth, mcp={"auth_provider": "oauth-custom"}) as server:
        answer = server.get("/mcp/tools", token)
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "10"
        assert answer.json()["code"] == "auth_unavailable" and answer.json()["retryable"]
        assert "www-authenticate" not in answer.headers
        assert str(issuer.port) not in answer.text
        assert server.get("/health/live").status_code == 200
    assert "ConnectError" in caplog.text and token not in caplog.text


def test_keys_rotate_under_a_running_server(
    issuer: Issuer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    auth = {"enabled": True, "issuer_url": issuer.address, "audience": AUDIENCE}
    old, new = issuer.token(), issuer.token(rsa_key("two"), headers={"kid": "two"})
    with Served(tmp_path / "h", auth=auth, mcp={"auth_provider": "oauth-custom"}) as server:
        status = {token: server.get("/mcp/tools", token).status_code for token in (old, new)}
        assert status == {old: 200, new: 401}
        issuer.publish(TWO)
        monkeypatch.setattr(key_set, "_PAUSE", 0.0)
        status = {token: server.get("/mcp/tools", token).status_code for token in (new, old)}
        assert status == {old: 401, new: 200}
    for token in (old, new):
        assert token not in caplog.text and token.rpartition(".")[2] not in caplog.text
