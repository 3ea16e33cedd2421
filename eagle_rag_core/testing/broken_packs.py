"""Packs that do not work, one for each way, for tests of what works beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from eagle_rag_core.testing.fake_distributions import (
    DECLARED,
    pack_code,
    pack_manifest,
    write_pack,
)

if TYPE_CHECKING:
    from eagle_rag_core.plugins.sources import PackSource


class WriteBroken(Protocol):
    """The fixture ``broken_pack``."""

    def __call__(self, kind: str, namespace: str = "broken") -> PackSource:
        """A pack that is broken in the way called ``kind``, one of :data:`BROKEN`."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A way to be broken.

    :param state: what becomes of the pack when it is enabled.
    :param code: arguments of :func:`pack_code`; a text is the whole module instead.
    :param manifest: arguments of :func:`pack_manifest`; a text is the whole manifest instead.
    :param requires: dependencies of the distribution.
    """

    state: str
    code: Mapping[str, Any] | str = field(default_factory=dict)
    manifest: Mapping[str, Any] | str = field(default_factory=dict)
    requires: tuple[str, ...] = ()


_RAISE: Final = "raise RuntimeError('broken on purpose')"
_WRITER: Final = (
    "register_mcp_tool(namespace=ctx.namespace, name='delete_things', description='No.')"
)

BROKEN: Final[Mapping[str, Broken]] = {
    "missing-manifest": Broken("invalid", manifest=""),
    "garbled-manifest": Broken("invalid", manifest="schema = ["),
    "incompatible-api": Broken("incompatible", manifest={"api": ">=9"}),
    "incompatible-core": Broken("incompatible", requires=("eagle-rag-core>=99",)),
    "import-error": Broken("import-failed", {"at_import": "import no_such_module_anywhere"}),
    "exit-at-import": Broken("import-failed", {"at_import": "raise SystemExit(3)"}),
    "missing-attribute": Broken("import-failed", code=""),
    "hook-raises": Broken("register-failed", {"in_hook": _RAISE}),
    "refused-tool-name": Broken("register-failed", {"in_hook": _WRITER}),
    "undeclared-tool": Broken("register-failed", manifest={"more": ""}),
    "unregistered-tool": Broken(
        "register-failed", manifest={"more": DECLARED + DECLARED.replace("things", "dreams")}
    ),
    "tool-raises": Broken("active", {"in_tool": _RAISE}),
    "enricher-raises": Broken("active", {"in_enricher": _RAISE}),
}


def write_broken(folder: Path, kind: str, namespace: str = "broken") -> PackSource:
    """Install a broken pack in a folder of its own, and find it there.

    The folder has to be importable for what fails at import or later.

    :param kind: one of :data:`BROKEN`.
    :raises ValueError: there is no such kind.
    """
    from eagle_rag_core.plugins.discovery import discover

    if kind not in BROKEN:
        raise ValueError(f"There is no kind {kind!r}; there are {', '.join(BROKEN)}.")
    broken = BROKEN[kind]
    code, manifest = broken.code, broken.manifest
    write_pack(
        folder,
        namespace,
        package=f"{namespace}_{kind.replace('-', '_')}_pack",
        code=code if isinstance(code, str) else pack_code(namespace, **code),
        manifest=manifest if isinstance(manifest, str) else pack_manifest(namespace, **manifest),
        requires=broken.requires,
    )
    (source,) = discover([str(folder)]).packs
    return source
