"""``/health``: for probes, and for people. Every answer comes within seconds."""

from __future__ import annotations

from typing import Annotated, Any, Final, NotRequired

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import Field
from typing_extensions import TypedDict

from eagle_rag_core.api.identity import caller_of, is_identified
from eagle_rag_core.api.rest.asking import Asking
from eagle_rag_core.api.rest.openapi import JsonObject, answers
from eagle_rag_core.app import EagleApp
from eagle_rag_core.errors import ErrorCode

_SECONDS: Final = 6.0
_WELL: Final = {"status": "ok", "detail": ""}
_HEALTH: Final = {
    "status": "ok",
    "parts": {"home": _WELL, "catalog": _WELL, "worker": _WELL},
    "packs": {},
    "namespace": "core",
    "profile": "core",
    "vectors": "local",
    "embedder": "minilm-int8",
    "notice": "",
    "stuck_calls": {},
}
_UNWELL: Final = {
    "status": "failed",
    "code": "storage_unavailable",
    "detail": "The catalog was moved away or replaced; put it back or restart.",
    "failed": "catalog",
}
_SILENT: Final = {
    "status": "failed",
    "code": str(ErrorCode.TIMEOUT),
    "detail": "It does not say how it is in time.",
}
_PLUGINS: Final = {
    "default_namespace": "core",
    "fingerprint": "5f2b8c1d9e7a4f60",
    "packs": [],
    "decisions": {},
}


class Live(TypedDict):
    status: Annotated[str, Field(description="ok.")]


class Part(TypedDict):
    status: Annotated[str, Field(description="ok, degraded or failed.")]
    detail: Annotated[str, Field(description="What is wrong; empty when nothing is.")]


class Health(TypedDict):
    status: Annotated[str, Field(description="ok, degraded (it answers) or failed.")]
    code: NotRequired[Annotated[str, Field(description="Why it failed.")]]
    detail: NotRequired[Annotated[str, Field(description="What to do about that.")]]
    failed: NotRequired[Annotated[str, Field(description="The part that failed.")]]
    parts: NotRequired[Annotated[dict[str, Part], Field(description="home, catalog, worker.")]]
    packs: NotRequired[Annotated[dict[str, Part], Field(description="What packs say.")]]
    namespace: NotRequired[Annotated[str, Field(description="The deployment is bound to it.")]]
    profile: NotRequired[Annotated[str, Field(description="Profile of the settings.")]]
    vectors: NotRequired[Annotated[str, Field(description="Vector backend.")]]
    embedder: NotRequired[Annotated[str, Field(description="Text embedder.")]]
    notice: NotRequired[Annotated[str, Field(description="What users of it should know.")]]
    stuck_calls: NotRequired[
        Annotated[dict[str, int], Field(description="Searches that do not end, by leg.")]
    ]


class Plugins(TypedDict):
    default_namespace: Annotated[str, Field(description="Its tools are exposed.")]
    fingerprint: Annotated[str, Field(description="Of the packs that are loaded.")]
    packs: Annotated[list[dict[str, Any]], Field(description="Installed packs, with their states.")]
    decisions: Annotated[
        dict[str, list[dict[str, Any]]], Field(description="Recent ones, by pack.")
    ]


def health_router(app: EagleApp) -> APIRouter:
    router = APIRouter(tags=["health"])
    asking = Asking(lambda: app.health())
    told: dict[int | str, JsonObject] = {
        **answers(_HEALTH),
        503: {
            "description": "It cannot work.",
            "model": Health,
            "content": {"application/json": {"example": _UNWELL}},
        },
    }

    @router.get(
        "/health/live",
        operation_id="live",
        summary="The process runs",
        response_model=Live,
        responses=answers({"status": "ok"}),
    )
    async def live() -> JSONResponse:
        """Says nothing of what the process needs; restart it when this does not answer."""
        return JSONResponse({"status": "ok"})

    async def health(*, whole: bool) -> JSONResponse:
        report = await asking.answer(_SECONDS) or _SILENT
        status = report["status"]
        shown = report if whole else {"status": status}
        return JSONResponse(shown, status_code=503 if status == "failed" else 200)

    @router.get(
        "/health",
        operation_id="health",
        summary="State of every part",
        response_model=Health,
        responses=told,
    )
    async def whole(request: Request) -> JSONResponse:
        """The home, the catalog, the workers, and what packs say of themselves. A caller limited
        to some knowledge bases gets the status alone."""
        return await health(whole=_may_see_all(request))

    @router.get(
        "/health/ready",
        operation_id="ready",
        summary="The deployment can answer",
        response_model=Health,
        responses=told,
    )
    async def ready(request: Request) -> JSONResponse:
        """503 as soon as the home or the catalog is gone or cannot be written. Troubles of jobs
        and packs only degrade it. Answers without a token, too, then with the status alone."""
        return await health(whole=is_identified(request) and _may_see_all(request))

    @router.get(
        "/health/plugins",
        operation_id="plugins",
        summary="State of every installed pack",
        response_model=Plugins,
        responses=answers(_PLUGINS),
    )
    async def plugins(request: Request) -> JSONResponse:
        """Why a pack is active or is not; folders of the machine are left out. Decisions may tell
        of any document: callers limited to some knowledge bases see none."""
        report = app.plugins_report()
        return JSONResponse(report if _may_see_all(request) else {**report, "decisions": {}})

    return router


def _may_see_all(request: Request) -> bool:
    """What the whole deployment does tells of everybody's documents."""
    return caller_of(request).kbs is None
