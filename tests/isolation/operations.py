"""Everything a caller can ask over MCP and REST, with places to put what is another's."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
from isolation.worlds import Act, World


@dataclass(frozen=True)
class Target:
    """What an operation is about, perhaps somebody else's.

    :param document: its id, the same in every world.
    :param job: label of a job; worlds without it are asked for an id that no job has.
    """

    kb: str
    document: str
    job: str
    section: str
    word: str
    number: int


def rest(method: str, path: str, body: Any = None, **params: Any) -> Callable[[Target], Act]:
    """A request over REST; ``{kb}`` and the like in path, body and query are filled in."""

    def bound(target: Target) -> Act:
        def act(world: World, caller: str) -> httpx2.Response:
            filled = _filled(world, target)
            more = {"json": filled(body)} if body is not None else {}
            return world.send(caller, method, filled(path), params=filled(params), **more)

        return act

    return bound


def mcp(method: str, params: Mapping[str, Any]) -> Callable[[Target], Act]:
    """A message over MCP."""

    def bound(target: Target) -> Act:
        return lambda world, caller: world.mcp(caller, method, _filled(world, target)(dict(params)))

    return bound


def tool(name: str, **arguments: Any) -> Callable[[Target], Act]:
    return mcp("tools/call", {"name": name, "arguments": arguments})


def upload(target: Target) -> Act:
    """A file with one of few names and texts, so that there are new, equal and replaced ones."""
    name, text = f"{target.word}.md", f"# {target.word}\n\nOtters {target.word} {target.number}.\n"
    label = f"{target.kb}-{target.word}-{target.number}"
    return lambda world, caller: world.upload(caller, target.kb, name, text, label)


def _filled(world: World, target: Target) -> Callable[[Any], Any]:
    places = {
        "{kb}": target.kb,
        "{document}": target.document,
        "{job}": world.job(target.job),
        "{section}": target.section,
        "{word}": target.word,
        '"{number}"': str(target.number),
    }

    def fill(template: Any) -> Any:
        text = json.dumps(template)
        for place, value in places.items():
            text = text.replace(place, value)
        return json.loads(text)

    return fill


_SCOPE = {"kb_names": ["{kb}"]}
_ASKED = {"query": "what do otters eat {word}", "kb_name": "{kb}"}
_UNION = {"scope_filter": {"document_ids": ["{document}"], "tags": ["tag-{kb}"]}}
_TITLED = [{"field": "title", "op": "contains", "value": "e"}]

#: By tool, or by method and path of a route, or by method of the protocol.
OPERATIONS: Mapping[str, tuple[Callable[[Target], Act], ...]] = {
    "core_get_document": (tool("core_get_document", document_id="{document}"),),
    "core_get_outline": (tool("core_get_outline", document_id="{document}"),),
    "core_get_section": (
        tool("core_get_section", document_id="{document}", section_id="{section}"),
    ),
    "core_get_job": (tool("core_get_job", job_id="{job}"),),
    "core_ingest": (
        tool("core_ingest", source_uri="absent-{word}.md", kb_name="{kb}"),
        tool("core_ingest", source_uri="http://127.0.0.1/{word}", kb_name="{kb}"),
    ),
    "core_list_documents": (
        tool("core_list_documents"),
        tool("core_list_documents", kb_name="{kb}", filter=_TITLED),
        tool("core_list_documents", limit=1),
    ),
    "core_list_kbs": (tool("core_list_kbs"), tool("core_list_kbs", limit=1)),
    "core_query": (
        tool("core_query", query="what do otters eat"),
        tool("core_query", **_ASKED),
        tool("core_query", query="zirconium", scope=["{document}"]),
    ),
    "core_retrieve_text": (
        tool("core_retrieve_text", query="otters {word}", top_k=20),
        tool("core_retrieve_text", query="otters eat", kb_name="{kb}"),
        tool("core_retrieve_text", query="urchins", scope=["{document}"]),
        tool("core_retrieve_text", query="urchins kelp", scope_filter=_SCOPE),
        tool("core_retrieve_text", query="urchins fish", **_UNION, filter=_TITLED),
    ),
    "core_retrieve_visual": (
        tool("core_retrieve_visual", query="otters"),
        tool("core_retrieve_visual", query="otters", scope_filter=_SCOPE),
    ),
    "resources/list": (mcp("resources/list", {}),),
    "resources/read": (
        mcp("resources/read", {"uri": "eagle://kb/{kb}"}),
        mcp("resources/read", {"uri": "eagle://document/{document}"}),
    ),
    "completion/complete": tuple(
        mcp(
            "completion/complete",
            {
                "ref": {"type": "ref/resource", "uri": uri},
                "argument": {"name": name, "value": value},
            },
        )
        for uri, name, value in (
            ("eagle://kb/{name}", "name", ""),
            ("eagle://kb/{name}", "name", "{kb}"),
            ("eagle://document/{id}", "id", ""),
            ("eagle://document/{id}", "id", "{word}"),
        )
    ),
    "prompts/get": (
        mcp("prompts/get", {"name": "answer", "arguments": {"question": "x", "kb_name": "{kb}"}}),
    ),
    "tools/list": (mcp("tools/list", {}),),
    "GET /documents": (
        rest("GET", "/documents"),
        rest("GET", "/documents", kb_name="{kb}", limit=1),
        rest("GET", "/documents", filter="tags:eq:tag-{kb}"),
        rest("GET", "/documents", filter="id:eq:{document}"),
        rest("GET", "/documents", filter="title:prefix:{word}"),
    ),
    "GET /documents/{document_id}": (rest("GET", "/documents/{document}"),),
    "PATCH /documents/{document_id}": (
        rest("PATCH", "/documents/{document}", {"tags": ["shared", "{word}"]}),
    ),
    "DELETE /documents/{document_id}": (rest("DELETE", "/documents/{document}"),),
    "GET /documents/{document_id}/text": (rest("GET", "/documents/{document}/text"),),
    "GET /documents/{document_id}/outline": (rest("GET", "/documents/{document}/outline"),),
    "GET /documents/{document_id}/sections/{section_id}": (
        rest("GET", "/documents/{document}/sections/{section}"),
    ),
    "GET /documents/{document_id}/file": (rest("GET", "/documents/{document}/file"),),
    "GET /documents/{document_id}/pages/{page}.png": (
        rest("GET", "/documents/{document}/pages/1.png"),
    ),
    "GET /images/{image_id}.png": (rest("GET", "/images/{section}.png"),),
    "POST /ingest": (upload, rest("POST", "/ingest", {"source_uri": "x.md", "kb_name": "{kb}"})),
    "POST /ingest/validate": (
        rest("POST", "/ingest/validate", {"source_uri": "https://[::1]/{word}", "kb_name": "{kb}"}),
    ),
    "GET /jobs": (
        rest("GET", "/jobs"),
        rest("GET", "/jobs", kb_name="{kb}", limit=1),
        rest("GET", "/jobs", status="failed"),
    ),
    "GET /jobs/{job_id}": (rest("GET", "/jobs/{job}"),),
    "GET /jobs/{job_id}/events": (rest("GET", "/jobs/{job}/events"),),
    "POST /jobs/{job_id}/cancel": (rest("POST", "/jobs/{job}/cancel"),),
    "POST /jobs/{job_id}/retry": (rest("POST", "/jobs/{job}/retry"),),
    "GET /kbs": (rest("GET", "/kbs"),),
    "POST /kbs": (rest("POST", "/kbs", {"name": "{kb}", "title": "{word}"}),),
    "GET /kbs/{kb_name}": (rest("GET", "/kbs/{kb}"),),
    "PATCH /kbs/{kb_name}": (
        rest("PATCH", "/kbs/{kb}", {"description": "{word}"}),
        rest("PATCH", "/kbs/plan", {"name": "{kb}"}),
        rest("PATCH", "/kbs/{kb}", {"name": "taken"}),
    ),
    "DELETE /kbs/{kb_name}": (rest("DELETE", "/kbs/{kb}"),),
    "GET /tags": (
        rest("GET", "/tags"),
        rest("GET", "/tags", kb_name="{kb}"),
        rest("GET", "/tags", limit=1),
    ),
    "POST /search": (
        rest("POST", "/search", {"query": "otters {word}", "top_k": 20, "debug": True}),
        rest("POST", "/search", {"query": "otters", **_UNION}),
        rest("POST", "/search", {"query": "otters", "kb_name": "{kb}"}),
    ),
    "POST /search/visual": (rest("POST", "/search/visual", {"query": "x", "kb_name": "{kb}"}),),
    "POST /query": (rest("POST", "/query", _ASKED), rest("POST", "/query", {"query": "urchins"})),
    "POST /query/stream": (
        rest("POST", "/query/stream", {"query": "what do otters eat"}),
        rest("POST", "/query/stream", _ASKED),
    ),
    "GET /mcp/tools": (rest("GET", "/mcp/tools"),),
    "GET /health": (rest("GET", "/health"),),
    "GET /health/live": (rest("GET", "/health/live"),),
    "GET /health/ready": (rest("GET", "/health/ready"),),
    "GET /health/plugins": (rest("GET", "/health/plugins"),),
    "GET /metrics": (rest("GET", "/metrics"),),
    "GET /admin/mcp": (rest("GET", "/admin/mcp", caller="cid"),),
}
#: What changes a library; over the whole one and each part the same is to happen.
WRITING = frozenset(
    {"PATCH /documents/{document_id}", "DELETE /documents/{document_id}", "POST /ingest"}
    | {"POST /kbs", "PATCH /kbs/{kb_name}", "DELETE /kbs/{kb_name}"}
    | {"POST /jobs/{job_id}/cancel", "POST /jobs/{job_id}/retry"}
)
