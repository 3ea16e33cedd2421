"""Vocabularies and stop-terms of the user's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.builtin import builtin_vocabulary
from eagle_rag_biomed.linking import Linker
from eagle_rag_biomed.options import Options
from eagle_rag_biomed.resources import annotator_for
from eagle_rag_biomed.stopterms import StopTerms, format_stop_terms, parse_stop_terms
from eagle_rag_biomed.user_vocabularies import with_user_vocabulary
from eagle_rag_biomed.vocabulary import Vocabulary
from eagle_rag_biomed_compiler.cli import main
from eagle_rag_biomed_compiler.learning import learn_stop_terms
from eagle_rag_biomed_compiler.pubtator import read_pubtator
from eagle_rag_core.errors import PluginError

OBO = """\
format-version: 1.2

[Term]
id: XO:1
name: compound forty-two
synonym: "AB-42" EXACT []
synonym: "forty" RELATED []
xref: MESH:D001241
is_a: XO:2 ! test compound

[Term]
id: XO:2
name: test compound

[Term]
id: XO:3
name: withdrawn compound
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""
SSSOM = """\
# curie_map:
subject_id\tsubject_label\tpredicate_id\tobject_id\tobject_label
OURS:7\theart event\tskos:exactMatch\tMESH:D009203\tMyocardial Infarction
OURS:8\tsomething near\tskos:closeMatch\tMESH:D009203\tMyocardial Infarction
"""


def layered(folder: Path, name: str, content: str, kind: str = "") -> Vocabulary:
    path = folder / name
    path.write_text(content, "utf-8")
    return with_user_vocabulary(builtin_vocabulary(), path, kind or None)  # type: ignore[arg-type]


def test_a_table_adds_concepts_that_are_found_in_texts(tmp_path: Path) -> None:
    content = 'curie,type,label,names\nACME:42,chemical,AB-42,"compound forty-two|AB 42"\n'
    own = layered(tmp_path, "compounds.csv", content)
    found = Annotator(own).annotate("After AB42 and aspirin, Compound Forty-Two was stopped.")
    assert [(m.surface, m.candidates[0].curie) for m in found] == [
        ("AB42", "ACME:42"),
        ("aspirin", "MESH:D001241"),
        ("Compound Forty-Two", "ACME:42"),
    ]
    assert len(own) == len(builtin_vocabulary()) + 1
    assert own.version != builtin_vocabulary().version
    assert own.sources[-1].name == "compounds.csv"


def test_a_known_identifier_gains_names_and_keeps_its_own(tmp_path: Path) -> None:
    content = "curie\tlabel\tnames\nMESH:D009203\tcoronary event\tcardiac event\n"
    own = layered(tmp_path, "names.tsv", content, "disease")
    for name in ("heart attack", "coronary event", "cardiac event"):
        (concept,) = own.by_name(name)
        assert (concept.curie, concept.label) == ("MESH:D009203", "myocardial infarction")
    mentions = Annotator(own).annotate("A heart attack is a cardiac event.")
    assert {m.concept for m in mentions} == {own.by_id("MESH:D009203")}


def test_the_longest_name_of_any_layer_wins_and_the_upper_one_of_equals(tmp_path: Path) -> None:
    content = "curie,type,label\nA:1,disease,heart attack\nA:2,disease,attack\n"
    own = layered(tmp_path, "own.csv", content)
    found = Annotator(own).annotate("A heart attack. An attack. Heart failure.")
    assert [m.candidates[0].curie for m in found] == ["A:1", "A:2", "MESH:D006333"]


def test_an_ontology_adds_terms_with_their_classes(tmp_path: Path) -> None:
    own = layered(tmp_path, "x.obo", OBO, "chemical")
    assert [c.curie for c in own.by_name("AB-42")] == ["XO:1"]
    assert own.by_name("forty") == own.by_name("withdrawn compound") == ()
    assert own.by_name("part of") == ()
    assert own.ancestors("XO:1") == ("XO:2",)
    found = own.by_id("MESH:D001241")
    assert found is not None and found.curie == "MESH:D001241"


def test_mappings_add_identifiers_and_labels(tmp_path: Path) -> None:
    own = layered(tmp_path, "ours.sssom.tsv", SSSOM)
    assert [c.curie for c in own.by_name("heart event")] == ["MESH:D009203"]
    found = own.by_id("OURS:7")
    assert found is not None and found.curie == "MESH:D009203"
    assert own.by_id("OURS:8") is None


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.obo", OBO, "Say the type"),
        ("a.xlsx", "", "none of"),
        ("a.csv", "curie,label\nA:1,x\n", "no column 'type'"),
        ("a.csv", "curie,type,label\nA:1,planet,x\n", "unknown type 'planet'"),
    ],
)
def test_a_faulty_file_is_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        layered(tmp_path, name, content)


def test_files_that_cannot_be_read_are_named_without_their_folder(tmp_path: Path) -> None:
    path = str(tmp_path / "absent.csv")
    for options in (
        Options.model_validate({"user_vocabularies": [{"path": path}]}),
        Options(stop_terms=(path,)),
    ):
        with pytest.raises(PluginError) as failed:
            annotator_for(options)
        assert "absent.csv" in str(failed.value)
        assert str(tmp_path) not in str(failed.value)


def test_options_choose_layers_and_stop_terms(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("curie,type,label\nA:1,chemical,zorblax\n")
    (tmp_path / "stop.tsv").write_text("# ours\nchemical\taspirin\n*\tasthma\n")
    options = Options.model_validate(
        {
            "user_vocabularies": [{"path": str(tmp_path / "own.csv")}],
            "stop_terms": [str(tmp_path / "stop.tsv")],
        }
    )
    annotator = annotator_for(options)
    found = [m.surface for m in annotator.annotate("Zorblax, aspirins, asthma and gout.")]
    assert found == ["Zorblax", "gout"]
    # They are stopped in texts only: who asks for a name means it.
    assert annotator.vocabulary.by_name("aspirin")


def test_a_stop_term_holds_for_its_type_alone() -> None:
    terms = parse_stop_terms(["disease\tcolds|heat"])
    assert terms.stops("cold", "disease") and not terms.stops("cold", "chemical")
    both = terms | parse_stop_terms(["chemical\tcold"])
    assert both.stops("cold", "chemical") and both.digest != terms.digest
    assert dict(parse_stop_terms(format_stop_terms(both).splitlines()).items()) == dict(
        both.items()
    )


def test_a_line_that_is_no_stop_term_is_refused() -> None:
    with pytest.raises(PluginError, match="Line 2"):
        parse_stop_terms(["# x", "planet\tmars"])


CORPUS = """\
1|t|Lead and aspirin
1|a|Lead authors lead with aspirin.
1\t9\t16\taspirin\tChemical\tD001241
1\t40\t47\taspirin\tChemical\tD001241

2|t|Lead poisoning
2|a|None.
2\t0\t4\tLead\tChemical\tD007854
2\tCID\tD001241\tD007854
"""


def test_stop_terms_are_learned_from_annotated_texts(tmp_path: Path) -> None:
    (tmp_path / "c.pubtator").write_text(CORPUS)
    (tmp_path / "own.csv").write_text("curie,type,label\nMESH:D007854,chemical,lead\n")
    output = tmp_path / "stop.tsv"
    # The built-in vocabulary does not list lead: nothing is wrong in it.
    arguments = ["stop-terms", str(tmp_path / "c.pubtator"), str(output), "--types", "chemical"]
    assert main(arguments) == 0
    assert output.read_text() == ""
    own = with_user_vocabulary(builtin_vocabulary(), tmp_path / "own.csv", None)
    documents = list(read_pubtator(CORPUS.splitlines()))
    assert [len(d.mentions) for d in documents] == [2, 1]
    assert all(d.text[m.start : m.end] == m.surface for d in documents for m in d.mentions)
    learned = learn_stop_terms(Annotator(own, StopTerms({})), documents, ["chemical"])
    assert list(learned.items()) == [("lead", frozenset({"chemical"}))]
    assert learn_stop_terms(Annotator(own), documents, ["gene"]).digest == StopTerms({}).digest


def test_unknown_types_are_refused_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c").write_text(CORPUS)
    arguments = ["stop-terms", str(tmp_path / "c"), str(tmp_path / "o"), "--types", "planet"]
    assert main(arguments) == 1
    assert "cell_line" in capsys.readouterr().err


SENSES = """\
curie,type,label,names,parents
T:1,chemical,pyridines,,
T:2,chemical,pyridine,,
T:3,disease,bone pain,aching bones,
T:4,disease,familial bone pain,aching bones,T:3
T:5,disease,lame leg,,
U:5,disease,Lame Leg,,
T:6,disease,QQX,,
T:7,gene,QQX1,QQX,
"""


@pytest.mark.parametrize(
    ("text", "curies"),
    [
        ("with pyridines in it", ["T:1"]),
        ("with pyridine in it", ["T:2"]),
        ("with aching bones in it", ["T:3"]),
        ("with a lame leg in it", ["T:5"]),
        ("with QQX in it", ["T:6", "T:7"]),
    ],
)
def test_one_of_several_concepts_is_chosen_where_it_can_be_told(
    tmp_path: Path, text: str, curies: list[str]
) -> None:
    own = layered(tmp_path, "senses.csv", SENSES)
    (mention,) = Annotator(own).annotate(text)
    assert [c.curie for c in mention.candidates] == curies


def test_who_asks_for_a_name_means_it(tmp_path: Path) -> None:
    own = layered(tmp_path, "own.csv", "curie,type,label\nA:1,chemical,lead\n")
    linker = Linker(Annotator(own, parse_stop_terms(["chemical\tlead"])))
    assert [c.curie for c in linker.link("Lead?").concepts] == ["A:1"]
    assert linker.link("they lead to it").concepts == []
    assert [c.label for c in linker.link("egfr").concepts] == ["EGFR"]


@pytest.mark.parametrize(
    "options",
    [
        {"vocabulary": "{}"},
        {"user_vocabularies": [{"path": "{}.csv"}]},
        {"stop_terms": ["{}"]},
        {"crf_model": "{}"},
    ],
)
def test_only_the_log_tells_where_a_missing_file_was_looked_for(
    options: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    missing = str(tmp_path / "nope")
    given = json.loads(json.dumps(options).replace("{}", missing))
    with pytest.raises(PluginError, match="nope") as failed:
        annotator_for(Options.model_validate(given))
    assert str(tmp_path) not in str(failed.value)
    assert missing in caplog.text
