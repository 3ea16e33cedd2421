"""What no answer of the product may contain."""

from __future__ import annotations

import sys

from e2e.product import Deployment, Reply

import eagle_rag_core


def assert_clean(reply: Reply, deployment: Deployment) -> None:
    """No folder of the server, no traceback and no name of a module in an error."""
    package = eagle_rag_core.__path__[0]
    for secret in (
        str(deployment.home),
        package,
        sys.prefix,
        "Traceback",
        "eagle_rag_core",
        "sqlalchemy",
        "pydantic",
        "Errno",
    ):
        assert secret not in reply.raw
