"""A model behind HTTP: one JSON request, bounded in time, with errors a caller may see."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from eagle_rag_core.errors import ModelError
from eagle_rag_core.types import current_deadline

if TYPE_CHECKING:
    import httpx2

_LOG = logging.getLogger(__name__)
#: Answers that may differ next time: too many requests, and a server that is down or starting.
_TRANSIENT: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_FIRST_PAUSE: Final = 0.25


class ModelServer:
    """A client of one server, safe to use from several threads. Connects on first use.

    :param what: for messages, e.g. ``the reranker``.
    :param base_url: without the last path, e.g. ``http://127.0.0.1:8000/v1``.
    :param api_key: sent as a bearer token; "" for none.
    :param timeout: seconds one request may take, retries included.
    """

    def __init__(self, what: str, base_url: str, *, api_key: str = "", timeout: float = 30.0):
        self.what = what
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._timeout = timeout
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON answer to ``body``; transient faults are tried again while time is left.

        :param path: below the base URL, e.g. ``embeddings``.
        :raises ModelError: the server is not there, refuses, or answers no JSON.
        """
        due = time.monotonic() + min(self._timeout, _time_left())
        pause = _FIRST_PAUSE
        while True:
            try:
                return self._attempt(path, body, due)
            except ModelError as error:
                pause *= random.uniform(1.0, 2.0)
                if not error.retryable or time.monotonic() + pause >= due:
                    raise
            time.sleep(pause)

    def lines(self, path: str, body: Mapping[str, Any]) -> Iterator[str]:
        """The lines of a streamed answer (server-sent events) as they come. Tried once.

        Closing the iterator closes the connection, which tells the server to stop.

        :raises ModelError: the server is not there, refuses, or falls silent.
        """
        import httpx2

        due = time.monotonic() + min(self._timeout, _time_left())
        try:
            with self._connected().stream(
                "POST", f"{self._base_url}/{path}", json=body, timeout=_left(due)
            ) as answer:
                if answer.status_code != 200:
                    answer.read()
                    raise self._refused(answer)
                for line in answer.iter_lines():
                    if time.monotonic() > due:
                        raise self._silent("it takes too long")
                    yield line
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            _LOG.warning("%s does not answer: %s: %s", self.what, type(error).__name__, error)
            raise self._silent(type(error).__name__) from error

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _attempt(self, path: str, body: Mapping[str, Any], due: float) -> Any:
        import httpx2

        try:
            answer = self._connected().post(
                f"{self._base_url}/{path}", json=body, timeout=_left(due)
            )
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            _LOG.warning("%s does not answer: %s: %s", self.what, type(error).__name__, error)
            raise self._silent(type(error).__name__) from error
        if answer.status_code != 200:
            raise self._refused(answer)
        try:
            return answer.json()
        except ValueError as error:
            raise self.misunderstood("no JSON") from error

    def misunderstood(self, found: str) -> ModelError:
        """The error for an answer that is not what the protocol says.

        :param found: what was wrong, e.g. ``no field 'data'``.
        """
        return ModelError(
            f"{_capital(self.what)} answers in a way this client does not understand ({found}); "
            "check its base_url and that it speaks the expected protocol."
        )

    def _silent(self, why: str) -> ModelError:
        return ModelError(f"{_capital(self.what)} does not answer ({why}).", retryable=True)

    def _refused(self, answer: httpx2.Response) -> ModelError:
        said = answer.text[:300]
        if self._api_key:  # some servers repeat what they were sent
            said = said.replace(self._api_key, "[key]")
        _LOG.warning("%s answers %s: %s", self.what, answer.status_code, said)
        return ModelError(
            f"{_capital(self.what)} answers with HTTP status {answer.status_code}; the log has its "
            "reason.",
            retryable=answer.status_code in _TRANSIENT,
        )

    def _connected(self) -> httpx2.Client:
        import httpx2

        with self._lock:
            if self._client is None:
                self._client = httpx2.Client(headers=self._headers, follow_redirects=False)
            return self._client


def _time_left() -> float:
    """Seconds until the current call's deadline."""
    return max(0.0, current_deadline() - time.monotonic())


def _left(due: float) -> float:
    """Seconds until ``due``, as a time limit for one operation on the network."""
    return max(0.001, due - time.monotonic())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
