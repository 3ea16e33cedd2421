"""Ordinals of the names that occur in an index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np

from eagle_rag_core.vectors.local.arrays import Bytes, Ordinals

#: Longer names, of which there are few, are kept beside a table instead of widening all of it.
_WIDTH = 32


@dataclass(frozen=True, slots=True)
class NameTable:
    """Names with their ordinals, laid out so that a file of them can be searched where it is.

    :param texts: UTF-8, ascending, fixed width.
    :param numbers: the ordinal of each of ``texts``.
    :param long: the names that do not fit, with theirs.
    """

    texts: Bytes
    numbers: Ordinals
    long: Mapping[str, int]

    @property
    def size(self) -> int:
        return len(self.texts) + len(self.long)

    def find(self, names: Sequence[str]) -> Ordinals:
        """The ordinals of names that are no :attr:`long` ones, -1 for unknown names."""
        keys = [name.encode("utf-8", "surrogatepass") for name in names]
        found = np.full(len(keys), -1, np.int32)
        fitting = np.flatnonzero(np.fromiter(map(_fits, keys), np.bool_, len(keys)))
        if not len(self.texts) or not len(fitting):
            return found
        wanted = np.array([keys[i] for i in fitting.tolist()], self.texts.dtype)
        at = np.minimum(np.searchsorted(self.texts, wanted), len(self.texts) - 1)
        found[fitting] = np.where(self.texts[at] == wanted, self.numbers[at], -1)
        return found


class Numbering(dict[str, int]):
    """Numbers names in order of first use: ``numbering[name]`` gives a new name the next number.

    Only the thread that changes the index subscripts; searches use :meth:`numbers`, which never
    adds a number.

    :param table: names that have their numbers already.
    """

    def __init__(self, table: NameTable | None = None) -> None:
        super().__init__(table.long if table else ())
        self._table = table
        #: How many names are numbered.
        self.size = table.size if table else 0

    def __missing__(self, name: str) -> int:
        known = int(self._table.find([name])[0]) if self._table else -1
        number = self[name] = self.size if known < 0 else known
        if known < 0:
            self.size += 1
        return number

    def prepare(self, names: Iterable[str]) -> None:
        """Look up many names at once, so that subscripting each of them is quick."""
        if self._table:
            fresh = [name for name in set(names) if name not in self]
            found = self._table.find(fresh).tolist()
            self.update(pair for pair in zip(fresh, found, strict=True) if pair[1] >= 0)

    def numbers(self, names: Sequence[str]) -> Ordinals:
        """The ordinals of names, -1 for unknown ones."""
        found = np.fromiter(map(self.get, names, repeat(-1)), np.int32, len(names))
        if self._table and (found < 0).any():
            missing = np.flatnonzero(found < 0)
            asked = [names[i] for i in missing.tolist()]
            found[missing] = numbers = self._table.find(asked)
            # Scopes of many documents come again.
            known = zip(asked, numbers.tolist(), strict=True)
            self.update(pair for pair in known if pair[1] >= 0)
        return found

    def table(self, used: Ordinals) -> NameTable:
        """The names with the given ordinals; each is numbered by its place among them.

        :param used: ascending.
        """
        places = np.full(self.size, -1, np.int32)
        places[used] = np.arange(len(used), dtype=np.int32)
        mapped, numbers = self._mapped
        kept = places[numbers]
        inside = np.zeros(self.size, np.bool_)
        inside[numbers] = True
        short: list[bytes] = []
        own: list[int] = []
        long: dict[str, int] = {}
        for name, number in tuple(self.items()):  # searches may look names up meanwhile
            if inside[number] or (place := int(places[number])) < 0:
                continue
            key = name.encode("utf-8", "surrogatepass")
            if _fits(key):
                short.append(key)
                own.append(place)
            else:
                long[name] = place
        texts = np.concatenate((mapped[kept >= 0], np.array(short, mapped.dtype)))
        order = np.argsort(texts, kind="stable")
        joined = np.concatenate((kept[kept >= 0], np.array(own, np.int32)))
        return NameTable(texts[order], joined[order], long)

    @property
    def _mapped(self) -> tuple[Bytes, Ordinals]:
        if self._table is None:
            return np.array([], f"S{_WIDTH}"), np.array([], np.int32)
        return self._table.texts, self._table.numbers


def _fits(key: bytes) -> bool:
    """Whether a fixed-width array of bytes, which drops trailing zeros, keeps the name."""
    return len(key) <= _WIDTH and not key.endswith(b"\0")


@dataclass(frozen=True, slots=True)
class Names:
    """The numberings shared by all segments of one index.

    They only grow, so that a segment's ordinals stay valid; a rebuilt index starts anew.
    """

    kbs: Numbering = field(default_factory=Numbering)
    documents: Numbering = field(default_factory=Numbering)
    versions: Numbering = field(default_factory=Numbering)
    terms: Numbering = field(default_factory=Numbering)
