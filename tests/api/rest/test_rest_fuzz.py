"""Generated requests against every route: none crashes it, and every answer is as described."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from rest_client import OTTERS, RestClient
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

FULL = os.environ.get("EAGLE_RAG_TEST_FULL") == "1"
EXAMPLES = 60 if FULL else 2
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
#: What no answer may hold: tracebacks, names of our files, paths of a machine.
GIVEAWAY = re.compile(r"Traceback|site-packages|eagle_rag_core[./]|sqlalchemy|File \"")


class Local:
    """The application as it is called on this machine, started and ended by the test alone."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for event in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{event}.complete"})
            return
        headers = [pair for pair in scope["headers"] if pair[0] != b"host"]
        scope = {**scope, "headers": [*headers, (b"host", b"127.0.0.1")]}
        await self._app(scope, receive, send)


@pytest.fixture(scope="module")
def library(shared: RestClient) -> RestClient:
    shared.ingest("otters.md", OTTERS, kb_name="biology", tags=["mammals"])
    return shared


@pytest.fixture(scope="module")
def known(library: RestClient) -> dict[str, str]:
    """Ids that exist, by the parameter of a path they are for."""
    (document,) = library.get("/documents").json()["items"]
    (job,) = library.get("/jobs").json()["items"]
    outline = library.get(f"/documents/{document['document_id']}/outline").json()
    return {
        "document_id": document["document_id"],
        "job_id": job["job_id"],
        "kb_name": "biology",
        "section_id": outline["items"][0]["section_id"],
        "page": "1",
        "image_id": "none",
    }


def cases(library: RestClient) -> Iterator[tuple[str, Any]]:
    schema = schemathesis.openapi.from_asgi("/openapi.json", Local(library.api))
    for found in schema.get_all_operations():
        operation = found.ok()
        if not operation.path.startswith("/openapi"):
            yield f"{operation.method.upper()} {operation.path}", operation


def run(library: RestClient, operation: Any, mode: GenerationMode, **fixed: Any) -> None:
    home = str(library.app.settings.home)

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=not FULL,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(mode, **fixed))
    def check(case: Any) -> None:
        response = case.call_and_validate(checks=CHECKS)
        body = response.content.decode("utf-8", "replace")
        assert home not in body and GIVEAWAY.search(body) is None, body[:2000]

    check()


def test_generated_requests_are_answered_as_described(
    library: RestClient, known: dict[str, str]
) -> None:
    for name, operation in cases(library):
        names = re.findall(r"{(\w+)}", operation.path)
        try:
            if FULL or operation.method in ("post", "patch"):
                with suppress(Unsatisfiable):  # of some routes nothing can be asked wrongly
                    run(library, operation, GenerationMode.NEGATIVE)
            run(library, operation, GenerationMode.POSITIVE)
            if names and operation.method == "get":
                existing = {name: known[name] for name in names}
                run(library, operation, GenerationMode.POSITIVE, path_parameters=existing)
        except Exception as error:
            error.add_note(name)
            raise
    assert library.get("/health").json()["status"] == "ok"
