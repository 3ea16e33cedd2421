"""Authentication as the settings want it, or no start at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eagle_rag_core.api.auth.addresses import checked_base_url, checked_url
from eagle_rag_core.api.auth.authentication import Authentication
from eagle_rag_core.api.auth.grants import granted
from eagle_rag_core.api.auth.resource import Resource
from eagle_rag_core.api.auth.static_tokens import StaticTokens
from eagle_rag_core.api.auth.verified import Verified
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings import Settings
from eagle_rag_core.settings.sections import AuthSettings

_SECRETS: Final = ("api_key", "tokens")
#: What only one provider reads. Set for another, it would be believed to protect something.
_OF_PROVIDER: Final = {
    "oauth-custom": ("issuer_url", "audience", "jwks_uri", "kbs_claim"),
    "oauth-github": ("github_client_id", "github_client_secret", "github_users"),
}
_SHORTEST_SECRET: Final = 16


def configure_mcp_auth(settings: Settings) -> Authentication | None:
    """What callers over HTTP are asked for; ``None`` if ``auth.enabled`` is off.

    The operator's own tokens (``auth.api_key``, ``auth.tokens``) are known beside every provider:
    programs such as a metrics collector cannot sign in.

    :raises ConfigError: what is set cannot protect the server: something is missing, wrong or
        contradictory. The message says what to do.
    """
    auth, provider = settings.auth, settings.mcp.auth_provider
    if not auth.enabled:
        _refuse_idle_credentials(auth)
        return None
    _refuse_settings_of_others(auth, provider)
    tokens = StaticTokens.from_settings(auth)
    base_url = checked_base_url(auth.base_url) if auth.base_url else ""
    if provider == "oauth-custom":
        return _of_issuer(settings, tokens, base_url)
    if provider == "oauth-github":
        return _of_github(settings, tokens, base_url)
    if not tokens:
        raise ConfigError(
            "auth.enabled is set, but there is no token that a caller could show; set auth.api_key "
            "(AUTH_API_KEY) or auth.tokens."
        )
    return Authentication([tokens], Resource(base_url, settings.mcp.streamable_http_path))


def _of_issuer(settings: Settings, tokens: StaticTokens, base_url: str) -> Authentication:
    from eagle_rag_core.api.auth.json_web_tokens import JsonWebTokens
    from eagle_rag_core.api.auth.key_set import KeySet

    auth = settings.auth
    if not auth.issuer_url:
        raise ConfigError("mcp.auth_provider is oauth-custom: set auth.issuer_url to its issuer.")
    if not auth.audience:
        raise ConfigError(
            "auth.audience is missing: tokens that the issuer made for other services would be "
            "accepted here. Set it to what its tokens for this server have as `aud`."
        )
    if not auth.algorithms:
        raise ConfigError("auth.algorithms is empty: no signature would be accepted; try [RS256].")
    below_issuer = checked_url("auth.issuer_url", auth.issuer_url)
    jwks_uri = checked_url(
        "auth.jwks_uri", auth.jwks_uri or f"{below_issuer}/.well-known/jwks.json"
    )
    verifier = JsonWebTokens(
        KeySet(jwks_uri, auth.algorithms),
        issuer=auth.issuer_url,
        audience=auth.audience,
        algorithms=auth.algorithms,
        kbs_claim=auth.kbs_claim,
        clock_skew=auth.clock_skew,
    )
    resource = Resource(base_url, settings.mcp.streamable_http_path, [auth.issuer_url])
    return Authentication([tokens, verifier], resource)


def _of_github(settings: Settings, tokens: StaticTokens, base_url: str) -> Authentication:
    from eagle_rag_core.api.auth.github import GithubSignIn, GithubUsers

    auth, mcp_path = settings.auth, settings.mcp.streamable_http_path
    secret = auth.github_client_secret.get_secret_value()
    for key in ("github_client_id", "github_client_secret", "base_url"):
        if not getattr(auth, key):
            raise ConfigError(f"mcp.auth_provider is oauth-github: set auth.{key}.")
    if len(secret) < _SHORTEST_SECRET or secret != secret.strip():
        raise ConfigError("auth.github_client_secret is none that GitHub made: check it.")
    github_url = checked_url("auth.github_url", auth.github_url)
    api_url = checked_url("auth.github_api_url", auth.github_api_url)
    users = list(_github_users(auth))
    sign_in = GithubSignIn(
        GithubUsers(users),
        client_id=auth.github_client_id,
        client_secret=secret,
        base_url=base_url,
        github_url=github_url,
        api_url=api_url,
        mcp_path=mcp_path,
        folder=settings.home / "oauth",
    )
    resource = Resource(base_url, mcp_path, [sign_in.issuer])
    return Authentication([tokens, sign_in], resource, sign_in.routes)


def _github_users(auth: AuthSettings) -> Iterator[tuple[str, int, Verified]]:
    if not auth.github_users:
        raise ConfigError(
            "auth.github_users is empty: everybody with a GitHub account, or nobody, could call. "
            "List who may, e.g. [{login: octocat}]."
        )
    seen: set[str | int] = set()
    for number, user in enumerate(auth.github_users):
        key = f"auth.github_users[{number}]"
        names = {each for each in (user.login.lower(), user.id) if each}
        if not names:
            raise ConfigError(f"{key} names nobody; give login or id.")
        if names & seen:
            raise ConfigError(f"{key} is listed twice.")
        seen |= names
        caller_id = f"github:{user.login.lower() or user.id}"
        yield user.login, user.id, granted(key, caller_id, user.scopes, user.kbs)


def _refuse_idle_credentials(auth: AuthSettings) -> None:
    idle = (*_SECRETS, *(key for keys in _OF_PROVIDER.values() for key in keys))
    for key in idle:
        if getattr(auth, key):
            raise ConfigError(
                f"auth.{key} is set, but auth.enabled is not: nobody would be asked for it. Set "
                f"auth.enabled, or remove auth.{key}."
            )


def _refuse_settings_of_others(auth: AuthSettings, provider: str) -> None:
    for other, keys in _OF_PROVIDER.items():
        for key in keys:
            if other != provider and getattr(auth, key):
                raise ConfigError(
                    f"auth.{key} is set, which only {other} reads, and mcp.auth_provider is "
                    f"{provider}. Set mcp.auth_provider to {other}, or remove auth.{key}."
                )
