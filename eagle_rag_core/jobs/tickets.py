"""What a broker carries: that there is a job, and which pipeline it is for. Nothing else.

Whoever can write to the broker can send anything, so a ticket is checked when it comes, and gives
no right: the job it names is claimed in the catalog, or not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from eagle_rag_core.catalog.ids import is_id

#: Name of the task under which tickets travel.
TASK = "eagle_rag.run_job"
_NAMESPACE = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Ticket:
    """One job of one pipeline."""

    job_id: str
    namespace: str
    fingerprint: str

    @classmethod
    def of(cls, arguments: tuple[Any, ...], values: Mapping[str, Any]) -> Ticket | None:
        """The ticket of a message; None if it is none."""
        if arguments or values.keys() != {"job_id", "namespace", "fingerprint"}:
            return None
        if not all(isinstance(value, str) for value in values.values()):
            return None
        ticket = cls(**values)
        ids = is_id(ticket.job_id) and is_id(ticket.fingerprint)
        return ticket if ids and _NAMESPACE.fullmatch(ticket.namespace) else None

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


def queue_name(namespace: str, fingerprint: str) -> str:
    """The broker's queue of a pipeline: a ticket never reaches a worker that cannot use it."""
    return f"eagle-rag.{namespace}.{fingerprint}"
