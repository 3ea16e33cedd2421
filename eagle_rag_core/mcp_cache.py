"""Answers that are given again while nothing they depend on has changed.

:func:`cache_key` names an answer by everything it depends on; :func:`get_cached` gives the one that
is there, or has it made once for all who ask at the same time. The parts are in
:mod:`eagle_rag_core.calls`: ``cache_memory``, ``cache_redis``, ``single_flight``.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from eagle_rag_core.calls.cache_memory import MemoryStore
from eagle_rag_core.calls.cache_redis import RedisStore
from eagle_rag_core.calls.single_flight import SingleFlight
from eagle_rag_core.settings import Settings
from eagle_rag_core.types import current_notes

#: Raised whenever an older answer under the same key would be understood wrongly.
_SCHEMA: Final = 1
#: Characters of the longest answer that is kept.
_LONGEST: Final = 512 * 1024


class CacheStore(Protocol):
    """Where texts are kept for a while; never fails a call."""

    def get(self, key: str) -> str | None: ...

    def put(self, key: str, text: str, seconds: float) -> None: ...

    def close(self) -> None: ...


def cache_key(
    tool: str,
    query: str,
    *,
    scope: Sequence[str] = (),
    top_k: int = 0,
    kb_name: str = "",
    arguments: Mapping[str, Any] | None = None,
    state: Sequence[Any] = (),
) -> str:
    """The key of an answer: a digest of all that it depends on.

    :param query: in any Unicode normalisation form; all of them are one.
    :param arguments: further arguments, as JSON.
    :param state: of the library and of the caller's rights, as JSON: a caller who may read other
        knowledge bases, or the same ones with other content, must have another.
    :return: 64 hexadecimal digits.
    """
    parts = [
        _SCHEMA,
        tool,
        unicodedata.normalize("NFC", query),
        list(scope),
        top_k,
        kb_name,
        dict(arguments or {}),
        list(state),
    ]
    # JSON with sorted keys tells any two different values apart: texts are quoted.
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class ResultCache:
    """The answers of one deployment.

    :param seconds: for which an answer is kept at most.
    """

    def __init__(self, store: CacheStore, seconds: float) -> None:
        self._store = store
        self._seconds = seconds
        self._flights = SingleFlight[str]()

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def get(self, key: str, compute: Callable[[], Any]) -> Any:
        """The answer under a key, or the one that ``compute`` makes; see :func:`get_cached`."""
        if (kept := self._read(key)) is not None:
            current_notes().cache_hit = True
            return kept
        text, followed = self._flights.run(key, lambda: self._make(key, compute))
        if followed:
            current_notes().cache_hit = True
        return json.loads(text)

    def _read(self, key: str) -> Any:
        text = self._store.get(key)
        if text is None:
            return None
        try:
            entry = json.loads(text)
        except (ValueError, RecursionError):
            return None
        # An entry that does not name its key is none of ours.
        if not isinstance(entry, dict) or entry.get("key") != key:
            return None
        return entry.get("payload")

    def _make(self, key: str, compute: Callable[[], Any]) -> str:
        payload = compute()
        text = json.dumps(payload, ensure_ascii=False)
        if _worth_keeping(payload) and len(text) <= _LONGEST:
            entry = json.dumps({"key": key, "payload": payload})
            self._store.put(key, entry, self._seconds)
        return text


def get_cached(key: str, compute: Callable[[], Any], cache: ResultCache) -> Any:
    """The answer under ``key``, from the cache if it is there.

    Callers who miss at the same time share one computation. Errors, empty answers and answers that
    something failed to take part in are not kept.

    :param compute: makes the answer, as JSON.
    :raises EagleError: what ``compute`` raised.
    """
    return cache.get(key, compute)


def result_cache(settings: Settings) -> ResultCache | None:
    """The cache that the settings ask for; None when ``mcp.cache_ttl`` is 0."""
    seconds = settings.mcp.cache_ttl
    if not seconds:
        return None
    url = settings.mcp.redis_url or settings.celery.broker_url
    return ResultCache(RedisStore(url) if url else MemoryStore(), seconds)


def _worth_keeping(payload: Any) -> bool:
    if current_notes().partial:
        return False
    found = payload.get("sources") if isinstance(payload, dict) else payload
    return bool(found)
