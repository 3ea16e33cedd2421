"""The public keys of an issuer (JWKS, RFC 7517), fetched when needed and kept for a while."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from eagle_rag_core.api.auth.fetching import Unavailable, get_json
from eagle_rag_core.api.auth.refusals import cannot_verify

if TYPE_CHECKING:
    from jwt import PyJWK

_LOG = logging.getLogger(__name__)

#: Seconds after which keys are fetched again: how long a withdrawn key lives on.
_FRESH: Final = 300.0
#: Seconds for which they are used when that fails; afterwards no token can be checked.
_USABLE: Final = 3600.0
#: Seconds between two attempts, whatever tokens come.
_PAUSE: Final = 10.0
_MAX_KEYS: Final = 100
#: Bits of a modulus; RFC 7518 demands as many.
_SHORTEST_RSA: Final = 2048
#: Key type and curve of each algorithm.
_KINDS: Final[Mapping[str, tuple[str, str]]] = {
    **{f"{family}{bits}": ("RSA", "") for family in ("RS", "PS") for bits in (256, 384, 512)},
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
}

_Name = tuple[str, str]  # of a key: its id ("" without one) and the algorithm it is used with


class KeySet:
    """Keys by their id and algorithm. An id is looked up and never anything else.

    :param url: of the set; nothing in a token has influence on it.
    :param algorithms: keys are used with no others.
    """

    def __init__(
        self,
        url: str,
        algorithms: Sequence[str],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = url
        self._algorithms = tuple(algorithms)
        self._clock = clock
        self._keys: Mapping[_Name, PyJWK] = {}
        self._fetched = self._tried = -math.inf
        self._fetching = asyncio.Lock()

    async def key(self, kid: str, algorithm: str) -> PyJWK | None:
        """The key of that id; of a token without one (``""``), the issuer's only one.

        :raises Refusal: the keys cannot be had right now.
        """
        name = (kid, algorithm)
        known = name in self._keys
        age = self._clock() - self._fetched
        # While one request fetches, the others go on with what is known.
        goes_on = age <= _FRESH or (age <= _USABLE and self._fetching.locked())
        if not (known and goes_on):
            await self._refresh()
        if self._clock() - self._fetched > _USABLE:
            raise cannot_verify("the issuer's keys cannot be fetched")
        return self._keys.get(name)

    async def _refresh(self) -> None:
        asked = self._clock()
        async with self._fetching:
            if self._tried > asked or self._clock() - self._tried < _PAUSE:
                return
            try:
                document = await get_json(self._url, {"accept": "application/json"})
                keys = dict(_usable(_entries(document), self._algorithms))
            except Unavailable as error:
                _LOG.warning("The keys at auth.jwks_uri cannot be used: %s", error)
            else:
                if not keys:  # an issuer may withdraw all of them
                    _LOG.warning("There is no key for auth.algorithms at auth.jwks_uri.")
                self._keys, self._fetched = keys, self._clock()
            finally:
                self._tried = self._clock()


def _entries(document: Any) -> list[Mapping[str, Any]]:
    entries = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise Unavailable("it is no set of keys")
    return [each for each in entries[:_MAX_KEYS] if isinstance(each, dict)]


def _usable(
    entries: Sequence[Mapping[str, Any]], algorithms: Sequence[str]
) -> Iterator[tuple[_Name, PyJWK]]:
    """Public keys that verify signatures. Others in the set are passed over."""
    from jwt import PyJWK
    from jwt.exceptions import PyJWTError

    for algorithm in algorithms:
        fitting = [each for each in entries if _fits(each, algorithm)]
        for entry in fitting:
            try:
                key = PyJWK(dict(entry), algorithm)
            except PyJWTError:
                continue
            if entry["kty"] == "RSA" and key.key.key_size < _SHORTEST_RSA:
                continue
            yield (str(entry.get("kid", "")), algorithm), key
            if len(fitting) == 1:
                yield ("", algorithm), key


def _fits(entry: Mapping[str, Any], algorithm: str) -> bool:
    kind, curve = _KINDS[algorithm]
    operations = entry.get("key_ops", ["verify"])
    return (
        entry.get("kty") == kind
        and entry.get("crv", "") == curve
        and entry.get("alg", algorithm) == algorithm
        and entry.get("use", "sig") == "sig"
        and isinstance(operations, list)
        and "verify" in operations
        and "d" not in entry  # a private key that was published is nobody's
    )
