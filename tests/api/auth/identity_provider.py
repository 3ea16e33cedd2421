"""An issuer of JWTs with a real server for its keys."""

from __future__ import annotations

import json
import time
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from web_server import WebServer

AUDIENCE = "https://rag.example.org/mcp"
TOOLS = "eagle-rag:tools"
ADMIN = "eagle-rag:admin"
PATH = "/.well-known/jwks.json"


@cache
def rsa_key(name: str, bits: int = 2048) -> rsa.RSAPrivateKey:
    """A key of that name; making one takes a while."""
    return rsa.generate_private_key(public_exponent=65537, key_size=bits)


@cache
def ec_key(name: str) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@cache
def ed_key(name: str) -> ed25519.Ed25519PrivateKey:
    return ed25519.Ed25519PrivateKey.generate()


def public_jwk(key: Any, **fields: Any) -> dict[str, Any]:
    kinds = {rsa.RSAPrivateKey: RSAAlgorithm, ec.EllipticCurvePrivateKey: ECAlgorithm}
    algorithm = next((a for kind, a in kinds.items() if isinstance(key, kind)), OKPAlgorithm)
    return {**json.loads(algorithm.to_jwk(key.public_key())), **fields}


class Issuer(WebServer):
    """Publishes keys and signs tokens.

    :param claims: that every token has besides the usual ones.
    """

    def __init__(self, **claims: Any) -> None:
        super().__init__("127.0.0.1")
        self._more = claims
        self.address = f"http://127.0.0.1:{self.port}"
        self.publish(public_jwk(rsa_key("one"), kid="one"))

    def publish(self, *keys: dict[str, Any]) -> None:
        self.page(PATH, json.dumps({"keys": keys}).encode())

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Of a good token, with changes; ``...`` leaves a claim out."""
        now = int(time.time())
        good = {
            "iss": self.address,
            "aud": AUDIENCE,
            "sub": "ada",
            "iat": now,
            "exp": now + 600,
            "scope": TOOLS,
            **self._more,
        }
        return {name: value for name, value in {**good, **changes}.items() if value is not ...}

    def token(
        self,
        key: Any = None,
        *,
        algorithm: str = "RS256",
        headers: dict[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        """A good token, with changes to its claims."""
        return jwt.encode(
            self.claims(**claims),
            rsa_key("one") if key is None else key,
            algorithm=algorithm,
            headers={"kid": "one"} if headers is None else headers,
        )
