"""What the transport itself answers, instead of the application."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from mcp_types import INVALID_REQUEST
from starlette.types import Send


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that the transport does not take.

    :param status: of HTTP.
    :param code: stable and machine-readable.
    :param detail: what is wrong.
    """

    status: int
    code: str
    detail: str

    async def send(self, send: Send, *, as_mcp: bool) -> None:
        """Answer, and end the connection: the rest of the request is not wanted.

        :param as_mcp: a JSON-RPC error, which MCP clients show, instead of problem details
            (RFC 9457).
        """
        body = json.dumps(self._json_rpc() if as_mcp else self._problem()).encode()
        kind = b"application/json" if as_mcp else b"application/problem+json"
        headers = [
            (b"content-type", kind),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _problem(self) -> dict[str, Any]:
        return {
            "type": f"urn:eagle-rag:problem:{self.code}",
            "title": self.code.replace("_", " ").capitalize(),
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "retryable": False,
            "retry_after_s": 0.0,
        }

    def _json_rpc(self) -> dict[str, Any]:
        """The id stays open: the body that has it was not read to its end."""
        error = {
            "code": INVALID_REQUEST,
            "message": f"{self.code}: {self.detail}",
            "data": {"code": self.code, "retryable": False, "retry_after_s": 0.0},
        }
        return {"jsonrpc": "2.0", "id": None, "error": error}
