"""Ordinals of the names that occur in an index."""

from __future__ import annotations

from dataclasses import dataclass, field


class Numbering(dict[str, int]):
    """Numbers names in order of first use: ``numbering[name]`` gives a new name the next number.

    Only the thread that changes the index subscripts; searches use :meth:`get`, which never adds.
    """

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number


@dataclass(frozen=True, slots=True)
class Names:
    """The numberings shared by all segments of one index.

    They only grow, so that a segment's ordinals stay valid; a rebuilt index starts anew.
    """

    kbs: Numbering = field(default_factory=Numbering)
    documents: Numbering = field(default_factory=Numbering)
    versions: Numbering = field(default_factory=Numbering)
    terms: Numbering = field(default_factory=Numbering)
