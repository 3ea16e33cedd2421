"""Access tokens of an issuer of the operator's own: signed JWTs (RFC 7519, 8725, 9068)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import jwt

from eagle_rag_core.api.auth.key_set import KeySet
from eagle_rag_core.api.auth.refusals import expired_token, invalid_token
from eagle_rag_core.api.auth.verified import Verified
from eagle_rag_core.catalog.ids import is_kb_name
from eagle_rag_core.types import Caller

#: Values of ``typ``; identity tokens of some issuers and security events have others.
_TYPES: Final = frozenset({"", "jwt", "at+jwt", "application/at+jwt"})
_REQUIRED: Final = ("iss", "aud", "exp", "sub")
_LONGEST_ID: Final = 256
_EVERYTHING: Final = "*"
#: What reading a token may raise that somebody made to break its reader.
_UNREADABLE: Final = (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError)


class JsonWebTokens:
    """Verifies JWTs.

    :param issuer: ``iss`` of every token.
    :param audience: among ``aud`` of every token.
    :param algorithms: signatures that are accepted, all of them with public keys.
    :param kbs_claim: claim that lists the knowledge bases; "" if tokens reach all.
    :param clock_skew: seconds.
    """

    def __init__(
        self,
        keys: KeySet,
        *,
        issuer: str,
        audience: str,
        algorithms: Sequence[str],
        kbs_claim: str = "",
        clock_skew: float = 0.0,
    ) -> None:
        self._keys = keys
        self._issuer = issuer
        self._audience = audience
        self._algorithms = frozenset(algorithms)
        self._kbs_claim = kbs_claim
        self._clock_skew = clock_skew

    async def verify(self, token: str) -> Verified | None:
        """All tokens are of this kind: this verifier comes last."""
        kid, algorithm = self._header(token)
        key = await self._keys.key(kid, algorithm)
        if key is None:
            raise invalid_token("the issuer has no such key")
        claims = self._claims(token, key, algorithm)
        subject = claims["sub"]
        if not subject or len(subject) > _LONGEST_ID or not subject.isprintable():
            raise invalid_token("its subject cannot name a caller")
        if "cnf" in claims:
            raise invalid_token("it is bound to a key that a bearer token does not prove")
        return Verified(Caller(f"jwt:{subject}", self._kbs(claims)), _scopes(claims))

    def _header(self, token: str) -> tuple[str, str]:
        """Id of the key ("" without one) and algorithm; nothing else in the header is heeded."""
        try:
            header = jwt.get_unverified_header(token)
        except _UNREADABLE:
            raise invalid_token("it is no JWT") from None
        algorithm, kid, kind = header.get("alg"), header.get("kid", ""), header.get("typ", "")
        if algorithm not in self._algorithms:
            raise invalid_token("its algorithm is not among auth.algorithms")
        if not isinstance(kid, str) or len(kid) > _LONGEST_ID:
            raise invalid_token("its key id is no short text")
        if not isinstance(kind, str) or kind.lower() not in _TYPES:
            raise invalid_token("it is no access token")
        if "crit" in header:
            raise invalid_token("it demands extensions that this server does not know")
        return kid, algorithm

    def _claims(self, token: str, key: jwt.PyJWK, algorithm: str) -> Mapping[str, Any]:
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                issuer=self._issuer,
                audience=self._audience,
                leeway=self._clock_skew,
                options={"require": list(_REQUIRED)},
            )
        except jwt.ExpiredSignatureError:
            raise expired_token() from None
        except _UNREADABLE as error:
            raise invalid_token(type(error).__name__) from None
        times = [claims[name] for name in ("exp", "nbf", "iat") if name in claims]
        if not all(type(each) in (int, float) for each in times):
            raise invalid_token("a time in it is no number")
        return claims

    def _kbs(self, claims: Mapping[str, Any]) -> frozenset[str] | None:
        if not self._kbs_claim:
            return None
        named = claims.get(self._kbs_claim)
        if isinstance(named, str):
            named = named.split()
        if not isinstance(named, list) or not all(isinstance(each, str) for each in named):
            raise invalid_token("auth.kbs_claim is not in it, or is no list of names")
        if _EVERYTHING in named:
            return None
        if not all(map(is_kb_name, named)):
            raise invalid_token("auth.kbs_claim has what cannot name a knowledge base")
        return frozenset(named)


def _scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    """Of ``scope`` (RFC 8693) or ``scp``, as text or as a list."""
    found = claims.get("scope", claims.get("scp", ""))
    if isinstance(found, str):
        return frozenset(found.split())
    listed = found if isinstance(found, list) else []
    return frozenset(each for each in listed if isinstance(each, str))
