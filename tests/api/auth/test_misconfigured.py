"""What cannot protect a server does not start one, and the message says what to do."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from eagle_rag_core.api.auth import configure_mcp_auth
from eagle_rag_core.api.mcp_http import check_exposure
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings import load_settings

GOOD = "tok_4fJ2pQx7Rw9LmZ0aVb3sYd"
OTHER = "tok_9bK8nHs1Tq5GcE6uWj2rXf"
CUSTOM = {"auth_provider": "oauth-custom"}
GITHUB = {"auth_provider": "oauth-github"}
ISSUER = {"issuer_url": "https://id.example.org", "audience": "https://rag.example.org"}
APP = {
    "github_client_id": "Iv1.0123456789abcdef",
    "github_client_secret": "0123456789abcdef0123456789abcdef01234567",
    "base_url": "https://rag.example.org",
    "github_users": [{"login": "octocat"}],
}


def token(**changes: Any) -> dict[str, Any]:
    entry = {"name": "ci", "token": GOOD, **changes}
    return {"tokens": [{key: value for key, value in entry.items() if value is not ...}]}


#: Settings of ``auth`` and ``mcp``, and words of the message.
BAD: dict[str, tuple[Mapping[str, Any], Mapping[str, Any], str]] = {
    "no key": ({}, {}, "set auth.api_key"),
    "blank key": ({"api_key": "   "}, {}, "auth.api_key is empty, or"),
    "short key": ({"api_key": "s3cret"}, {}, "auth.api_key could be guessed"),
    "dull key": ({"api_key": "abababababababababababababab"}, {}, "auth.api_key could be guessed"),
    "key with a blank": ({"api_key": f"{GOOD} {GOOD}"}, {}, "characters that no token may have"),
    "key with a line break": ({"api_key": f"{GOOD}\n"}, {}, "characters that no token may have"),
    "key beyond ASCII": ({"api_key": f"{GOOD}ü"}, {}, "characters that no token may have"),
    "huge key": ({"api_key": GOOD * 1000}, {}, "characters that no token may have"),
    "unknown provider": ({"api_key": GOOD}, {"auth_provider": "basic"}, "mcp.auth_provider"),
    "token without one": (token(token=...), {}, "exactly one of token"),
    "empty token": (token(token=""), {}, "exactly one of token"),
    "two sources": (token(token_hash="0" * 64), {}, "token and token_hash"),
    "short token": (token(token="s3cret"), {}, "auth.tokens[0] (ci).token could be guessed"),
    "hash of nothing": (token(token=..., token_hash="sha256"), {}, "token_hash is no SHA-256"),
    "hash too short": (token(token=..., token_hash="0" * 63), {}, "token_hash is no SHA-256"),
    "missing file": (
        token(token=..., token_file="/nowhere/token"),
        {},
        "token_file cannot be read",
    ),
    "relative file": (token(token=..., token_file="token"), {}, "not an absolute path"),
    "folder as file": (token(token=..., token_file="/"), {}, "token_file cannot be read"),
    "empty file": (token(token=..., token_file="/dev/null"), {}, "token_file is empty, or"),
    "endless file": (token(token=..., token_file="/dev/zero"), {}, "token_file is empty, or"),
    "no name": (token(name=""), {}, "auth.tokens.0.name"),
    "odd name": (token(name="ci\nroot"), {}, "auth.tokens.0.name"),
    "name of another": (token(name="local"), {}, "stands for another caller"),
    "name of the key": (token(name="api-key"), {}, "stands for another caller"),
    "same name": (
        {"tokens": [*token()["tokens"], *token(token=OTHER)["tokens"]]},
        {},
        "two entries have the name 'ci'",
    ),
    "same token": (
        {"tokens": [*token()["tokens"], *token(name="b")["tokens"]]},
        {},
        "ci and b have the same token",
    ),
    "same token, hashed": (
        {"api_key": GOOD, **token(token=..., token_hash=hashlib.sha256(GOOD.encode()).hexdigest())},
        {},
        "api-key and ci have the same token",
    ),
    "expired": (token(expires_at="2020-01-01T00:00:00Z"), {}, "All of auth.tokens have expired"),
    "expiry without zone": (token(expires_at="2030-01-01T00:00:00"), {}, "tokens.0.expires_at"),
    "expiry is a word": (token(expires_at="soon"), {}, "tokens.0.expires_at"),
    "no kbs": (token(kbs=[]), {}, "kbs is empty: name the knowledge bases"),
    "bad kb": (token(kbs=["Mine!"]), {}, "'Mine!' cannot be the name of a knowledge base"),
    "kb wildcard": (token(kbs=["*"]), {}, "'*' cannot be the name of a knowledge base"),
    "no scopes": (token(scopes=[]), {}, "scopes is empty"),
    "unknown scope": (token(scopes=["admin"]), {}, "auth.tokens.0.scopes.0"),
    "admin of some": (token(kbs=["mine"], scopes=["eagle-rag:admin"]), {}, "leave out kbs"),
    "mistyped key": (token(kb=["mine"]), {}, "auth.tokens.0.kb"),
    "issuer, static": ({"api_key": GOOD, **ISSUER}, {}, "Set mcp.auth_provider to oauth-custom"),
    "app, static": ({"api_key": GOOD, **APP}, {}, "Set mcp.auth_provider to oauth-github"),
    "app, custom": ({**ISSUER, **APP}, CUSTOM, "which only oauth-github reads"),
    "no issuer": ({"audience": "x"}, CUSTOM, "set auth.issuer_url"),
    "no audience": ({"issuer_url": "https://id.example.org"}, CUSTOM, "auth.audience is missing"),
    "issuer in the clear": (
        {**ISSUER, "issuer_url": "http://id.example.org"},
        CUSTOM,
        "auth.issuer_url begins with http://",
    ),
    "issuer is no address": ({**ISSUER, "issuer_url": "id"}, CUSTOM, "auth.issuer_url is no web"),
    "issuer is a file": (
        {**ISSUER, "issuer_url": "file:///etc/keys"},
        CUSTOM,
        "auth.issuer_url is no web address",
    ),
    "keys in the clear": (
        {**ISSUER, "jwks_uri": "http://id.example.org/keys"},
        CUSTOM,
        "auth.jwks_uri begins with http://",
    ),
    "keys at a lookalike": (
        {**ISSUER, "jwks_uri": "http://127.0.0.1.example.org/keys"},
        CUSTOM,
        "auth.jwks_uri begins with http://",
    ),
    "keys with a password": (
        {**ISSUER, "jwks_uri": "https://u:p@id.example.org/keys"},
        CUSTOM,
        "auth.jwks_uri may have a host, a port and a path only",
    ),
    "no algorithms": ({**ISSUER, "algorithms": []}, CUSTOM, "auth.algorithms is empty"),
    "algorithm none": ({**ISSUER, "algorithms": ["none"]}, CUSTOM, "auth.algorithms.0"),
    "shared secrets": ({**ISSUER, "algorithms": ["HS256"]}, CUSTOM, "auth.algorithms.0"),
    "wide skew": ({**ISSUER, "clock_skew": 3600}, CUSTOM, "auth.clock_skew"),
    "no app": ({**APP, "github_client_id": ""}, GITHUB, "set auth.github_client_id"),
    "no secret": ({**APP, "github_client_secret": ""}, GITHUB, "set auth.github_client_secret"),
    "short secret": ({**APP, "github_client_secret": "x"}, GITHUB, "none that GitHub made"),
    "no address": ({**APP, "base_url": ""}, GITHUB, "set auth.base_url"),
    "address in the clear": (
        {**APP, "base_url": "http://0.0.0.0:8001"},
        GITHUB,
        "auth.base_url begins with http://",
    ),
    "address with a path": (
        {**APP, "base_url": "https://example.org/rag"},
        GITHUB,
        "auth.base_url has a path",
    ),
    "address with a quote": (
        {"api_key": GOOD, "base_url": 'https://example.org"x'},
        {},
        "auth.base_url may have a host",
    ),
    "no users": ({**APP, "github_users": []}, GITHUB, "auth.github_users is empty"),
    "nobody": ({**APP, "github_users": [{}]}, GITHUB, "auth.github_users[0] names nobody"),
    "user twice": (
        {**APP, "github_users": [{"login": "octocat"}, {"login": "OctoCat"}]},
        GITHUB,
        "auth.github_users[1] is listed twice",
    ),
    "user without kbs": (
        {**APP, "github_users": [{"login": "octocat", "kbs": []}]},
        GITHUB,
        "auth.github_users[0].kbs is empty",
    ),
    "other GitHub in the clear": (
        {**APP, "github_url": "http://git.example.org"},
        GITHUB,
        "auth.github_url begins with http://",
    ),
    "off, with a key": ({"enabled": False, "api_key": GOOD}, {}, "auth.enabled is not"),
    "off, with tokens": ({"enabled": False, **token()}, {}, "auth.enabled is not"),
    "off, with an issuer": ({"enabled": False, **ISSUER}, CUSTOM, "auth.enabled is not"),
    "on, and anonymous": ({"allow_anonymous": True}, {}, "set auth.api_key"),
}


@pytest.mark.parametrize(("auth", "mcp", "words"), BAD.values(), ids=BAD)
def test_it_refuses_to_start(
    tmp_path: Path, auth: Mapping[str, Any], mcp: Mapping[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        overrides = {"home": tmp_path, "auth": {"enabled": True, **auth}, "mcp": mcp}
        check_exposure(load_settings(overrides=overrides), "127.0.0.1")
    message = caught.value.message
    assert words in message
    for secret in (GOOD, OTHER, "s3cret", APP["github_client_secret"]):
        assert secret not in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("auth", "mcp"),
    [
        ({"api_key": GOOD}, {}),
        (token(), {}),
        (token(expires_at="2999-01-01T00:00:00Z", kbs=["mine"]), {}),
        ({"api_key": GOOD, "base_url": "http://localhost:8001/"}, {}),
        (ISSUER, CUSTOM),
        ({**ISSUER, "issuer_url": "http://127.0.0.1:9000", **token()}, CUSTOM),
        (APP, GITHUB),
    ],
)
def test_sound_settings_are_accepted(
    tmp_path: Path, auth: Mapping[str, Any], mcp: Mapping[str, Any]
) -> None:
    overrides = {"home": tmp_path, "auth": {"enabled": True, **auth}, "mcp": mcp}
    check_exposure(load_settings(overrides=overrides), "0.0.0.0")


def test_without_authentication_there_is_none(tmp_path: Path) -> None:
    assert configure_mcp_auth(load_settings(overrides={"home": tmp_path})) is None


def test_a_bind_beyond_loopback_demands_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"set auth\.enabled"):
        check_exposure(load_settings(overrides={"home": tmp_path}), "0.0.0.0")


def test_tokens_in_the_clear_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    auth = {"enabled": True, "api_key": GOOD}
    settings = load_settings(overrides={"home": tmp_path, "auth": auth})
    check_exposure(settings, "127.0.0.1")
    assert caplog.text == ""
    check_exposure(settings, "0.0.0.0")
    assert "Tokens travel in the clear" in caplog.text
