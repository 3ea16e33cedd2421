"""Signing in with GitHub.

GitHub knows neither MCP's way of registering clients nor audiences of tokens. FastMCP's OAuth proxy
stands in between: clients register and sign in here, the person at GitHub, and what clients get is
a token of this server's own, for this server alone. Who may then do what, the settings say.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from cryptography.fernet import Fernet
from fastmcp.server.auth import AccessToken, OAuthProxy, TokenVerificationError, TokenVerifier
from fastmcp.server.auth.jwt_issuer import derive_jwt_key
from fastmcp.utilities.token_cache import TokenCache
from key_value.aio.stores.filetree import (
    FileTreeStore,
    FileTreeV1CollectionSanitizationStrategy,
    FileTreeV1KeySanitizationStrategy,
)
from key_value.aio.wrappers.encryption import FernetEncryptionWrapper
from starlette.routing import Route

from eagle_rag_core.api.auth.fetching import Unavailable, get_json
from eagle_rag_core.api.auth.refusals import cannot_verify, forbidden, invalid_token
from eagle_rag_core.api.auth.resource import METADATA_PATH
from eagle_rag_core.api.auth.verified import ADMIN_SCOPE, TOOLS_SCOPE, Verified

#: Seconds for which GitHub's word on a token holds: how long one that was revoked lives on.
_FRESH: Final = 300
#: Seconds until a person has to sign in again.
_SIGNED_IN: Final = 30 * 24 * 3600


class GithubUsers:
    """The accounts that may call, by login or number.

    A login that its owner gives up can be taken by somebody else, a number cannot.
    """

    def __init__(self, users: Sequence[tuple[str, int, Verified]]) -> None:
        self._users = tuple((login.lower(), number, verified) for login, number, verified in users)

    def verified(self, login: str, number: int) -> Verified | None:
        for known_login, known_number, verified in self._users:
            if known_login in ("", login.lower()) and known_number in (0, number):
                return verified
        return None


class GithubSignIn:
    """Verifies the tokens that its sign-in gives out.

    :param base_url: where clients reach this server; GitHub sends people back to
        ``<base_url>/auth/callback``.
    :param folder: keeps who is signed in, encrypted; shared by all processes of a home.
    """

    def __init__(
        self,
        users: GithubUsers,
        *,
        client_id: str,
        client_secret: str,
        base_url: str,
        github_url: str,
        api_url: str,
        mcp_path: str,
        folder: Path,
    ) -> None:
        self._users = users
        store = _files(folder)
        key = derive_jwt_key(high_entropy_material=client_secret, salt="eagle-rag-oauth-store")
        self._proxy = OAuthProxy(
            upstream_authorization_endpoint=f"{github_url}/login/oauth/authorize",
            upstream_token_endpoint=f"{github_url}/login/oauth/access_token",
            upstream_client_id=client_id,
            upstream_client_secret=client_secret,
            token_verifier=_Accounts(api_url),
            base_url=base_url,
            issuer_url=base_url,
            valid_scopes=[TOOLS_SCOPE, ADMIN_SCOPE],
            # Our scopes mean nothing to GitHub; without any, it tells who somebody is, no more.
            extra_authorize_params={"scope": ""},
            forward_resource=False,
            token_endpoint_auth_method="client_secret_post",
            client_storage=FernetEncryptionWrapper(
                key_value=store, fernet=Fernet(key), raise_on_decryption_error=False
            ),
            fallback_access_token_expiry_seconds=_SIGNED_IN,
            enable_cimd=False,  # strangers would name addresses that this server fetches
        )
        # The proxy clears out the store that it makes itself only; ours is of the same kind.
        self._proxy._default_file_store = store
        self.routes: tuple[Route, ...] = tuple(
            route
            for route in self._proxy.get_routes(mcp_path)
            if not route.path.startswith(METADATA_PATH)
        )

    @property
    def issuer(self) -> str:
        """The name of this server as one that gives out tokens."""
        return str(self._proxy.issuer_url)

    async def verify(self, token: str) -> Verified | None:
        """All tokens are of this kind: this verifier comes last."""
        try:
            proof = await self._proxy.load_access_token(token)
        except TokenVerificationError as error:
            raise cannot_verify(str(error)) from error
        if proof is None:
            raise invalid_token("nobody is signed in with it (any more)")
        account = proof.claims or {}
        verified = self._users.verified(account["login"], account["id"])
        if verified is None:
            raise forbidden("This GitHub account may not use this server.")
        return verified


class _Accounts(TokenVerifier):
    """Asks GitHub whose its tokens are. Only the proxy's own sign-in hands it any."""

    def __init__(self, api_url: str) -> None:
        super().__init__(required_scopes=[TOOLS_SCOPE])
        self._url = f"{api_url}/user"
        self._cache = TokenCache(ttl_seconds=_FRESH)

    async def verify_token(self, token: str) -> AccessToken | None:
        hit, known = self._cache.get(token)
        if hit:
            return known
        headers = {"authorization": f"Bearer {token}", "accept": "application/vnd.github+json"}
        try:
            account = await get_json(self._url, headers)
        except Unavailable as error:
            if error.status == 401:
                return None
            raise TokenVerificationError(f"GitHub does not answer: {error}") from error
        found = _access(account)
        self._cache.set(token, found)
        return found


def _access(account: Any) -> AccessToken:
    """What GitHub says of an account, without the token, which is to go nowhere else."""
    login = account.get("login") if isinstance(account, dict) else None
    number = account.get("id") if isinstance(account, dict) else None
    if not isinstance(login, str) or type(number) is not int or not login or number < 1:
        raise TokenVerificationError("GitHub answers without login and id of an account.")
    return AccessToken(
        token="",
        client_id=str(number),
        scopes=[TOOLS_SCOPE],
        claims={"login": login, "id": number},
    )


def _files(folder: Path) -> FileTreeStore:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return FileTreeStore(
        data_directory=folder,
        key_sanitization_strategy=FileTreeV1KeySanitizationStrategy(folder),
        collection_sanitization_strategy=FileTreeV1CollectionSanitizationStrategy(folder),
    )
