"""``/health`` and ``/health/plugins``."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from eagle_rag_core.app import EagleApp


def health_router(app: EagleApp) -> APIRouter:
    router = APIRouter(tags=["health"])

    @router.get("/health/live", summary="The process runs")
    def live() -> dict[str, str]:
        return {"status": "ok"}

    @router.get("/health", summary="State of every part")
    @router.get("/health/ready", summary="The deployment can answer")
    async def health() -> JSONResponse:
        report = await run_in_threadpool(app.health)
        return JSONResponse(report, status_code=503 if report["status"] == "failed" else 200)

    @router.get("/health/plugins", summary="State of every installed pack")
    def plugins() -> dict[str, Any]:
        return app.plugins_report()

    return router
