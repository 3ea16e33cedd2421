"""Clients that call until the server refuses them."""

from __future__ import annotations

import http.client
import json
import threading
from collections import Counter
from collections.abc import Callable

from e2e.product import PATIENCE, patiently

_CALL = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "core_list_kbs", "arguments": {}},
    }
)
_HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
}


class Load:
    """Runs clients in threads; a third of them opens a connection for every call.

    :ivar seen: how calls ended: ``answered``, ``broken``, an HTTP status; and ``refused`` clients.
    """

    def __init__(self, port: int, clients: int) -> None:
        self._port = port
        self.seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._call_until_refused, args=(number % 3 > 0,), daemon=True)
            for number in range(clients)
        ]

    def stop_after(self, answers: int, stop: Callable[[], object]) -> Counter[str]:
        """Call ``stop`` after so many answers, and wait until every client is refused."""
        for thread in self._threads:
            thread.start()
        for _ in patiently(f"{answers} answers", seconds=4 * PATIENCE, pause=0.01):
            if self.seen["answered"] >= answers:
                break
        stop()
        for thread in self._threads:
            thread.join(PATIENCE)
        return self.seen

    def _call_until_refused(self, keeps: bool) -> None:
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
            try:
                connection.connect()
            except OSError:
                self._note("refused")
                return
            while self._call(connection) and keeps:
                continue
            connection.close()

    def _call(self, connection: http.client.HTTPConnection) -> bool:
        """Whether another call may follow on the connection."""
        try:
            connection.request("POST", "/mcp", _CALL, _HEADERS)
            response = connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException):
            self._note("broken")
            return False
        well = response.status == 200 and b'"structuredContent"' in body
        self._note("answered" if well else str(response.status))
        return not response.will_close

    def _note(self, what: str) -> None:
        with self._lock:
            self.seen[what] += 1
