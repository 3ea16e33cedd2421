"""The tool biomed_retrieve_compounds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import eagle_rag_biomed
from eagle_rag_biomed.chemistry.toolkit import Toolkit
from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.testing import CallFailed, PackLibrary, imported_modules

TOOL = "biomed_retrieve_compounds"
ASPIRIN = "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"
#: In-house compounds: one that documents name, one that none does, one without a structure.
HOUSE = """\
curie,type,label,names,smiles
OWN:1,chemical,EX-101,,CCOC(=O)c1ccccc1O
OWN:2,chemical,EX-102,,CCCOC(=O)c1ccccc1O
OWN:3,chemical,EX-103,,
OWN:4,gene,CBS,,
"""
#: Two molecules of an SD file: one with an InChI and a synonym, one as a drawing only.
MOLECULES = """\
EX-201

  none
  0  0  0  0  0  0  0  0  0  0999 V2000
M  END
>  <Synonyms>
exotonin; EX-201 base

> <InChI>
InChI=1S/C3H8O/c1-2-3-4/h4H,2-3H2,1H3

$$$$
EX-202
  drawn

  3  2  0  0  0  0  0  0  0  0999 V2000
    0.0000    0.0000    0.0000 C   0  0  0  0  0  0  0  0  0  0  0  0
    1.5000    0.0000    0.0000 C   0  0  0  0  0  0  0  0  0  0  0  0
    3.0000    0.0000    0.0000 N   0  0  0  0  0  0  0  0  0  0  0  0
  1  2  1  0
  2  3  1  0
M  END
$$$$
"""
TABLE = """\
code,name,smiles
1,aspirin,CC(=O)Oc1ccccc1C(=O)O
2,acetaminophen,CC(=O)Nc1ccc(O)cc1
"""
TEXTS = {
    "salicylate": "No salicylate (SMILES: OC(=O)c1ccccc1O) was found in rats.",
    "aspirin": "Aspirin helps against pain.",
    "house": "EX-101 was tolerated. Without EX-103 it was not.",
    "kekule": "It was C1=CC=CC(=C1C(=O)O)OC(C)=O after all.",
    "sold": "Exotonin was sold.",
    "other": "Nothing of interest here.",
}

pytest.importorskip("rdkit", reason="the extra [chem] is not installed")


@pytest.fixture(scope="module")
def compounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PackLibrary, Any]]:
    """A library of compounds, and the ids of its documents."""
    home = tmp_path_factory.mktemp("compounds")
    (home / "house.csv").write_text(HOUSE)
    (home / "table.csv").write_text(TABLE)
    (home / "molecules.sdf").write_text(MOLECULES)
    paths = [str(home / name) for name in ("house.csv", "molecules.sdf")]
    options = {"user_vocabularies": [{"path": path} for path in paths]}
    settings = {"plugins": {"options": {"biomed": options}, "enforce_effects": True}}
    with PackLibrary(home / "home", eagle_rag_biomed, settings=settings) as library:
        ids = {name: library.ingest_text(text, f"{name}.md") for name, text in TEXTS.items()}
        ids["table"] = library.ingest(home / "table.csv")[0]
        yield library, ids


def shown(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(c["relation"], c["label"] or c["smiles"]) for c in answer["compounds"]]


@pytest.mark.parametrize(
    "compound",
    [
        "aspirin",
        "acetylsalicylic acid",
        "O=C(C)Oc1ccccc1C(O)=O",
        "SMILES: O=C(C)Oc1ccccc1C(O)=O",
        "InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7(8)9(11)12/h2-5H,1H3,(H,11,12)",
        ASPIRIN,
    ],
)
def test_names_and_all_notations_find_the_same_compound(compounds: Any, compound: str) -> None:
    library, ids = compounds
    answer = library.call(TOOL, compound=compound, min_similarity=1, evidence_per_compound=10)
    assert answer["asked"]["inchikey"] == ASPIRIN
    (found,) = answer["compounds"]
    assert (found["relation"], found["label"], found["similarity"]) == ("same", "aspirin", 1.0)
    # By structure in the table and in another notation, by name in prose.
    assert {e["document_id"] for e in found["evidence"]} == {
        ids["table"],
        ids["kekule"],
        ids["aspirin"],
    }
    assert found["documents"] == 3
    assert all(e["surface"] in e["text"] for e in found["evidence"])


def test_similar_compounds_follow_the_most_similar_first(compounds: Any) -> None:
    library, _ = compounds
    answer = library.call(TOOL, compound="CCOC(=O)c1ccccc1O", min_similarity=0.2)
    assert shown(answer)[:2] == [("same", "EX-101"), ("similar", "O=C(O)c1ccccc1O")]
    similarities = [c["similarity"] for c in answer["compounds"]]
    assert similarities == sorted(similarities, reverse=True)
    assert min(similarities) >= 0.2
    # EX-102 is most similar of all, but no document mentions it.
    assert answer["nearest"] > similarities[1]
    assert answer["asked"]["label"] == "EX-101"


def test_molecules_of_an_sd_file_have_names_and_structures(compounds: Any) -> None:
    library, ids = compounds
    for compound, smiles in {"exotonin": "CCCO", "EX-202": "CCN"}.items():
        answer = library.call(TOOL, compound=compound)
        assert answer["asked"]["smiles"] == smiles
        assert answer["asked"]["structure_from"] == "vocabulary"
        assert answer["asked"]["curie"].startswith("molecules:EX-20")
    by_structure = library.call(TOOL, compound="OCCC", min_similarity=1)
    assert shown(by_structure) == [("same", "EX-201")]
    assert by_structure["compounds"][0]["evidence"][0]["document_id"] == ids["sold"]


def test_an_in_house_name_has_its_vocabularys_structure(compounds: Any) -> None:
    library, ids = compounds
    answer = library.call(TOOL, compound="EX-101")
    assert answer["asked"]["structure_from"] == "vocabulary"
    assert answer["compounds"][0]["evidence"][0]["document_id"] == ids["house"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"compound": "zorblax"}, "not_in_vocabulary"),
        ({"compound": "Poly(I:C)"}, "not_in_vocabulary"),
        ({"compound": "CBS"}, "not_in_vocabulary"),
        ({"compound": "P53"}, "not_in_vocabulary"),
        ({"compound": "[C" * 400 + " x"}, "not_in_vocabulary"),
        ({"compound": "ibuprofen"}, "no_structure"),
        ({"compound": "CCCCCCCC", "min_similarity": 1}, "filtered_out"),
        ({"compound": "CCCCCCCC", "document_ids": ["absent"]}, "unknown_documents"),
        ({"compound": "aspirin", "assertion": "negated"}, "filtered_out"),
        ({"compound": "aspirin", "organism": "zebrafish"}, "filtered_out"),
    ],
)
def test_nothing_found_says_why(compounds: Any, arguments: dict[str, Any], reason: str) -> None:
    library, _ = compounds
    answer = library.call(TOOL, **arguments)
    assert (answer["compounds"], answer["zero_result_reason"]) == ([], reason)


def test_a_compound_without_structure_is_found_by_name(compounds: Any) -> None:
    library, _ = compounds
    answer = library.call(TOOL, compound="EX-103")
    assert shown(answer) == [("same", "EX-103")]
    assert answer["compounds"][0]["evidence"][0]["assertion"] == "negated"
    assert (answer["asked"]["structure_from"], answer["compared"]) == ("", 0)


def test_assertions_and_organisms_choose_what_counts(compounds: Any) -> None:
    library, ids = compounds
    salicylate = "O=C(O)c1ccccc1O"
    denied = library.call(TOOL, compound=salicylate, assertion="negated")
    (found,) = denied["compounds"]
    assert [e["assertion"] for e in found["evidence"]] == ["negated"]
    assert found["evidence"][0]["document_id"] == ids["salicylate"]
    in_rats = library.call(TOOL, compound=salicylate, organism="rat", min_similarity=0)
    assert shown(in_rats) == [("same", salicylate)]


def test_answers_have_pages_and_a_budget(compounds: Any) -> None:
    library, _ = compounds
    everything = library.call(TOOL, compound="aspirin", min_similarity=0, limit=50)
    paged, cursor = [], ""
    while True:
        page = library.call(TOOL, compound="aspirin", min_similarity=0, limit=2, cursor=cursor)
        paged += page["compounds"]
        cursor = page["next_cursor"]
        if not cursor:
            break
    assert paged == everything["compounds"]
    assert len(paged) == 5
    small = library.call(TOOL, compound="aspirin", max_tokens=0)
    assert small["budget_truncated"]
    assert small["compounds"][0]["evidence"] == []


@pytest.mark.parametrize(
    ("compound", "said"),
    [
        ("C1CCCC", "Ring 1, which opens at character 2, is not closed."),
        ("CCC(", "The branch that opens at character 4 is not closed."),
        ("SMILES: zorblax", "Character 1, 'z', cannot stand there."),
        ("C(C)(C)(C)(C)(C)C", "no possible molecule"),
        ("InChI=1S/nonsense", "no valid InChI"),
    ],
)
def test_a_faulty_structure_is_explained_and_nothing_is_printed(
    compounds: Any, capfd: pytest.CaptureFixture[str], compound: str, said: str
) -> None:
    library, _ = compounds
    with pytest.raises(CallFailed) as failed:
        library.call(TOOL, compound=compound)
    assert failed.value.code is ErrorCode.INVALID_ARGUMENT
    assert said in failed.value.error["error"]
    # RDKit would write to the streams of the process, below Python.
    assert capfd.readouterr().out == ""


def test_without_rdkit_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(EagleError) as failed:
        Toolkit()
    assert failed.value.code is ErrorCode.MODE_UNAVAILABLE
    assert "eagle-rag-biomed[chem]" in failed.value.message


def test_rdkit_is_imported_when_it_is_asked_for(tmp_path: Path) -> None:
    serving = f"""\
import sys
from pathlib import Path
import eagle_rag_biomed
from eagle_rag_core.testing import PackLibrary
with PackLibrary(Path({str(tmp_path)!r}), eagle_rag_biomed) as library:
    library.ingest_text("Ethanol (SMILES: CCO) was drunk.")
    assert len(library.records("structure")) == 1
    library.call("biomed_query_entities", query="ethanol")
    assert "{TOOL}" in library.app.pipeline.tools
    assert "rdkit" not in sys.modules
    library.call("{TOOL}", compound="ethanol")
    assert "rdkit" in sys.modules
"""
    assert "rdkit.Chem" in imported_modules(serving)
