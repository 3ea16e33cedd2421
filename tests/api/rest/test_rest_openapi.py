"""The description of the routes: whole, valid, with examples that are true to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from openapi_pydantic import OpenAPI
from rest_client import RestClient

ROUTES = """
POST /ingest  POST /ingest/validate  GET /jobs  GET /jobs/{job_id}  GET /jobs/{job_id}/events
POST /jobs/{job_id}/cancel  POST /jobs/{job_id}/retry  POST /search  POST /query
POST /query/stream  GET /documents  GET /documents/{document_id}  PATCH /documents/{document_id}
DELETE /documents/{document_id}  GET /documents/{document_id}/file
GET /documents/{document_id}/outline  GET /documents/{document_id}/sections/{section_id}
GET /documents/{document_id}/pages/{page}.png  GET /images/{image_id}.png  POST /search/visual
GET /documents/{document_id}/text  GET /kbs  POST /kbs  GET /kbs/{kb_name}  PATCH /kbs/{kb_name}
DELETE /kbs/{kb_name}  GET /tags  GET /mcp/tools  GET /health  GET /health/live
GET /health/ready  GET /health/plugins
"""


@pytest.fixture(scope="module")
def description(shared: RestClient) -> dict[str, Any]:
    found: dict[str, Any] = shared.get("/openapi.json").json()
    return found


def operations(description: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_it_is_valid_and_has_every_route(description: dict[str, Any]) -> None:
    OpenAPI.model_validate(description)
    assert description["openapi"].startswith("3.1")
    wanted = {route.strip() for line in ROUTES.splitlines() for route in line.split("  ") if route}
    assert {name for name, _ in operations(description)} >= wanted
    for schema in description["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_reference_leads_somewhere(description: dict[str, Any]) -> None:
    def references(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                yield node["$ref"]
            node = list(node.values())
        if isinstance(node, list):
            for inner in node:
                yield from references(inner)

    known = description["components"]["schemas"]
    assert {ref.removeprefix("#/components/schemas/") for ref in references(description)} <= set(
        known
    )
    assert "$defs" not in json.dumps(description)
    assert "HTTPValidationError" not in json.dumps(description)


def test_every_operation_is_described(description: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, operation in operations(description)]
    assert len(set(names)) == len(names)
    assert all(name.isalnum() and name[0].islower() for name in names)
    tags = {tag["name"] for tag in description["tags"]}
    for name, operation in operations(description):
        assert operation["summary"] and operation["description"], name
        assert set(operation["tags"]) <= tags, name
        for parameter in operation.get("parameters", []):
            assert parameter.get("description") or parameter["schema"].get("description"), name
        if "parameters" not in operation and "requestBody" not in operation:
            continue
        assert "422" in operation["responses"] or "404" in operation["responses"], name


def test_every_body_has_an_example_that_fits(description: dict[str, Any]) -> None:
    for name, operation in operations(description):
        contents = operation.get("requestBody", {}).get("content", {})
        for media_type, content in contents.items():
            fits(description, content, content["example"], f"{name} {media_type}")
        for status, response in operation["responses"].items():
            for media_type, content in response.get("content", {}).items():
                examples = [one["value"] for one in content.get("examples", {}).values()]
                examples += [content["example"]] if "example" in content else []
                assert examples, f"{name} {status} {media_type}"
                for example in examples:
                    fits(description, content, example, f"{name} {status}")
            if status == "default" or (int(status) >= 400 and not name.startswith("GET /health")):
                assert set(response["content"]) == {"application/problem+json"}, name


def fits(description: dict[str, Any], content: Any, example: Any, where: str) -> None:
    if "schema" not in content:  # events, one after the other
        assert example.startswith("event: "), where
        return
    schema = {**content["schema"], "components": description["components"]}
    try:
        jsonschema.validate(example, schema, jsonschema.Draft202012Validator)
    except jsonschema.ValidationError as error:
        raise AssertionError(f"{where}: {error.message}") from error


def test_problems_carry_the_status_they_are_listed_under(description: dict[str, Any]) -> None:
    for name, operation in operations(description):
        for status, response in operation["responses"].items():
            content = response.get("content", {}).get("application/problem+json", {})
            for code, example in content.get("examples", {}).items():
                assert example["value"]["code"] == code, name
                assert status in ("default", str(example["value"]["status"])), name


def test_no_page_loads_code_from_elsewhere(shared: RestClient) -> None:
    assert shared.get("/docs").status_code == shared.get("/redoc").status_code == 404


def test_it_says_nothing_of_the_machine(shared: RestClient) -> None:
    text = shared.get("/openapi.json").text
    assert str(shared.app.settings.home) not in text and "site-packages" not in text
