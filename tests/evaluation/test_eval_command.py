"""``eagle-rag eval`` as people run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from eagle_rag_core.cli.main import cli
from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.evaluation.running import variants
from eagle_rag_core.evaluation.sets import read_set

DOCUMENTS = {
    "kettle/1": "A kettle is descaled with vinegar every three months.",
    "tea.2": "Green tea is steeped for two minutes at eighty degrees.",
    "rail": "Trains to the coast leave every hour from platform four.",
    "empty": "",
}
QUERIES = {"q1": "how is a kettle descaled", "q2": "trains to the coast", "q3": "never judged"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tiny"
    (made / "qrels").mkdir(parents=True)
    rows = [{"_id": name, "title": "", "text": text} for name, text in DOCUMENTS.items()]
    (made / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    rows = [{"_id": name, "text": text} for name, text in QUERIES.items()]
    (made / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    judged = "query-id\tcorpus-id\tscore\nq1\tkettle/1\t1\nq2\trail\t1\nq3\trail\t0\n"
    (made / "qrels" / "test.tsv").write_text(judged, "utf-8")
    return made


def run(tmp_path: Path, *arguments: str) -> Result:
    environment = {"EAGLE_RAG_MODELS__TEXT_EMBEDDER": "none", "EAGLE_RAG_HOME": str(tmp_path / "h")}
    return CliRunner().invoke(cli, ["eval", *arguments], env=environment)


def test_a_library_made_anew_is_asked_and_leaves_nothing(tmp_path: Path, folder: Path) -> None:
    plot = tmp_path / "plot.svg"
    result = run(tmp_path, str(folder), "--json", "--plot", str(plot))
    assert result.exit_code == 0, result.output
    (figures,) = json.loads(result.stdout)
    assert figures["name"] == "all legs"
    assert figures["questions"] == 2
    assert figures["ndcg_10"] == figures["mrr_10"] == [1.0, 1.0, 1.0]
    assert figures["p95_ms"] >= figures["p50_ms"] > 0
    assert "1 documents of the corpus could not be indexed." in result.stderr
    assert plot.read_text("utf-8").startswith("<svg")
    assert not (tmp_path / "h" / "catalog.db").exists()


@pytest.mark.full
def test_the_table_is_for_people(tmp_path: Path, folder: Path) -> None:
    result = run(tmp_path, str(folder), "--ablation")
    assert result.exit_code == 0, result.output
    for words in ("all legs", "only lexical", "only dense", "1.000 ±0.000"):
        assert words in result.stdout


def test_a_knowledge_base_is_asked_by_the_names_of_its_files(tmp_path: Path, folder: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "rail.md").write_text(DOCUMENTS["rail"], "utf-8")
    environment = {"EAGLE_RAG_MODELS__TEXT_EMBEDDER": "none", "EAGLE_RAG_HOME": str(tmp_path / "h")}
    filled = CliRunner().invoke(cli, ["ingest", str(corpus), "--kb", "mine"], env=environment)
    assert filled.exit_code == 0, filled.output
    result = run(tmp_path, str(folder), "--kb", "mine", "--json")
    (figures,) = json.loads(result.stdout)
    assert figures["recall_10"][0] == 0.5


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("queries.jsonl", "no json", r"Line 1 of queries\.jsonl"),
        ("queries.jsonl", "[]", r"Line 1 of queries\.jsonl"),
        ("queries.jsonl", "", "No question"),
        ("qrels/test.tsv", "q1 kettle 1", r"Line 1 of test\.tsv"),
        ("qrels/test.tsv", None, "neither qrels/test.tsv nor qrels.tsv"),
        ("queries.jsonl", None, r"no queries\.jsonl"),
    ],
)
def test_a_set_in_another_layout_is_refused(
    folder: Path, name: str, content: str | None, reason: str
) -> None:
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(content, "utf-8")
    with pytest.raises(InvalidArgument, match=reason):
        read_set(folder)


def test_an_ablation_tries_each_leg_alone_and_left_out() -> None:
    assert variants(["dense"]) == {"all legs": frozenset()}
    assert set(variants(["a", "b"])) == {"all legs", "only a", "only b"}
    assert variants(["a", "b", "c"])["without b"] == {"b"}
    assert variants(["a", "b", "c"])["only b"] == {"a", "c"}
