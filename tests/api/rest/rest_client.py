"""A client of the whole HTTP application in this process."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2

from eagle_rag_core.api.mcp_http import build_http_app
from eagle_rag_core.app import EagleApp
from eagle_rag_core.settings import load_settings
from eagle_rag_core.settings.sources import merge

_PATIENCE = 30.0
OTTERS = b"# Otters\n\n## Diet\n\nSea otters eat urchins.\n\n## Sleep\n\nThey sleep in kelp.\n"


class RestClient:
    """Requests of one caller against an app of its own, searched by words alone.

    :param home: of the app.
    :param settings: further ones, nested by section.
    """

    def __init__(self, home: Path, settings: Mapping[str, Any] | None = None) -> None:
        usual = {
            "home": home,
            "models": {"text_embedder": "none"},
            "ingest": {"isolation": "thread"},
        }
        self.app = EagleApp.open(
            load_settings(overrides=merge(usual, settings or {})), no_packs=True
        )
        self.api = build_http_app(self.app, host="127.0.0.1")
        #: Shown with every request, unless empty.
        self.token = ""

    def close(self) -> None:
        self.app.close()

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        async def run() -> httpx2.Response:
            transport = httpx2.ASGITransport(self.api, raise_app_exceptions=False)
            base = "http://127.0.0.1"
            shown = {"authorization": f"Bearer {self.token}"} if self.token else {}
            options["headers"] = {**shown, **options.get("headers", {})}
            async with httpx2.AsyncClient(transport=transport, base_url=base) as client:
                return await client.request(method, path, **options)

        return asyncio.run(run())

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> httpx2.Response:
        return self.request("POST", path, json=body, **options)

    def patch(self, path: str, body: Any) -> httpx2.Response:
        return self.request("PATCH", path, json=body)

    def delete(self, path: str) -> httpx2.Response:
        return self.request("DELETE", path)

    def upload(
        self, name: str, content: bytes, *, path: str = "/ingest", **fields: Any
    ) -> httpx2.Response:
        return self.request("POST", path, files={"file": (name, content)}, data=fields)

    def ingest(self, name: str, content: bytes, **fields: Any) -> str:
        """Upload a file and wait until it can be searched; the id of its document."""
        response = self.upload(name, content, **fields)
        assert response.status_code in (200, 202), response.text
        job = self.finish(response.json()["job_id"])
        assert job["status"] == "succeeded", job
        return str(job["document_id"])

    def finish(self, job_id: str) -> dict[str, Any]:
        """The job when it is over."""
        self.app.work()
        until = time.monotonic() + _PATIENCE
        while True:
            job: dict[str, Any] = self.get(f"/jobs/{job_id}").json()
            if job["finished_at"] or time.monotonic() > until:
                return job
            time.sleep(0.01)


def events_of(text: str) -> list[tuple[str, Any]]:
    """The events of a stream; comments are left out."""
    found = []
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith(":")]
        if lines:
            name, data = (line.partition(": ")[2] for line in lines)
            found.append((name, json.loads(data)))
    return found


def problem(response: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """The problem that a response is, checked."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = response.json()
    assert (found["status"], found["code"]) == (status, code), found
    assert found["type"] == f"urn:eagle-rag:problem:{code}"
    assert found["title"] and found["detail"]
    return found
