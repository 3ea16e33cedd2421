"""Names that are words more often than names: not looked for, per type of concept."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from eagle_rag_biomed.concepts import CONCEPT_TYPES, ConceptType
from eagle_rag_biomed.names import key_of
from eagle_rag_core.errors import PluginError

_ALL: Final = "*"


class StopTerms:
    """Keys of names, each with the types it is not looked for as."""

    def __init__(self, types: Mapping[str, frozenset[ConceptType]]) -> None:
        self._types = types

    def __len__(self) -> int:
        return len(self._types)

    def items(self) -> Iterable[tuple[str, frozenset[ConceptType]]]:
        return self._types.items()

    @property
    def digest(self) -> str:
        """A short text that changes with the stop-terms."""
        content = repr(sorted((key, sorted(types)) for key, types in self._types.items()))
        return hashlib.sha256(content.encode()).hexdigest()[:8]

    def stops(self, key: str, concept_type: ConceptType) -> bool:
        types = self._types.get(key)
        return types is not None and concept_type in types

    def __or__(self, other: StopTerms) -> StopTerms:
        types = dict(self._types)
        for key, more in other._types.items():
            types[key] = types.get(key, frozenset()) | more
        return StopTerms(types)


def parse_stop_terms(lines: Iterable[str]) -> StopTerms:
    """Stop-terms of a table: a type or "*", a tab, names separated by "|".

    Lines that begin with "#" are passed over.

    :raises PluginError: a line is not of this form.
    """
    types: defaultdict[str, set[ConceptType]] = defaultdict(set)
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        kind, tab, names = line.rstrip("\r\n").partition("\t")
        chosen = [t for t in CONCEPT_TYPES if kind in (t, _ALL)]
        if not tab or not chosen:
            raise PluginError(
                f"Line {number} of the stop-terms is not a type, a tab and names: types are "
                f"{', '.join(CONCEPT_TYPES)}, or {_ALL} for all."
            )
        for name in names.split("|"):
            if key := key_of(name):
                types[key].update(chosen)
    return StopTerms({key: frozenset(found) for key, found in types.items()})


def format_stop_terms(terms: StopTerms) -> str:
    """The table :func:`parse_stop_terms` reads as ``terms``, one name a line."""
    rows = sorted((kind, key) for key, kinds in terms.items() for kind in kinds)
    return "".join(f"{kind}\t{key}\n" for kind, key in rows)


@cache
def builtin_stop_terms() -> StopTerms:
    """The stop-terms that come with the package."""
    text = (files("eagle_rag_biomed") / "data" / "stopterms.tsv").read_text(encoding="utf-8")
    return parse_stop_terms(text.splitlines())
