"""The description of the routes (OpenAPI): parts that routes name, and the whole document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from eagle_rag_core.api.rest import forms, problems
from eagle_rag_core.api.rest.problems import STATUS, Problem, ProblemError, title_of
from eagle_rag_core.errors import ErrorCode

JsonObject = dict[str, Any]

_EVENTS: Final = "text/event-stream"
_COMPONENTS: Final = "#/components/schemas/"
_TAGS: Final = (
    ("search", "Finding passages, and answers with citations."),
    ("ingest", "Taking in documents, and the jobs that do it."),
    ("documents", "Reading, describing and deleting documents."),
    ("knowledge bases", "Their settings, sizes and tags."),
    ("mcp", "What the MCP face of the same deployment offers."),
    ("health", "For probes and for people."),
    ("admin", "For administrators alone."),
)
_ABOUT: Final = """\
The same engine as over MCP. Requests are strict: unknown fields are refused, nothing is converted.
Every error is a problem (RFC 9457, `application/problem+json`) with a stable `code`, the same as
over MCP. Lists come in pages: pass `next_cursor` as `cursor` until it is empty."""
#: An HTTP status is explained by the codes that have it; examples say something.
_EXAMPLES: Final[Mapping[str, str]] = {
    problems.HttpCode.MALFORMED_REQUEST: "The body is no valid JSON in UTF-8.",
    problems.HttpCode.REQUEST_TOO_LARGE: "The body is larger than 1048576 bytes.",
    problems.HttpCode.UNSUPPORTED_MEDIA_TYPE: "Send the body as application/json.",
    ErrorCode.INVALID_ARGUMENT: "body.top_k: Input should be less than or equal to 100",
    ErrorCode.UNKNOWN_ARGUMENT: "body.topk: There is no such field; did you mean 'top_k'?",
    ErrorCode.KB_NOT_FOUND: "There is no knowledge base 'finance' that you may read; the list of "
    "knowledge bases names those you may.",
    ErrorCode.DOCUMENT_NOT_FOUND: "There is no document '…' that you may read; the list of "
    "documents names those you may.",
    ErrorCode.JOB_NOT_FOUND: "There is no job '…' that you may see.",
    ErrorCode.FORBIDDEN: "This deployment is read-only (mcp.read_only); nothing can be changed "
    "through it.",
    ErrorCode.PATH_NOT_ALLOWED: "report.pdf is outside the folders this server may read.",
    ErrorCode.SOURCE_NOT_FOUND: "report.pdf does not exist.",
    ErrorCode.SOURCE_TOO_LARGE: "report.pdf is larger than 100000000 bytes, the limit of "
    "`ingest.max_bytes`.",
    ErrorCode.UNSUPPORTED_FORMAT: "Nothing here reads this kind of file.",
    ErrorCode.OVERLOADED: "Too much waits already. Come back later.",
}


def body(model: type[BaseModel], example: JsonObject) -> JsonObject:
    """What a route says of a JSON body."""
    return {
        "requestBody": {"required": True, "content": {"application/json": _typed(model, example)}}
    }


def body_or_file(
    model: type[BaseModel], example: JsonObject, beside: type[BaseModel], form_example: JsonObject
) -> JsonObject:
    """What a route says of a body that is JSON, or a file with texts beside it.

    :param beside: those texts.
    """
    form = beside.model_json_schema(ref_template=f"{_COMPONENTS}{{model}}")
    form["properties"] = {
        "file": {
            "type": "string",
            "format": "binary",
            "description": "The file; its name, with the knowledge base, identifies the document.",
        },
        **form["properties"],
    }
    form["required"] = ["file"]
    form["title"] = "UploadedFile"
    described = body(model, example)
    described["requestBody"]["content"][forms.MEDIA_TYPE] = {
        "schema": form,
        "example": form_example,
        "encoding": {
            "metadata": {"contentType": "application/json"},
            "tags": {"style": "form", "explode": True},
        },
    }
    return described


def answers(
    example: Any,
    *codes: str,
    status: int = 200,
    description: str = "As asked for.",
    media_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
    model: Any = None,
) -> dict[int | str, JsonObject]:
    """What a route answers.

    :param example: of its success.
    :param codes: of the problems that are worth naming.
    :param headers: names and descriptions of further headers.
    :param model: of a success that is not the route's main one.
    """
    success: JsonObject = {"description": description}
    if model is not None:
        success["model"] = model
    if media_type == "application/json":
        success["content"] = {media_type: {"example": example}}
    else:
        success["content"] = {media_type: {"schema": {"type": "string"}, "example": example}}
    if headers:
        success["headers"] = {
            name: {"description": text, "schema": {"type": "string"}}
            for name, text in headers.items()
        }
    return {status: success, **_problems(codes)}


def describe(api: FastAPI) -> Callable[[], JsonObject]:
    """What makes the whole document, once."""
    made: JsonObject = {}

    def openapi() -> JsonObject:
        if not made:
            made.update(
                get_openapi(
                    title="eagle-rag",
                    version=api.version,
                    summary="Retrieval-augmented generation over your own documents.",
                    description=_ABOUT,
                    routes=api.routes,
                    tags=[{"name": name, "description": text} for name, text in _TAGS],
                )
            )
            _complete(made)
        return made

    return openapi


def _problems(codes: Sequence[str]) -> dict[int | str, JsonObject]:
    by_status: dict[int | str, JsonObject] = {}
    for code in codes:
        known = by_status.setdefault(STATUS[code], _problem_response())
        known["content"][problems.MEDIA_TYPE]["examples"][str(code)] = {"value": _example(code)}
    for response in by_status.values():
        named = response["content"][problems.MEDIA_TYPE]["examples"]
        response["description"] = f"{' or '.join(map(title_of, named))}."
    return by_status


def _problem_response() -> JsonObject:
    schema = {"$ref": f"{_COMPONENTS}Problem"}
    return {
        "description": "A problem.",
        "content": {problems.MEDIA_TYPE: {"schema": schema, "examples": {}}},
        "headers": {
            "Retry-After": {
                "description": "Seconds to wait, where that is known.",
                "schema": {"type": "integer", "minimum": 0},
            }
        },
    }


def _example(code: str) -> JsonObject:
    detail = _EXAMPLES.get(code, f"{title_of(code)}.")
    retryable = STATUS[code] in (503, 504)
    wait = 5.0 if retryable else 0.0
    error = ProblemError(code, detail, retryable=retryable, retry_after_s=wait)
    return error.problem(instance="4bf92f3577b34da6a3ce929d0e0e4736").model_dump()


def _typed(model: type[BaseModel], example: JsonObject) -> JsonObject:
    schema = model.model_json_schema(ref_template=f"{_COMPONENTS}{{model}}")
    return {"schema": schema, "example": example}


def _complete(document: JsonObject) -> None:
    """Move the schemas of bodies to the others, and have every operation name every problem."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    problem = Problem.model_json_schema(ref_template=f"{_COMPONENTS}{{model}}")
    schemas.update(problem.pop("$defs"))
    schemas["Problem"] = problem
    for operation in _operations(document):
        for content in operation.get("requestBody", {}).get("content", {}).values():
            schema = content["schema"]
            schemas.update(schema.pop("$defs", {}))
            schemas[schema["title"]] = schema
            content["schema"] = {"$ref": f"{_COMPONENTS}{schema['title']}"}
        responses = operation["responses"]
        # OpenAPI 3.1 cannot describe one event after the other; as one text it says nothing.
        responses.get("200", {}).get("content", {}).get(_EVENTS, {}).pop("schema", None)
        if "application/json" in responses.get("422", {}).get("content", {}):  # FastAPI's own
            responses |= _problems([ErrorCode.INVALID_ARGUMENT, ErrorCode.UNKNOWN_ARGUMENT])
            responses["422"] = responses.pop(422)
        responses["default"] = _problem_response()
        responses["default"]["description"] = "Any other problem."
        responses["default"]["content"][problems.MEDIA_TYPE]["examples"] = {
            "internal": {"value": _example(ErrorCode.INTERNAL)}
        }
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)


def _operations(document: JsonObject) -> Iterator[JsonObject]:
    for path in document["paths"].values():
        yield from path.values()
