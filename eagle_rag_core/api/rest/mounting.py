"""Putting the REST face into the HTTP application."""

from __future__ import annotations

from fastapi import FastAPI

from eagle_rag_core.api.rest.admin import admin_router
from eagle_rag_core.api.rest.calling import Rest
from eagle_rag_core.api.rest.discovery import discovery_router
from eagle_rag_core.api.rest.documents import documents_router
from eagle_rag_core.api.rest.files import files_router
from eagle_rag_core.api.rest.handlers import handle_failures
from eagle_rag_core.api.rest.health import health_router
from eagle_rag_core.api.rest.ingest import ingest_router
from eagle_rag_core.api.rest.jobs import jobs_router
from eagle_rag_core.api.rest.kbs import kbs_router
from eagle_rag_core.api.rest.metrics import metrics_router
from eagle_rag_core.api.rest.openapi import describe
from eagle_rag_core.api.rest.pages import pages_router
from eagle_rag_core.api.rest.query import query_router
from eagle_rag_core.api.rest.reading import reading_router
from eagle_rag_core.api.rest.search import search_router
from eagle_rag_core.api.rest.visual import visual_router
from eagle_rag_core.app import EagleApp
from eagle_rag_core.telemetry.metrics import Metrics

_ROUTERS = (
    search_router,
    visual_router,
    query_router,
    ingest_router,
    jobs_router,
    documents_router,
    reading_router,
    files_router,
    pages_router,
    kbs_router,
    discovery_router,
    admin_router,
)


def add_rest(api: FastAPI, app: EagleApp, metrics: Metrics) -> None:
    """Add the routes, how failures of any route are answered, and ``/openapi.json``."""
    rest = api.state.rest = Rest(app)
    routers = [make(rest) for make in _ROUTERS]
    for router in (*routers, health_router(app), metrics_router(metrics)):
        # The routes themselves: an included router stays open to further ones.
        api.router.routes.extend(router.routes)
    handle_failures(api)
    api.openapi = describe(api)  # type: ignore[method-assign]
