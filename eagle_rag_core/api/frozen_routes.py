"""The frozen routes of the HTTP application: no route appears after the start."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from operator import is_

from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

_LOG = logging.getLogger(__name__)


class Routes:
    """The routes of one application as they were when this was made."""

    def __init__(self, app: Starlette) -> None:
        self._router = app.router
        self._routes = tuple(app.router.routes)

    def fixed_paths(self) -> list[str]:
        """The paths of routes without parameters."""
        paths = (getattr(route, "path", "{") for route in self._routes)
        return [path for path in paths if "{" not in path]

    def restore(self) -> None:
        """Put them back if they were added to, reordered or removed from."""
        routes = self._router.routes
        if len(routes) == len(self._routes) and all(map(is_, routes, self._routes)):
            return
        _LOG.error("Refused routes that were added, moved or removed after the start.")
        self._router.routes = list(self._routes)


class FrozenRoutes:
    """ASGI middleware that restores routes before it passes a request on.

    :param frozen: of the application and of those mounted in it.
    """

    def __init__(self, app: ASGIApp, frozen: Sequence[Routes]) -> None:
        self._app = app
        self._frozen = frozen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        for routes in self._frozen:
            routes.restore()
        await self._app(scope, receive, send)
