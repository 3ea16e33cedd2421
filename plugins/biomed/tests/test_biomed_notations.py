"""Structures as documents write them down."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.chemistry.naming import Naming
from eagle_rag_biomed.chemistry.notations import written_structures
from eagle_rag_biomed.chemistry.smiles import MOST_CHARACTERS, read_smiles

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
ETHANOL = "InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3"


def found(text: str) -> list[str]:
    return [written.notation for written in written_structures(text)]


@pytest.mark.parametrize(
    ("text", "notations"),
    [
        (f"Aspirin ({ASPIRIN}) was given.", [ASPIRIN]),
        (f"It is {ASPIRIN}.", [ASPIRIN]),
        ("Salt: C[N+](C)(C)CCOC(C)=O.[Cl-], dried.", ["C[N+](C)(C)CCOC(C)=O.[Cl-]"]),
        (f"{ETHANOL}; boils at 78 degrees", [ETHANOL]),
        (f"The InChI ({ETHANOL}).", [ETHANOL]),
        ("Key BSYNRYMUTXBXSQ-UHFFFAOYSA-N was used", ["BSYNRYMUTXBXSQ-UHFFFAOYSA-N"]),
        ("The SMILES string is CCO.", ["CCO"]),
        ("> <SMILES>\nCCN\n", ["CCN"]),
        ("| id | SMILES |\n| --- | --- |\n| a | CCO |\n| b | n/a |\n", ["CCO"]),
        ("| id | note |\n| --- | --- |\n| a | CCO |\n", []),
    ],
)
def test_notations_are_found_where_they_stand(text: str, notations: list[str]) -> None:
    assert found(text) == notations


@pytest.mark.parametrize(
    "text",
    [
        "CNS/PNS and P53-p53 at IC50 (n=10), SOCS1, CO2, B(12), PCR(1), C=C",
        "No CCO here: IN CB1/CB1 OR BCL2/BCL2 IF C3b(C3)",
        "p(C|B) = 0.5 and CC(C)C",
        "BENZENE-RINGS-A is no key",
        "C1CC1" + "C" * 500,
        "InChI=1S/C2H6O/c1-2-3/" + "h3H," * 150,
    ],
)
def test_words_are_no_structures(text: str) -> None:
    assert found(text) == []


@given(st.text(alphabet="CNOcno()=#123[]@H+-./ \n|SMILES:", max_size=60))
def test_every_notation_stands_at_its_offsets(text: str) -> None:
    last = 0
    for written in written_structures(text):
        assert text[written.start : written.end] == written.notation
        assert written.start >= last
        last = written.end


@pytest.mark.parametrize(
    ("smiles", "problem"),
    [
        ("C1CC1", ""),
        ("C[C@@H](N)C(=O)[O-]", ""),
        ("c1ccc%10ccc%10c1", ""),
        ("C1CC", "Ring 1, which opens at character 2, is not closed."),
        ("CC(C", "The branch that opens at character 3 is not closed."),
        ("CC)C", "The ')' at character 3 closes no branch."),
        ("CCX", "Character 3, 'X', cannot stand there."),
        ("C==C", "Character 3, '=', cannot stand there."),
        ("CC=", "Its end is missing."),
        ("", "It is empty."),
        ("C" * (MOST_CHARACTERS + 1), f"It is longer than {MOST_CHARACTERS} characters."),
    ],
)
def test_mistakes_in_smiles_are_named(smiles: str, problem: str) -> None:
    assert read_smiles(smiles).problem == problem


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (f"We gave aspirin (SMILES: {ASPIRIN}).", "aspirin"),
        (f"aspirin, {ASPIRIN}", "aspirin"),
        (f"{ASPIRIN} aspirin", "aspirin"),
        (f"| no | name | SMILES |\n| --- | --- | --- |\n| 1 | aspirin | {ASPIRIN} |", "aspirin"),
        (f"Aspirin was compared with a powder ({ASPIRIN}).", ""),
        (f"Aspirin.\n{ASPIRIN}", ""),
        (f"| SMILES | one | other |\n| - | - | - |\n| {ASPIRIN} | aspirin | ethanol |", ""),
        (f"asthma ({ASPIRIN})", ""),
    ],
)
def test_only_a_name_right_beside_it_names_a_structure(
    annotator: Annotator, text: str, label: str
) -> None:
    (written,) = written_structures(text)
    concept = Naming(annotator, text).concept_of(written)
    assert (concept.label if concept else "") == label
