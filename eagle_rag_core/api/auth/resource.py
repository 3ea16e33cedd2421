"""What this server says about itself as a protected resource (RFC 9728), and its challenges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from eagle_rag_core.api.auth.refusals import Refusal
from eagle_rag_core.api.auth.verified import TOOLS_SCOPE

METADATA_PATH: Final = "/.well-known/oauth-protected-resource"
_HOST: Final = re.compile(r"[A-Za-z0-9.\-:\[\]]{1,255}")


class Resource:
    """The server under the address that clients know.

    :param base_url: that address; "" takes it from each request, whose Host header was checked.
    :param mcp_path: where MCP is, below that address.
    :param authorization_servers: who issues tokens; none if the operator hands them out.
    """

    def __init__(
        self, base_url: str, mcp_path: str, authorization_servers: Sequence[str] = ()
    ) -> None:
        self._base_url = base_url
        self._mcp_path = mcp_path.rstrip("/")
        self._authorization_servers = list(authorization_servers)

    @property
    def routes(self) -> tuple[Route, ...]:
        """The metadata: of MCP under its own path, of the rest at the root."""
        paths = dict.fromkeys((METADATA_PATH, f"{METADATA_PATH}{self._mcp_path}"))
        return tuple(Route(path, self._metadata, methods=["GET"]) for path in paths)

    def challenge(self, refusal: Refusal, request: Request) -> str:
        """``WWW-Authenticate`` for a refused request; "" where a token would not help."""
        if refusal.status != 401 and not refusal.error:
            return ""
        path = self._mcp_path if self._is_mcp(request.url.path) else ""
        values = {
            "error": refusal.error,
            "error_description": refusal.detail if refusal.error else "",
            "scope": refusal.scope or TOOLS_SCOPE,
            "resource_metadata": f"{self._base(request)}{METADATA_PATH}{path}",
        }
        return "Bearer " + ", ".join(f'{name}="{text}"' for name, text in values.items() if text)

    async def _metadata(self, request: Request) -> Response:
        below = request.url.path.removeprefix(METADATA_PATH)
        document: dict[str, Any] = {
            "resource": f"{self._base(request)}{below}",
            "resource_name": "eagle-rag",
            "scopes_supported": [TOOLS_SCOPE],
            "bearer_methods_supported": ["header"],
        }
        if self._authorization_servers:
            document["authorization_servers"] = self._authorization_servers
        return JSONResponse(document)

    def _is_mcp(self, path: str) -> bool:
        return path == self._mcp_path or path.startswith(f"{self._mcp_path}/")

    def _base(self, request: Request) -> str:
        host = request.headers.get("host", "")
        if self._base_url or not _HOST.fullmatch(host):
            return self._base_url
        return f"{request.url.scheme}://{host}"
