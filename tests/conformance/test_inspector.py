"""The inspector's command line lists and calls every tool."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from conformance.official_suite import environ, tools
from e2e.every_tool import EveryTool
from e2e.product import PATIENCE, STDIO, Deployment
from e2e.servers import HttpServer

pytestmark = pytest.mark.full


def inspect(*arguments: str, deployment: Deployment) -> tuple[int, Any]:
    """Exit code and answer of ``mcp-inspector --cli``."""
    folder = tools()
    ran = subprocess.run(
        [folder / "mcp-inspector", "--cli", *arguments],
        env={**environ(folder), **{k: v for k, v in deployment.environ.items() if k != "PATH"}},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ran.stdout, ran.stderr
    return ran.returncode, json.loads(ran.stdout)


def test_the_inspector_calls_every_tool_over_http(
    otters: HttpServer, shared_deployment: Deployment
) -> None:
    url = f"{otters.url}/mcp"
    every = EveryTool.on(otters, shared_deployment)
    _, listed = inspect(url, "--method", "tools/list", deployment=shared_deployment)
    assert {tool["name"] for tool in listed["tools"]} == set(otters.tools())
    for tool in listed["tools"]:
        pairs = every.arguments(tool["inputSchema"]).items()
        flags = [flag for name, value in pairs for flag in ("--tool-arg", f"{name}={value}")]
        code, result = inspect(
            url,
            *("--method", "tools/call", "--tool-name", tool["name"], *flags),
            deployment=shared_deployment,
        )
        assert code == 0 and not result.get("isError"), (tool["name"], result)


def test_the_inspector_lists_the_tools_over_stdio(
    otters: HttpServer, shared_deployment: Deployment
) -> None:
    _, listed = inspect("--method", "tools/list", "--", *STDIO, deployment=shared_deployment)
    assert {tool["name"] for tool in listed["tools"]} == set(otters.tools())
