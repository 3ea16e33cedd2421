"""Whose structure it is: the name that stands beside a notation."""

from __future__ import annotations

import re
from typing import Final

from eagle_rag_biomed.annotator import Annotator, Mention
from eagle_rag_biomed.chemistry.notations import Written
from eagle_rag_biomed.concepts import Concept

#: Characters before and after a notation in which its name is looked for.
_REACH: Final = 160
#: What leads from a name over to its notation.
_LEAD: Final = re.compile(
    r"(?:[\s(\[,:;=\-\u2013]|\b(?:canonical|isomeric|SMILES|InChI(?:[ -]?Key)?|structure"
    r"|string|code|notation|is)\b)+$",
    re.IGNORECASE,
)


class Naming:
    """Finds the names of structures that a text writes down.

    :param text: the document they stand in.
    """

    def __init__(self, annotator: Annotator, text: str) -> None:
        self._annotator = annotator
        self._text = text

    def concept_of(self, written: Written) -> Concept | None:
        """The one chemical that the text gives this structure, ``None`` where it names none.

        It stands right before the notation, alone after it on the line, or in a cell of its own in
        the same row of a table.
        """
        first = self._text.rfind("\n", 0, written.start) + 1
        last = self._text.find("\n", written.end)
        last = len(self._text) if last < 0 else last
        if self._text[first] == "|":
            return self._in_row(self._text[first:last], written.notation)
        before = self._text[max(first, written.start - _REACH) : self.anchor(written)]
        after = self._text[written.end : min(last, written.end + _REACH)]
        if before.strip():
            return self._at_end(before)
        return self._alone(after) if after.strip() else None

    def anchor(self, written: Written) -> int:
        """Where the words end that lead over to a notation: its name, if it has any."""
        first = max(self._text.rfind("\n", 0, written.start) + 1, written.start - _REACH)
        lead = _LEAD.search(self._text, first, written.start)
        return lead.start() if lead else written.start

    def _at_end(self, text: str) -> Concept | None:
        """The chemical that ``text`` ends with."""
        mentions = self._annotator.annotate(text)
        last = mentions[-1] if mentions else None
        return _chemical(last) if last and last.end == len(text) else None

    def _alone(self, text: str) -> Concept | None:
        """The chemical that ``text`` consists of."""
        name = text.strip()
        mentions = self._annotator.annotate(name)
        whole = len(mentions) == 1 and mentions[0].surface == name
        return _chemical(mentions[0]) if whole else None

    def _in_row(self, row: str, notation: str) -> Concept | None:
        cells = (cell for cell in row.split("|") if cell.strip() and cell.strip() != notation)
        named = {concept for cell in cells if (concept := self._alone(cell))}
        return named.pop() if len(named) == 1 else None


def _chemical(mention: Mention) -> Concept | None:
    concept = mention.concept
    return concept if concept and concept.type == "chemical" else None
