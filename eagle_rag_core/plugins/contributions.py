"""What one pack contributes, checked piece by piece before any of it counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins.manifest import PackManifest
from eagle_rag_core.plugins.specs import ToolSpec, tool_spec_of
from eagle_rag_core.types.extensions import (
    CollectionView,
    EmbedderSpec,
    Enricher,
    Extensions,
    HealthCheck,
    Leg,
    Parser,
    QueryExpander,
    Reranker,
)


@dataclass(frozen=True, slots=True)
class Contribution:
    """Everything one pack registered."""

    namespace: str
    version: str
    tools: tuple[ToolSpec, ...] = ()
    parsers: tuple[Parser, ...] = ()
    enrichers: tuple[Enricher, ...] = ()
    embedders: tuple[EmbedderSpec, ...] = ()
    collections: tuple[CollectionView, ...] = ()
    legs: tuple[Leg, ...] = ()
    expanders: tuple[QueryExpander, ...] = ()
    rerankers: tuple[Reranker, ...] = ()
    health: tuple[HealthCheck, ...] = ()


@dataclass(frozen=True, slots=True)
class _Piece:
    """Where a hook's results go, their type, and which of their attributes are callables."""

    part: str
    kind: Any
    callables: tuple[str, ...] = field(default=())

    @property
    def named(self) -> bool:
        """Whether all packs of a deployment share one set of names."""
        return self.kind not in (Parser, Enricher)


_PIECES: Final[Mapping[str, _Piece]] = {
    "register_parsers": _Piece("parsers", Parser, ("sniff", "parse")),
    "register_enrichers": _Piece("enrichers", Enricher, ("enrich",)),
    "register_embedders": _Piece("embedders", EmbedderSpec, ("factory",)),
    "register_collections": _Piece("collections", CollectionView, ("accepts",)),
    "register_retrievers": _Piece("legs", Leg, ("retrieve",)),
    "register_query_expanders": _Piece("expanders", QueryExpander, ("expand",)),
    "register_rerankers": _Piece("rerankers", Reranker, ("rerank",)),
    "register_health": _Piece("health", HealthCheck, ("check",)),
}


def contribution_of(
    results: Iterable[tuple[str, Any]], manifest: PackManifest, *, owner: str, version: str
) -> Contribution:
    """Check what a pack's hooks returned and put it together.

    :param results: names of hooks with what they returned.
    :param owner: the pack's distribution.
    :raises PluginError: something has the wrong type or name, or differs from the manifest.
    """
    namespace = manifest.pack.namespace
    parts: dict[str, tuple[Any, ...]] = {}
    for hook, value in results:
        items = _items(hook, value)
        if hook == "register_tools":
            parts["tools"] = tuple(_tool(item, namespace, owner) for item in items)
        else:
            piece = _PIECES[hook]
            for item in items:
                _check(item, piece, hook, namespace)
            _distinct([item.name for item in items], hook)
            parts[piece.part] = tuple(items)
    contribution = Contribution(namespace, version, **parts)
    _compare_with_manifest(contribution, manifest)
    return contribution


def extensions_of(contributions: Sequence[Contribution]) -> Extensions:
    """The contributions of all packs as the engine takes them, in the given order."""

    def joined(part: Callable[[Contribution], tuple[Any, ...]]) -> tuple[Any, ...]:
        return tuple(item for contribution in contributions for item in part(contribution))

    return Extensions(
        parsers=joined(lambda c: c.parsers),
        enrichers=joined(lambda c: tuple((c.namespace, enricher) for enricher in c.enrichers)),
        embedders=joined(lambda c: c.embedders),
        collections=joined(lambda c: c.collections),
        legs=joined(lambda c: c.legs),
        expanders=joined(lambda c: c.expanders),
        rerankers=joined(lambda c: c.rerankers),
        health=joined(lambda c: c.health),
        pack_versions=tuple((c.namespace, c.version) for c in contributions),
    )


def _items(hook: str, value: Any) -> Sequence[Any]:
    if isinstance(value, list | tuple):
        return value
    hint = " (is a return statement missing?)" if value is None else ""
    raise PluginError(
        f"{hook} returned {type(value).__name__}{hint}; return a list, which may be empty."
    )


def _tool(function: Any, namespace: str, owner: str) -> ToolSpec:
    if not callable(function):
        raise PluginError(
            f"register_tools returned a {type(function).__name__}; return functions marked with "
            "@register_mcp_tool(…)."
        )
    spec = tool_spec_of(function, owner=owner)
    if spec.namespace != namespace:
        raise PluginError(
            f"Tool {spec.name!r} is in the namespace {spec.namespace!r}; "
            f"this pack's is {namespace!r}."
        )
    return spec


def _check(item: Any, piece: _Piece, hook: str, namespace: str) -> None:
    """Hold one result to its type.

    :raises PluginError: says what the hook should have returned.
    """
    kind = piece.kind.__name__
    if isinstance(item, type):
        raise PluginError(f"{hook} returned the class {item.__name__}; return an instance of it.")
    if not isinstance(item, piece.kind):
        raise PluginError(f"{hook} returned a {type(item).__name__}; return {kind} objects.")
    if not (isinstance(item.name, str) and item.name):
        raise PluginError(f"{hook} returned a {kind} without a name.")
    if piece.named and not (item.name == namespace or item.name.startswith(f"{namespace}_")):
        raise PluginError(
            f"{hook} returned a {kind} named {item.name!r}; names are shared by all packs, so "
            f"begin it with {namespace}_."
        )
    if not piece.named and not (isinstance(item.version, str) and item.version):
        raise PluginError(f"{hook} returned the {kind} {item.name!r} without a version.")
    for attribute in piece.callables:
        if not callable(getattr(item, attribute)):
            raise PluginError(f"{attribute} of the {kind} {item.name!r} is not a function.")
    if isinstance(item, Leg) and not (math.isfinite(item.weight) and item.weight >= 0):
        raise PluginError(f"The weight of leg {item.name!r} must be a finite number, at least 0.")


def _distinct(names: Sequence[str], hook: str) -> None:
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise PluginError(f"{hook} returned {repeated[0]!r} twice.")


def _compare_with_manifest(contribution: Contribution, manifest: PackManifest) -> None:
    """Refuse a pack that registers more or less than it declares.

    :raises PluginError: names what is missing and what is not declared.
    """
    namespace = contribution.namespace
    _compare("tools", manifest.tool_names, [tool.name for tool in contribution.tools])
    _compare(
        "collections",
        [f"{namespace}_{collection.name}" for collection in manifest.collections],
        [collection.name for collection in contribution.collections],
    )
    if manifest.records and not contribution.enrichers:
        kinds = ", ".join(record.kind for record in manifest.records)
        raise PluginError(
            f"The manifest declares records ({kinds}), but no enricher is registered to write them."
        )


def _compare(what: str, declared: Sequence[str], registered: Sequence[str]) -> None:
    missing = sorted(set(declared) - set(registered))
    undeclared = sorted(set(registered) - set(declared))
    if missing:
        raise PluginError(
            f"The manifest declares {what} that are not registered: {', '.join(missing)}."
        )
    if undeclared:
        raise PluginError(f"The manifest does not declare these {what}: {', '.join(undeclared)}.")
