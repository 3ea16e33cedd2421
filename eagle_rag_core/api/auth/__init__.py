"""Authentication of everything that is served over HTTP: MCP, REST, metrics, administration.

A request shows a bearer token; a verifier turns it into a :class:`~eagle_rag_core.types.Caller`;
one middleware does so for every route. Stdio has no part in this: its caller is the local user.
"""

from eagle_rag_core.api.auth.authentication import Authentication
from eagle_rag_core.api.auth.configuring import configure_mcp_auth
from eagle_rag_core.api.auth.middleware import AccessGuard

__all__ = ["AccessGuard", "Authentication", "configure_mcp_auth"]
