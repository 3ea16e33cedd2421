"""What a job waits for when this process's pipeline is not the one it was submitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Pack = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PipelineIdentity:
    """The pipeline of a process, as far as jobs depend on it.

    :param fingerprint: of everything that decides what becomes of a source; "" when the process
        has no pipeline.
    :param packs: namespace and version of the packs in it.
    """

    fingerprint: str = ""
    packs: Sequence[Pack] = ()

    def is_foreign(self, fingerprint: str) -> bool:
        """Whether jobs of the pipeline ``fingerprint`` wait for another process."""
        return bool(self.fingerprint) and fingerprint != self.fingerprint

    def waiting_for(self, fingerprint: str, packs: Sequence[Pack]) -> str:
        """What a queued job waits for, one sentence; "" if this process can run it."""
        if not self.is_foreign(fingerprint):
            return ""
        wanted, present = dict(packs), dict(self.packs)
        parts = [
            *(_lacking(name, wanted[name], present) for name in sorted(wanted)),
            *(
                f"without the pack {name}, which this process has"
                for name in sorted(present.keys() - wanted.keys())
            ),
        ]
        lacking = ", and ".join(filter(None, parts)) or _OTHER_PARSERS
        return f"Waits for a worker {lacking}. {_ADVICE}"


_OTHER_PARSERS = (
    "whose pipeline is the one in force when the job was submitted; this process has the same "
    "packs, but other versions of the parsers, chunker, analyzer or enrichers"
)
_ADVICE = "Cancel the job and submit the source anew if there is no such worker any more."


def _lacking(name: str, version: str, present: dict[str, str]) -> str:
    if name not in present:
        return f"with the pack {name} {version}, which this process lacks"
    if present[name] != version:
        return f"with the pack {name} {version}; this process has {present[name]}"
    return ""
