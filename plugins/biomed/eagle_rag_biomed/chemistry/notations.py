"""Structures as documents write them: SMILES, InChI and InChIKeys in running text and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from eagle_rag_biomed.chemistry.smiles import MOST_CHARACTERS, read_smiles

Form = Literal["smiles", "inchi", "inchikey"]

_INCHI_CHARACTER: Final = r"[^\s|\"'<>`]"
INCHI: Final = re.compile(
    rf"InChI=1S?/{_INCHI_CHARACTER}{{1,{MOST_CHARACTERS - 10}}}+(?!{_INCHI_CHARACTER})"
)
INCHIKEY: Final = re.compile(r"\b[A-Z]{14}-[A-Z]{10}-[A-Z]\b")
#: Runs of the symbols SMILES are made of, an atom first.
_RUN: Final = re.compile(
    r"(?<![\w.\-/])(?=[BCNOPSFIbcnops*\[])"
    r"(?:[BCNOPSFIlrbcnops\d()=#@+\\/$%.:*~-]|\[[^\s\[\]]{1,20}\])++(?![A-Za-z\[])"
)
_ENDING: Final = ".,;:"
#: Where a text says that a SMILES follows: "SMILES:", "SMILES string is", "> <SMILES>".
_SAID: Final = re.compile(r"smiles\W{0,3}(?:string|code|notation)?(?: is)?\W{0,4}$", re.IGNORECASE)
_SAID_WITHIN: Final = 40
#: Fewer atoms are rather a word, where nothing says that it is a structure.
_FEWEST_ATOMS: Final = 5
#: Notations of one document; what has more is a database.
_MOST: Final = 5000
_RULE: Final = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")


@dataclass(frozen=True, slots=True)
class Written:
    """A structure as it stands in a text: ``text[start:end] == notation``."""

    start: int
    end: int
    notation: str
    form: Form


def written_structures(text: str) -> list[Written]:
    """The structures written in ``text``, in order and without overlaps.

    InChI and InChIKeys say themselves what they are. SMILES are taken for such where the text, or
    the head of a table's column, says so, and otherwise when they have rings or branches with
    multiple bonds, which no word has.
    """
    found: list[Written] = []
    covered = 0
    for written in sorted(_all(text), key=lambda w: (w.start, w.form != "inchi")):
        if written.start >= covered:
            found.append(written)
            covered = written.end
        if len(found) == _MOST:
            break
    return found


def _all(text: str) -> Iterator[Written]:
    if "InChI=" in text:
        for match in INCHI.finditer(text):
            notation = _whole(match.group())
            yield Written(match.start(), match.start() + len(notation), notation, "inchi")
    for match in INCHIKEY.finditer(text):
        yield Written(match.start(), match.end(), match.group(), "inchikey")
    yield from _smiles(text)
    yield from _cells(text)


def _smiles(text: str) -> Iterator[Written]:
    says_so = "smiles" in text.lower()
    for match in _RUN.finditer(text):
        start, notation = match.start(), _whole(match.group())
        said = says_so and bool(_SAID.search(text, max(0, start - _SAID_WITHIN), start))
        if _is_smiles(notation, said=said):
            yield Written(start, start + len(notation), notation, "smiles")


def _is_smiles(notation: str, *, said: bool) -> bool:
    if not said and ("(" not in notation and not any(c.isdigit() for c in notation)):
        return False
    read = read_smiles(notation)
    if read.problem or not read.atoms:
        return False
    telling = read.rings or (read.branches and (read.multiple or read.brackets))
    return said or bool(telling and read.atoms >= _FEWEST_ATOMS)


def _whole(notation: str) -> str:
    """``notation`` without what ends the sentence, and without brackets around it."""
    notation = notation.rstrip(_ENDING)
    while notation.endswith((")", "]")) and _unopened(notation):
        notation = notation[:-1].rstrip(_ENDING)
    return notation


def _unopened(notation: str) -> bool:
    last = notation[-1]
    return notation.count(last) > notation.count("(" if last == ")" else "[")


def _cells(text: str) -> Iterator[Written]:
    """SMILES in the columns of Markdown tables whose head says so."""
    head: list[str] = []
    columns: list[int] = []
    place = 0
    for line in text.splitlines(keepends=True):
        if not line.startswith("|"):
            head, columns = [], []
        elif _RULE.fullmatch(line.strip()):
            columns = [n for n, cell in enumerate(head) if "smiles" in cell.lower()]
        else:
            head = line.split("|")
            for column in columns:
                yield from _cell(head, column, place)
        place += len(line)


def _cell(cells: list[str], column: int, place: int) -> Iterator[Written]:
    if column < len(cells) and (notation := cells[column].strip()):
        before = sum(len(cell) + 1 for cell in cells[:column])
        start = place + before + cells[column].index(notation)
        if _is_smiles(notation, said=True):
            yield Written(start, start + len(notation), notation, "smiles")
