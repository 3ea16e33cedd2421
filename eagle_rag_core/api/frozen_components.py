"""The frozen resources, templates and prompts of a server: the very objects it was made with."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TypeVar

from fastmcp.prompts import Prompt
from fastmcp.resources import Resource, ResourceTemplate
from fastmcp.utilities.components import FastMCPComponent

from eagle_rag_core.api.surface import code_of

_LOG = logging.getLogger(__name__)
_Component = TypeVar("_Component", bound=FastMCPComponent)


class FrozenComponents:
    """What a server lists and reads besides tools. One that changes is gone from then on."""

    def __init__(self, components: Sequence[Resource | ResourceTemplate | Prompt]) -> None:
        self._frozen = [(component, _state(component)) for component in components]

    def of(self, kind: type[_Component]) -> list[_Component]:
        """Those of one kind that are what they were, in the order given."""
        return [
            component
            for component, state in self._frozen
            if isinstance(component, kind) and _holds(component, state)
        ]

    def resource(self, uri: str) -> Resource | None:
        return next((each for each in self.of(Resource) if str(each.uri) == uri), None)

    def template(self, uri: str) -> ResourceTemplate | None:
        """The template that a URI is one of."""
        matching = (each for each in self.of(ResourceTemplate) if each.matches(uri) is not None)
        return next(matching, None)

    def prompt(self, name: str) -> Prompt | None:
        return next((each for each in self.of(Prompt) if each.name == name), None)


def _holds(component: FastMCPComponent, state: tuple[object, ...]) -> bool:
    if _state(component) == state:
        return True
    _LOG.error("Refused %s: it is not what was registered at start.", component.key)
    return False


def _state(component: FastMCPComponent) -> tuple[object, ...]:
    """What clients see of a component, and what runs behind it."""
    function = getattr(component, "fn", None)
    return component.model_dump_json(exclude={"fn"}), function, function and code_of(function)
