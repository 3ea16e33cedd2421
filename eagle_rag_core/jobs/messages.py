"""What a worker process and its supervisor say to each other: one JSON object a line.

The process runs parsers on hostile files, so what comes from it is checked, and a line that is no
message is nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, get_type_hints

from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.jobs.leases import Lease

# From the supervisor.


@dataclass(frozen=True, slots=True)
class Hello:
    """The first message: what to build, and how to behave.

    :param settings: see :mod:`eagle_rag_core.settings.transfer`.
    :param fingerprint: of the pipeline whose jobs are to be run.
    :param memory_mb: the process may need so much; 0 for any.
    :param log_level: of the loggers of this room, as :mod:`logging` numbers them.
    :param on_request: run the jobs of :class:`Run` and no others.
    :param yields: let others have the processor first.
    """

    settings: str
    no_packs: bool
    fingerprint: str
    memory_mb: int
    log_level: int
    on_request: bool
    yields: bool


@dataclass(frozen=True, slots=True)
class Wake:
    """There may be jobs."""


@dataclass(frozen=True, slots=True)
class Run:
    """Run this job, if it is free."""

    job_id: str


@dataclass(frozen=True, slots=True)
class Lose:
    """The job was cancelled or taken over: stop."""

    job_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Close:
    """End, and hand back what is not finished after ``grace`` seconds."""

    grace: float


# From the process.


@dataclass(frozen=True, slots=True)
class Ready:
    """The engine is built, and jobs are looked for."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A job begins. The fields are those of its :class:`Lease`."""

    job_id: str
    attempt: int
    owner: str
    token: int
    lease_seconds: float

    @classmethod
    def of(cls, lease: Lease) -> Claimed:
        return cls(lease.job_id, lease.attempt, lease.owner, lease.token, lease.lease_seconds)

    @property
    def lease(self) -> Lease:
        return Lease(self.job_id, self.attempt, self.owner, self.token, self.lease_seconds)


@dataclass(frozen=True, slots=True)
class Progressed:
    """The running job is in this stage."""

    stage: str
    progress: float


@dataclass(frozen=True, slots=True)
class Ended:
    """The running job is over."""


@dataclass(frozen=True, slots=True)
class Idle:
    """There is nothing to do; with an id: that job is not free."""

    job_id: str


@dataclass(frozen=True, slots=True)
class Troubled:
    """Jobs make no progress; with an empty message: they do again."""

    code: str
    message: str

    @classmethod
    def of(cls, error: EagleError | None) -> Troubled:
        return cls(error.code, error.message) if error else cls("", "")

    @property
    def error(self) -> EagleError | None:
        return EagleError(self.message, code=ErrorCode(self.code)) if self.message else None


@dataclass(frozen=True, slots=True)
class Failed:
    """The process cannot work, for this reason, and ends."""

    code: str
    message: str

    @property
    def error(self) -> EagleError:
        return EagleError(self.message, code=ErrorCode(self.code))


Command = Hello | Wake | Run | Lose | Close
Event = Ready | Claimed | Progressed | Ended | Idle | Troubled | Failed
_KINDS: Mapping[str, type[Command | Event]] = {
    kind.__name__: kind
    for kind in (
        *(Hello, Wake, Run, Lose, Close),
        *(Ready, Claimed, Progressed, Ended, Idle, Troubled, Failed),
    )
}
_TYPES = {
    kind: {
        name: (int, float) if hint is float else hint for name, hint in get_type_hints(kind).items()
    }
    for kind in _KINDS.values()
}


def encode(message: Command | Event) -> bytes:
    """The message as a line."""
    return json.dumps([type(message).__name__, asdict(message)]).encode() + b"\n"


def decode(line: bytes) -> Command | Event | None:
    """The message of a line; None if it is none."""
    try:
        name, values = json.loads(line)
        kind = _KINDS[name]
        if _fits(_TYPES[kind], values):
            message: Command | Event = kind(**values)
            if isinstance(message, Troubled | Failed) and message.message:
                ErrorCode(message.code)
            return message
    except (ValueError, TypeError, KeyError):
        pass
    return None


def _fits(types: Mapping[str, Any], values: object) -> bool:
    return (
        isinstance(values, dict)
        and values.keys() == types.keys()
        and all(isinstance(values[name], wanted) for name, wanted in types.items())
    )
