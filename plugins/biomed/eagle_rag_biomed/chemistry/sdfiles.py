"""SD files: a molecule after the other, each with its name and items of data.

After the CTfile formats of BIOVIA (2020), chapter 5.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

_ITEM: Final = re.compile(r">.*<([^>]+)>")
_END_OF_RECORD: Final = "$$$$"
_END_OF_MOLECULE: Final = "M  END"
#: Items that hold further names, in lower case.
_NAMES: Final = re.compile(r"synonyms?|name|iupac name|generic_name|preferred name")


@dataclass(slots=True)
class SdRecord:
    """One molecule of a file.

    :param title: its first line, by custom its name or number.
    :param molecule: the molfile.
    :param items: lines of data by name.
    """

    title: str = ""
    molecule: str = ""
    items: dict[str, list[str]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """What its items call it, without the title."""
        found = (
            name.strip()
            for item, lines in self.items.items()
            if _NAMES.fullmatch(item.casefold())
            for line in lines
            for name in line.split(";")
        )
        return [name for name in dict.fromkeys(found) if name and name != self.title]

    @property
    def notation(self) -> str:
        """Its structure: an InChI or SMILES of its items, or else the molfile."""
        for kind in ("inchi", "smiles"):
            for item, lines in self.items.items():
                if kind in item.casefold() and "key" not in item.casefold() and lines:
                    return lines[0].strip()
        return self.molecule


def read_sd_file(lines: Iterable[str]) -> Iterator[SdRecord]:
    """The records of an SD file that have a title."""
    gathered: list[str] = []
    for line in lines:
        if line.startswith(_END_OF_RECORD):
            if record := _record(gathered):
                yield record
            gathered = []
        else:
            gathered.append(line.rstrip("\r\n"))


def _record(lines: list[str]) -> SdRecord | None:
    if not lines or not lines[0].strip():
        return None
    end = next((n for n, line in enumerate(lines) if line.startswith(_END_OF_MOLECULE)), -1)
    record = SdRecord(lines[0].strip(), "\n".join(lines[: end + 1]))
    values: list[str] = []
    for line in lines[end + 1 :]:
        if item := _ITEM.match(line):
            values = record.items.setdefault(item.group(1), [])
        elif line.strip():
            values.append(line)
    return record
