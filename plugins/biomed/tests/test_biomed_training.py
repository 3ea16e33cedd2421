"""Training a model on annotated texts, and marking with it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from eagle_rag_biomed.options import Options
from eagle_rag_biomed.resources import annotator_for
from eagle_rag_biomed_compiler.cli import main

pytest.importorskip("pycrfsuite", reason="needs the extra crf")

DISEASES = [
    f"{stem}{ending}" for stem in ("glimb", "storv", "pelk", "drant") for ending in ("osis", "itis")
]
DRUGS = [f"{stem}mab" for stem in ("drafeno", "velto", "rusti", "quoli", "pimbra")]


def corpus(path: Path, first: int = 1) -> Path:
    """Invented drugs against invented diseases, in PubTator format."""
    lines = []
    for number, (disease, drug) in enumerate(itertools.product(DISEASES, DRUGS), first):
        title = f"Treatment of {disease} with {drug}."
        text = f"Patients with {disease} were given {drug} for a year."
        whole = f"{title}\n{text}"
        lines += [f"{number}|t|{title}", f"{number}|a|{text}"]
        for name, kind, identifier in (
            (disease, "Disease", "D000001"),
            (drug, "Chemical", "C000002"),
        ):
            start = whole.index(name)
            while start >= 0:
                lines.append(
                    f"{number}\t{start}\t{start + len(name)}\t{name}\t{kind}\t{identifier}"
                )
                start = whole.find(name, start + 1)
        lines.append("")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("training")
    assert (
        main(["train", str(corpus(folder / "corpus.pubtator")), "--out", str(folder / "model")])
        == 0
    )
    return folder / "model"


def marked(text: str, model: str = "") -> list[tuple[str, str]]:
    mentions = annotator_for(Options(crf_model=model)).annotate(text)
    assert all(text[m.start : m.end] == m.surface for m in mentions)
    return [(m.surface, m.type) for m in mentions]


def test_a_model_marks_names_that_no_vocabulary_has(model: Path) -> None:
    text = "🦦 Patients with florbosis were given zandemomab for a year."
    assert marked(text) == []
    assert marked(text, str(model)) == [("florbosis", "disease"), ("zandemomab", "chemical")]


def test_what_the_vocabulary_finds_stays(model: Path) -> None:
    found = marked("The variant rs12345 was seen in patients with glimbosis.", str(model))
    assert ("rs12345", "variant") in found
    assert ("glimbosis", "disease") in found


@pytest.mark.parametrize("flag", ["--test", "--dev"])
def test_documents_of_a_test_set_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str
) -> None:
    training, held_out = corpus(tmp_path / "a.txt"), corpus(tmp_path / "b.txt", first=20)
    command = ["train", str(training), "--out", str(tmp_path / "model"), flag, str(held_out)]
    assert main(command) == 1
    assert "21 documents of b.txt stand in the corpus." in "".join(capsys.readouterr())
    assert not (tmp_path / "model").exists()
    assert main([*command, "--drop-leaks"]) == 0


def test_a_folder_with_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "notes.txt").write_text("mine")
    command = ["train", str(corpus(tmp_path / "a.txt")), "--out", str(tmp_path / "model")]
    assert main(command) == 1
    assert (tmp_path / "model" / "notes.txt").read_text() == "mine"


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    from eagle_rag_core.errors import PluginError

    with pytest.raises(PluginError):
        annotator_for(Options(crf_model=str(tmp_path)))
