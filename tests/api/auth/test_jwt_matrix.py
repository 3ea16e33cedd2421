"""Which JWTs are let in, over a real socket, with keys from a real server."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from identity_provider import ADMIN, AUDIENCE, TOOLS, Issuer, ec_key, ed_key, public_jwk, rsa_key
from served import Served

pytestmark = pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
_WEAK = rsa_key("weak", 1024)


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer(eagle_kbs=["*"]) as issuer:
        issuer.publish(
            public_jwk(rsa_key("one"), kid="one", alg="RS256", use="sig"),
            public_jwk(ec_key("two"), kid="two"),
            public_jwk(ed_key("three"), kid="three"),
            public_jwk(_WEAK, kid="weak"),
            public_jwk(rsa_key("for encryption"), kid="enc", use="enc"),
            {"kty": "oct", "kid": "shared", "k": _b64(b"a secret that was published" * 2)},
            {"kty": "RSA", "kid": "broken", "n": "!", "e": "AQAB"},
            {"kid": ["odd"]},
        )
        yield issuer


@pytest.fixture(scope="module")
def server(issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(
        tmp_path_factory.mktemp("jwt") / "home",
        mcp={"auth_provider": "oauth-custom"},
        auth={
            "enabled": True,
            "issuer_url": issuer.address,
            "audience": AUDIENCE,
            "algorithms": ["RS256", "ES256", "EdDSA"],
            "kbs_claim": "eagle_kbs",
            "clock_skew": 20,
            "failure_limit": 10_000,
        },
    ) as server:
        yield server


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _joined(header: object, claims: object, signature: bytes = b"") -> str:
    parts = (_b64(json.dumps(part).encode()) for part in (header, claims))
    return ".".join((*parts, _b64(signature)))


def _with_public_key_as_secret(issuer: Issuer, algorithm: str = "HS256") -> str:
    """Signed with what everybody has: a reader that lets the token choose would accept it."""
    public = rsa_key("one").public_key()
    pem = public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    unsigned = _joined({"alg": algorithm, "kid": "one", "typ": "JWT"}, issuer.claims())
    message = unsigned.rpartition(".")[0]
    return f"{message}.{_b64(hmac.digest(pem, message.encode(), hashlib.sha256))}"


def _other_payload(issuer: Issuer) -> str:
    header, _, signature = issuer.token().split(".")
    return ".".join((header, _b64(json.dumps(issuer.claims(sub="mallory")).encode()), signature))


def _now() -> int:
    return int(time.time())


#: Everything that must not be let in, with the status it gets.
_Make = Callable[[Issuer], str]
BAD: dict[str, tuple[_Make, int]] = {
    # for somebody else
    "other audience": (lambda i: i.token(aud="https://other.example.org"), 401),
    "audience prefix": (lambda i: i.token(aud=AUDIENCE[:-1]), 401),
    "other audiences": (lambda i: i.token(aud=["https://a.example", "https://b.example"]), 401),
    "no audience": (lambda i: i.token(aud=...), 401),
    "empty audience": (lambda i: i.token(aud=[]), 401),
    "other issuer": (lambda i: i.token(iss="https://evil.example"), 401),
    "issuer with slash": (lambda i: i.token(iss=f"{i.address}/"), 401),
    "issuers": (lambda i: _signed(i, iss=[i.address]), 401),
    "no issuer": (lambda i: i.token(iss=...), 401),
    # at another time
    "expired": (lambda i: i.token(exp=_now() - 60), 401),
    "never expires": (lambda i: i.token(exp=...), 401),
    "expiry as text": (lambda i: i.token(exp=str(_now() + 600)), 401),
    "expiry beyond numbers": (lambda i: i.token(exp=float("inf")), 401),
    "not before": (lambda i: i.token(nbf=_now() + 300), 401),
    "issued in future": (lambda i: i.token(iat=_now() + 300), 401),
    # by somebody else
    "no algorithm": (lambda i: _joined({"alg": "none", "kid": "one"}, i.claims()), 401),
    "No algorithm": (lambda i: _joined({"alg": "nOnE", "kid": "one"}, i.claims()), 401),
    "algorithm missing": (lambda i: _joined({"kid": "one"}, i.claims(), b"x"), 401),
    "HS with RSA key": (_with_public_key_as_secret, 401),
    "RS name, HS signature": (lambda i: _with_public_key_as_secret(i, "RS256"), 401),
    "published secret": (
        lambda i: i.token(
            b"a secret that was published" * 2, algorithm="HS256", headers={"kid": "shared"}
        ),
        401,
    ),
    "unlisted algorithm": (lambda i: i.token(algorithm="PS256"), 401),
    "key of another": (lambda i: i.token(rsa_key("mallory")), 401),
    "weak key": (lambda i: i.token(_WEAK, headers={"kid": "weak"}), 401),
    "key for encryption": (
        lambda i: i.token(rsa_key("for encryption"), headers={"kid": "enc"}),
        401,
    ),
    "key of another kind": (
        lambda i: i.token(ec_key("two"), algorithm="ES256", headers={"kid": "one"}),
        401,
    ),
    "other payload": (_other_payload, 401),
    "signature cut": (lambda i: i.token()[:-8], 401),
    "no signature": (lambda i: i.token().rpartition(".")[0] + ".", 401),
    # key ids
    "kid is a path": (lambda i: i.token(headers={"kid": "../../../../dev/null"}), 401),
    "kid is an address": (lambda i: i.token(headers={"kid": f"{i.address}/evil"}), 401),
    "kid is SQL": (lambda i: i.token(headers={"kid": "one' or '1'='1"}), 401),
    "kid unknown": (lambda i: i.token(headers={"kid": "four"}), 401),
    "kid missing, several keys": (
        lambda i: i.token(rsa_key("for encryption"), headers={"kid": ""}),
        401,
    ),
    "kid is a list": (lambda i: _joined({"alg": "RS256", "kid": ["one"]}, i.claims(), b"x"), 401),
    "own key in header": (
        lambda i: i.token(
            rsa_key("mallory"), headers={"kid": "m", "jwk": public_jwk(rsa_key("mallory"))}
        ),
        401,
    ),
    "own key elsewhere": (
        lambda i: i.token(rsa_key("mallory"), headers={"kid": "m", "jku": f"{i.address}/evil"}),
        401,
    ),
    # not an access token of one caller
    "identity token": (lambda i: i.token(headers={"kid": "one", "typ": "id+jwt"}), 401),
    "logout token": (lambda i: i.token(headers={"kid": "one", "typ": "logout+jwt"}), 401),
    "critical extension": (
        lambda i: i.token(headers={"kid": "one", "crit": ["x"], "x": 1}),
        401,
    ),
    "bound to a key": (lambda i: i.token(cnf={"jkt": "x"}), 401),
    "no subject": (lambda i: i.token(sub=...), 401),
    "empty subject": (lambda i: i.token(sub=""), 401),
    "subject is a number": (lambda i: _signed(i, sub=7), 401),
    "subject with a line break": (lambda i: i.token(sub="ada\nroot"), 401),
    "huge subject": (lambda i: i.token(sub="x" * 300), 401),
    "no scope": (lambda i: i.token(scope=...), 403),
    "other scope": (lambda i: i.token(scope="eagle-rag eagle-rag:toolsX tools"), 403),
    "scope is a number": (lambda i: i.token(scope=1), 403),
    # knowledge bases
    "kbs missing": (lambda i: i.token(eagle_kbs=...), 401),
    "kbs is a mapping": (lambda i: i.token(eagle_kbs={"a": 1}), 401),
    "kbs of numbers": (lambda i: i.token(eagle_kbs=[1]), 401),
    "kbs with no name": (lambda i: i.token(eagle_kbs=["../other"]), 401),
    # no JWT at all
    "letters": (lambda i: "abcdef", 401),
    "two parts": (lambda i: i.token().rpartition(".")[0], 401),
    "five parts": (lambda i: i.token() + ".x.y", 401),
    "header is a list": (lambda i: _joined(["RS256"], i.claims(), b"x"), 401),
    "claims are a list": (lambda i: _signed_text("[1]"), 401),
    "deep": (lambda i: _b64(b"[" * 5000) + ".e30.x", 401),
    "long number": (lambda i: _b64(b'{"alg":' + b"1" * 5000 + b"}") + ".e30.x", 401),
    "huge": (lambda i: i.token(junk="x" * 9000), 401),
}


def _signed(issuer: Issuer, **claims: Any) -> str:
    return _signed_text(json.dumps(issuer.claims(**claims)))


def _signed_text(payload: str) -> str:
    return jwt.api_jws.encode(payload.encode(), rsa_key("one"), "RS256", {"kid": "one"})


@pytest.mark.parametrize(("make", "status"), BAD.values(), ids=BAD)
def test_a_bad_token_is_refused(server: Served, issuer: Issuer, make: _Make, status: int) -> None:
    token = make(issuer)
    answer = server.mcp("tools/list", {}, token)
    assert answer.status_code == status, answer.text
    assert "core_query" not in answer.text
    assert token not in answer.text + str(answer.headers)
    challenge = answer.headers["www-authenticate"]
    expected = "invalid_token" if status == 401 else "insufficient_scope"
    assert challenge.startswith("Bearer ") and f'error="{expected}"' in challenge
    assert f'scope="{TOOLS}"' in challenge and "resource_metadata=" in challenge
    code = "unauthenticated" if status == 401 else "forbidden"
    assert f'"{code}"' in answer.text
    assert [path for path, _ in issuer.seen if "evil" in path] == []


GOOD: dict[str, _Make] = {
    "plain": lambda i: i.token(),
    "several audiences": lambda i: i.token(aud=["https://a.example", AUDIENCE]),
    "just expired": lambda i: i.token(exp=_now() - 5),
    "soon valid": lambda i: i.token(nbf=_now() + 10, iat=_now() + 10),
    "access token": lambda i: i.token(headers={"kid": "one", "typ": "at+jwt"}),
    "EC": lambda i: i.token(ec_key("two"), algorithm="ES256", headers={"kid": "two"}),
    "Ed25519": lambda i: i.token(ed_key("three"), algorithm="EdDSA", headers={"kid": "three"}),
    "only EC key, no kid": lambda i: i.token(ec_key("two"), algorithm="ES256", headers={}),
    "scopes": lambda i: i.token(scope=f"openid {TOOLS} email"),
    "scp list": lambda i: i.token(scope=..., scp=["openid", TOOLS]),
    "kbs": lambda i: i.token(eagle_kbs=["mine"]),
    "kbs as text": lambda i: i.token(eagle_kbs="mine theirs"),
}


@pytest.mark.parametrize("make", GOOD.values(), ids=GOOD)
def test_a_good_token_is_let_in(server: Served, issuer: Issuer, make: _Make) -> None:
    token = make(issuer)
    assert "core_query" in server.mcp("tools/list", {}, token).text
    assert server.get("/mcp/tools", token).status_code == 200


def test_administration_takes_its_scope_and_all_knowledge_bases(
    server: Served, issuer: Issuer
) -> None:
    tools = server.get("/admin/calls", issuer.token())
    assert tools.status_code == 403
    assert f'scope="{ADMIN}"' in tools.headers["www-authenticate"]
    some = issuer.token(scope=f"{TOOLS} {ADMIN}", eagle_kbs=["mine"])
    assert server.get("/admin/calls", some).status_code == 403
    everything = issuer.token(scope=f"{TOOLS} {ADMIN}")
    assert server.get("/admin/calls", everything).status_code not in (401, 403)
    assert server.get("/mcp/tools", issuer.token(scope=ADMIN)).status_code == 403


def test_the_metadata_name_the_issuer(server: Served, issuer: Issuer) -> None:
    for below in ("", "/mcp"):
        answer = server.get(f"/.well-known/oauth-protected-resource{below}")
        assert answer.status_code == 200
        assert answer.json() == {
            "resource": f"{server.url}{below}",
            "resource_name": "eagle-rag",
            "authorization_servers": [issuer.address],
            "scopes_supported": [TOOLS],
            "bearer_methods_supported": ["header"],
        }


def test_the_challenge_leads_to_the_metadata(server: Served) -> None:
    for path, below in (("/mcp", "/mcp"), ("/mcp/tools", "/mcp"), ("/health", "")):
        challenge = server.get(path).headers["www-authenticate"]
        metadata = f"{server.url}/.well-known/oauth-protected-resource{below}"
        assert challenge == f'Bearer scope="{TOOLS}", resource_metadata="{metadata}"'
