"""What became of every installed pack."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class PackState(StrEnum):
    """Where a pack stands. Only ``ACTIVE`` packs contribute anything."""

    #: Installed and sound; nothing has decided about it yet.
    DISCOVERED = "discovered"
    #: Installed, but this deployment does not enable it. Its code is not imported.
    NOT_IN_PROFILE = "not-in-profile"
    #: Another copy of the distribution stands earlier on the path.
    SHADOWED = "shadowed"
    #: Another distribution claims the namespace, or one that begins like it.
    CONFLICT = "conflict"
    #: Its metadata or manifest is wrong.
    INVALID = "invalid"
    #: It asks for another version of the pack API or of the core, or settings ask for another
    #: version of it.
    INCOMPATIBLE = "incompatible"
    #: ``plugins.disabled`` names it.
    DISABLED = "disabled"
    #: Its code could not be imported.
    IMPORT_FAILED = "import-failed"
    #: A hook failed, or what it registered breaks a rule. Nothing of the pack stays.
    REGISTER_FAILED = "register-failed"
    #: It was registered but could not be started.
    START_FAILED = "start-failed"
    ACTIVE = "active"


@dataclass(frozen=True, slots=True)
class PackRecord:
    """One installed pack, for ``packs list``, health and logs.

    :param distribution: name of the distribution that brings it; its owner.
    :param location: folder of the distribution, for operators.
    :param reason: our sentence on why it is not active, "" otherwise.
    :param error: type and first line of the exception behind ``reason``, for operators; "" if none.
    :param elapsed_ms: time its import and registration took.
    :param tools: public names of its tools: those declared, once it is active those registered.
    """

    namespace: str
    distribution: str
    version: str
    location: str = ""
    editable: bool = False
    state: PackState = PackState.DISCOVERED
    reason: str = ""
    error: str = ""
    elapsed_ms: float = 0.0
    title: str = ""
    api: str = ""
    tools: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    needs_services: tuple[str, ...] = ()
    needs_env: tuple[str, ...] = ()

    @property
    def active(self) -> bool:
        return self.state is PackState.ACTIVE

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {**asdict(self), "state": self.state.value}


def brief(error: BaseException) -> str:
    """Type and first line of an exception, for operators."""
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}"[:300].removesuffix(": ")
