"""Packs: which are loaded, and how they are held to what they declare."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from eagle_rag_core.settings.sections.base import Section


class PluginSettings(Section):
    enabled: list[str] = Field([], description="Namespaces of the packs to load, in hook order.")
    default_namespace: str = Field(
        "core", description="Namespace this deployment is bound to; its tools are exposed (G3)."
    )
    options: dict[str, dict[str, Any]] = Field(
        {}, description="Options per pack namespace, checked by the pack's own options model."
    )
    require: dict[str, str] = Field(
        {}, description="Version specifier per namespace that an enabled pack must satisfy."
    )
    disabled: list[str] = Field([], description="Namespaces never loaded, whatever enables them.")
    allow_degraded: bool = Field(
        False, description="Start even when the default namespace's pack cannot be loaded."
    )
    locked: str = Field(
        "", description="Lock of the exposed tools that the start is held to; empty = none."
    )
    enforce_effects: bool = Field(
        False,
        description="Refuse a call whose pack's tool writes files, starts processes or reaches "
        "addresses its manifest does not name, before that happens.",
    )
