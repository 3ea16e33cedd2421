"""Who may call over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, Field, SecretStr

from eagle_rag_core.settings.sections.base import Section

#: What a caller over HTTP may do: use the tools and REST; see what administrators see.
AuthScope = Literal["eagle-rag:tools", "eagle-rag:admin"]
#: Signatures with a public key. With a shared secret, who can check tokens can also make them.
SignatureAlgorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"
]


class TokenSettings(Section):
    """A bearer token and what it allows. Exactly one of token, token_hash and token_file."""

    name: str = Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    token: SecretStr = SecretStr("")
    token_hash: SecretStr = SecretStr("")
    token_file: Path | None = None
    scopes: list[AuthScope] = Field(["eagle-rag:tools"])
    kbs: list[str] | None = None
    expires_at: AwareDatetime | None = None


class GithubUserSettings(Section):
    """A GitHub account that may sign in, by its login, its number, or both."""

    login: str = Field("", pattern=r"^([A-Za-z0-9][A-Za-z0-9-]{0,38})?$")
    id: int = Field(0, ge=0)
    scopes: list[AuthScope] = Field(["eagle-rag:tools"])
    kbs: list[str] | None = None


class AuthSettings(Section):
    enabled: bool = Field(False, description="Demand a token from callers over HTTP.")
    allow_anonymous: bool = Field(
        False, description="Serve beyond this machine without authentication."
    )
    api_key: SecretStr = Field(
        SecretStr(""),
        description="One token with every right, at least 24 characters; also `AUTH_API_KEY`.",
    )
    tokens: list[TokenSettings] = Field(
        [],
        description="Tokens with rights of their own: name, one of token, token_hash (SHA-256) and "
        "token_file, scopes, kbs, expires_at.",
    )
    base_url: str = Field(
        "",
        description="Address that clients reach this server at, e.g. https://rag.example.org; "
        "oauth-github needs it. Empty = as in the request.",
    )
    issuer_url: str = Field("", description="oauth-custom: who issues the tokens (`iss`).")
    audience: str = Field("", description="oauth-custom: what the tokens are issued for (`aud`).")
    jwks_uri: str = Field(
        "", description="oauth-custom: keys of the issuer; empty = <issuer>/.well-known/jwks.json."
    )
    algorithms: list[SignatureAlgorithm] = Field(
        ["RS256"], description="oauth-custom: signatures that are accepted."
    )
    kbs_claim: str = Field(
        "",
        description="oauth-custom: claim with the knowledge bases of a token, `*` for all; empty = "
        "every token reaches all.",
    )
    clock_skew: float = Field(
        30.0, ge=0, le=300, description="oauth-custom: seconds that clocks may differ."
    )
    github_client_id: str = Field("", description="oauth-github: the OAuth app.")
    github_client_secret: SecretStr = Field(
        SecretStr(""), description="oauth-github: the secret of that app."
    )
    github_users: list[GithubUserSettings] = Field(
        [], description="oauth-github: who may sign in: login or id, scopes, kbs."
    )
    github_url: str = Field(
        "https://github.com", description="oauth-github: another one for GitHub Enterprise Server."
    )
    github_api_url: str = Field(
        "https://api.github.com", description="oauth-github: the API of that server."
    )
    rate_limit: int = Field(
        1200, ge=0, description="Requests a minute that one caller may make, 0 = no limit."
    )
    failure_limit: int = Field(
        60,
        ge=1,
        description="Refused tokens and steps of a sign-in a minute that one address may make.",
    )
