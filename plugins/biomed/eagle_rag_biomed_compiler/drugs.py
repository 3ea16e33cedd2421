"""Drugs under their generic and brand names."""

from __future__ import annotations

import bz2
import pickle
from collections import defaultdict
from typing import IO, Any, NoReturn

from eagle_rag_biomed.concepts import Concept
from eagle_rag_biomed_compiler.merging import ConceptMerger
from eagle_rag_core.errors import PluginError

#: Shorter names are mostly codes that mean something else.
_SHORTEST = 4


class _PlainData(pickle.Unpickler):
    """Reads containers, texts and numbers; a pickle that names code is refused."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise PluginError("The dictionary of drugs holds code; it was not read.")


def add_drugs(merger: ConceptMerger, stream: IO[bytes]) -> None:
    """:param stream: a bzip2-compressed pickle of plain dictionaries."""
    with bz2.open(stream) as plain:
        data: dict[str, dict[str, Any]] = _PlainData(plain).load()
    names: defaultdict[str, list[str]] = defaultdict(list)
    for variant, canonical in data["drug_variant_to_canonical"].items():
        if len(variant) >= _SHORTEST and "," not in variant:
            for name in canonical:
                names[name].append(variant)
    for name, facts in data["drug_canonical_to_data"].items():
        # Its MeSH identifiers are those of the class of a drug as often as of the drug.
        if not facts.get("drugbank_id") or "," in name:
            continue
        merger.add(
            Concept(
                f"DRUGBANK:{facts['drugbank_id']}",
                "chemical",
                facts.get("name", name),
                tuple(names[name]),
            ),
            by_name=True,
        )
