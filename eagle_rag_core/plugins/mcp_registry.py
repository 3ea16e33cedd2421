"""Marking functions as tools, and the registry of an app's tools."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins.guard import WRITER, assert_rag_only_tool_name
from eagle_rag_core.plugins.guard_tools import ToolTexts, check_tool_texts
from eagle_rag_core.plugins.namespaces import CORE, CORE_DISTRIBUTION

if TYPE_CHECKING:
    from eagle_rag_core.plugins.specs import ToolSpec

logger = logging.getLogger(__name__)

#: What a call changes: nothing, or the library (``core_ingest`` alone).
Effect = Literal["read", "ingest"]
_Tool = TypeVar("_Tool", bound=Callable[..., Any])

_FULL_NAME: Final = re.compile(r"\A[a-z][a-z0-9_]{2,63}\Z")
#: Clients put a prefix before a name and cut what is longer than 60 or 64 characters.
_LONG_NAME: Final = 30
_MARK: Final = "__eagle_rag_tool__"


@dataclass(frozen=True, slots=True)
class ToolMark:
    """What :func:`register_mcp_tool` notes on a function."""

    namespace: str
    name: str
    description: str
    title: str
    effect: Effect
    timeout: float | None
    open_world: bool

    @property
    def full_name(self) -> str:
        return f"{self.namespace}_{self.name}"


def register_mcp_tool(
    *,
    namespace: str,
    name: str,
    description: str,
    title: str = "",
    effect: Effect = "read",
    timeout: float | None = None,
    open_world: bool = False,
) -> Callable[[_Tool], _Tool]:
    """Mark a typed, synchronous function as the tool ``<namespace>_<name>``.

    Nothing global is changed: the mark is an attribute of the function, which behaves as before.
    A pack returns its marked functions from ``register_tools``.

    :param description: what the tool returns and when it helps, for the model that chooses.
    :param title: name for people; by default made from ``name``.
    :param effect: packs only read.
    :param timeout: seconds one call may take; by default ``mcp.tool_timeout``.
    :param open_world: whether a call reaches beyond this deployment, e.g. to the web.
    :raises GuardError: the name or a text is refused.
    :raises PluginError: the effect or timeout is.
    """
    mark = ToolMark(
        namespace=namespace,
        name=name,
        description=description.strip(),
        title=title or name.replace("_", " ").capitalize(),
        effect=effect,
        timeout=timeout,
        open_world=open_world,
    )
    full_name = mark.full_name
    check_tool_texts(
        ToolTexts(
            name=full_name,
            namespace=namespace,
            title=mark.title,
            description=mark.description,
            effect=effect,
            read_only=effect == "read",
        )
    )
    _check_effect(full_name, effect)
    if timeout is not None and not timeout > 0:
        raise PluginError(f"Tool {full_name!r}: timeout must be a positive number of seconds.")

    def mark_function(function: _Tool) -> _Tool:
        setattr(function, _MARK, mark)
        return function

    return mark_function


def mark_of(function: object) -> ToolMark | None:
    """The mark :func:`register_mcp_tool` left on ``function`` (or on its method)."""
    mark = getattr(function, _MARK, None)
    return mark if isinstance(mark, ToolMark) else None


def texts_of(spec: ToolSpec) -> ToolTexts:
    """What a model is told about a tool, for the guard."""
    return ToolTexts(
        name=spec.name,
        namespace=spec.namespace,
        title=spec.title,
        description=spec.description,
        effect=spec.effect,
        read_only=spec.annotations.read_only,
        destructive=spec.annotations.destructive,
        input_schema=spec.input_schema,
        output_schema=spec.output_schema,
    )


class ToolRegistry:
    """The tools of one app: those of the core and of every active pack.

    Each namespace is owned by one distribution; a tool is added only by the owner of its
    namespace. What a deployment exposes is :meth:`exposed`, never the whole registry.

    :param owners: distribution per namespace of the packs.
    """

    def __init__(self, owners: Mapping[str, str] | None = None) -> None:
        self._owners = {**(owners or {}), CORE: CORE_DISTRIBUTION}
        self._tools: dict[str, ToolSpec] = {}
        self._frozen = False

    def add(self, spec: ToolSpec) -> None:
        """Add one tool.

        :raises PluginError: the name is not valid, is taken or not the owner's, or the effect is
            not allowed.
        :raises GuardError: the name or a text is refused, or a text names another pack's tool.
        """
        self.extend([spec])

    def extend(self, specs: Iterable[ToolSpec]) -> None:
        """Add several tools, or none of them if one is refused. Raises as :meth:`add` does."""
        if self._frozen:
            raise PluginError("The tool registry is frozen: tools are registered at start-up only.")
        added: dict[str, ToolSpec] = {}
        for spec in specs:
            self._check(spec, added)
            added[spec.name] = spec
        self._tools.update(added)

    def freeze(self) -> None:
        """Refuse every further tool."""
        self._frozen = True

    def get(self, name: str) -> ToolSpec | None:
        return self._tools.get(name)

    def __iter__(self) -> Iterator[ToolSpec]:
        """All tools, sorted by name."""
        return iter(sorted(self._tools.values(), key=lambda spec: spec.name))

    def __len__(self) -> int:
        return len(self._tools)

    def exposed(self, default_namespace: str, *, read_only: bool = False) -> tuple[ToolSpec, ...]:
        """The tools a deployment shows and answers: the core's and its default namespace's.

        :param read_only: without the tool that ingests.
        :returns: sorted by name.
        """
        shown = (CORE, default_namespace)
        return tuple(
            spec
            for spec in self
            if spec.namespace in shown and (spec.effect == "read" or not read_only)
        )

    def _check(self, spec: ToolSpec, added: Mapping[str, ToolSpec]) -> None:
        name = spec.name
        if not _FULL_NAME.match(name):
            raise PluginError(
                f"Tool name {name!a} is not valid: 3 to 64 lower-case letters, digits and "
                "underscores, beginning with a letter."
            )
        owner = self._owners.get(spec.namespace)
        if owner != spec.owner:
            raise PluginError(
                f"Tool {name!r} of {spec.owner} is in the namespace {spec.namespace!r}, which "
                f"{f'belongs to {owner}' if owner else 'belongs to no enabled pack'}."
            )
        assert_rag_only_tool_name(name, namespace=spec.namespace)
        check_tool_texts(texts_of(spec), others={*self._tools, *added, name})
        _check_effect(name, spec.effect)
        if taken := added.get(name) or self._tools.get(name):
            raise PluginError(
                f"Tool {name!r} is registered twice: by {taken.owner} "
                f"({_origin(taken)}) and by {spec.owner} ({_origin(spec)})."
            )
        if problem := length_problem(name):
            logger.debug(problem)


def length_problem(full_name: str) -> str:
    """Why a valid tool name may be too long for some clients, "" if it is not."""
    if len(full_name) <= _LONG_NAME:
        return ""
    return (
        f"Tool name {full_name} has {len(full_name)} characters; above {_LONG_NAME} some clients "
        "cut or refuse it."
    )


def tool_definitions(tools: Iterable[ToolSpec]) -> list[dict[str, Any]]:
    """Name, description and parameters of tools, as ``GET /mcp/tools`` shows them.

    Given a :class:`ToolRegistry` it shows all of its tools, given
    :meth:`ToolRegistry.exposed` those of a deployment.
    """
    return [
        {"name": spec.name, "description": spec.description, "parameters": spec.input_schema}
        for spec in tools
    ]


def _check_effect(full_name: str, effect: str) -> None:
    expected = "ingest" if full_name == WRITER else "read"
    if effect != expected:
        raise PluginError(
            f"Tool {full_name!r} has the effect {effect!r}; it must be {expected!r}: "
            f"{WRITER} is the only tool that writes."
        )


def _origin(spec: ToolSpec) -> str:
    function = spec.function
    return f"{function.__module__}.{getattr(function, '__qualname__', '?')}"
