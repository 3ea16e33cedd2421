"""The command ``eagle-rag-biomed``: vocabularies, stop-terms and models."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eagle_rag_biomed.files import FileUnusable
from eagle_rag_core.errors import EagleError, PluginError

if TYPE_CHECKING:
    from eagle_rag_biomed.annotator import Annotator
    from eagle_rag_biomed.concepts import ConceptType
    from eagle_rag_biomed_compiler.pubtator import AnnotatedDocument


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 1 when it could not do what was asked."""
    arguments = _parser().parse_args(argv)
    try:
        arguments.run(arguments)
    except FileUnusable as error:
        sys.stderr.write(f"{error.for_operators}\n")
        return 1
    except EagleError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="eagle-rag-biomed", description="Vocabularies of the biomedical pack."
    )
    subjects = parser.add_subparsers(required=True, metavar="subject")
    vocabulary = subjects.add_parser("vocab", help="compile vocabularies, and look into them")
    actions = vocabulary.add_subparsers(required=True, metavar="action")
    build = actions.add_parser(
        "build",
        help="compile a vocabulary from data packages",
        description="Compiles a vocabulary from the data packages that are installed, or whose "
        "wheel files are named. Nothing is downloaded.",
    )
    build.add_argument("folder", type=Path, help="where the vocabulary goes; replaced")
    build.add_argument("--wheel", type=Path, action="append", default=[], metavar="FILE")
    build.set_defaults(run=_build)
    info = actions.add_parser("info", help="what a compiled vocabulary holds, and its licences")
    info.add_argument("folder", type=Path)
    info.set_defaults(run=_info)
    learn = subjects.add_parser(
        "stop-terms", help="learn names to pass over from texts people annotated"
    )
    learn.add_argument("corpus", type=Path, help="in PubTator format")
    learn.add_argument("output", type=Path, help="table of stop-terms to write")
    learn.add_argument("--vocabulary", type=Path, help="compiled; the built-in one without")
    learn.add_argument("--types", required=True, help="annotated throughout, e.g. disease,chemical")
    learn.set_defaults(run=_learn)
    train = subjects.add_parser(
        "train",
        help="train a model on texts people annotated",
        description="Trains a model that corrects and completes what a vocabulary finds. Refuses "
        "a corpus that holds documents of a test set.",
    )
    train.add_argument("corpus", type=Path, nargs="+", help="in PubTator format")
    train.add_argument("--out", type=Path, required=True, help="folder of the model; replaced")
    train.add_argument("--dev", type=Path, help="documents to measure on; not trained on")
    train.add_argument(
        "--test", type=Path, action="append", default=[], help="test set to keep out"
    )
    train.add_argument(
        "--drop-leaks", action="store_true", help="leave out documents of test sets, not refuse"
    )
    train.add_argument("--types", default="", help="annotated throughout; those marked without it")
    train.add_argument("--vocabulary", type=Path, help="compiled; the built-in one without")
    train.set_defaults(run=_train)
    return parser


def _build(arguments: argparse.Namespace) -> None:
    from eagle_rag_biomed_compiler.build import build

    today = datetime.date.today().isoformat()
    build(arguments.folder, arguments.wheel, today=today, report=_say)
    _info(arguments)
    _say("")
    _say(f"Use it with plugins.options.biomed.vocabulary: {arguments.folder.resolve()}")
    _say("and ingest your documents again.")


def _info(arguments: argparse.Namespace) -> None:
    from eagle_rag_biomed.artefact import read_meta

    meta = read_meta(arguments.folder)
    size = sum(f.stat().st_size for f in arguments.folder.iterdir()) / 1e6
    _say(f"{meta['name']}, version {meta['version']}, built {meta['built']}")
    _say(f"{meta['concepts']} concepts, {meta['names']} names, {size:.1f} MB")
    for source in meta["sources"]:
        _say(
            f"  {source['name']}: {source['concepts']} concepts, {source['names']} names; "
            f"data of {source['date']}, from {source['package']}; {source['licence']}"
        )


def _learn(arguments: argparse.Namespace) -> None:
    from eagle_rag_biomed.stopterms import format_stop_terms
    from eagle_rag_biomed_compiler.learning import learn_stop_terms

    annotator, types = _annotator(arguments.vocabulary), _types(arguments.types)
    learned = learn_stop_terms(annotator, _documents(arguments.corpus), types)
    arguments.output.write_text(format_stop_terms(learned), encoding="utf-8")
    _say(f"{len(learned)} stop-terms. Use them with plugins.options.biomed.stop_terms.")


def _train(arguments: argparse.Namespace) -> None:
    from eagle_rag_biomed_compiler.training import leaks, train

    documents = [d for corpus in arguments.corpus for d in _documents(corpus)]
    held_out = [(path.name, _documents(path)) for path in arguments.test]
    dev = _documents(arguments.dev) if arguments.dev else []
    for leak in leaks(documents, [*held_out, (arguments.dev.name, dev)] if dev else held_out):
        _say(f"{len(leak.pmids)} documents of {leak.test} stand in the corpus.")
        if not arguments.drop_leaks:
            _refuse("Leave them out with --drop-leaks: figures on them would say nothing.")
        documents = [d for d in documents if d.pmid not in leak.pmids]
    marked = {m.type for d in documents for m in d.mentions}
    types = _types(arguments.types or ",".join(sorted(marked)))
    train(_annotator(arguments.vocabulary), documents, types, arguments.out)
    _say(f"Trained on {len(documents)} documents: {', '.join(types)}.")
    if dev:
        _measure(_annotator(arguments.vocabulary, arguments.out), dev, types)
    _say(f"Use it with plugins.options.biomed.crf_model: {arguments.out.resolve()}")
    _say("and ingest your documents again.")


def _measure(
    annotator: Annotator, documents: Sequence[AnnotatedDocument], types: Sequence[ConceptType]
) -> None:
    from eagle_rag_biomed_compiler.scoring import scores

    mentions, concepts = scores(annotator, documents, types)
    for what, of_types in (("mentions", mentions), ("concepts", concepts)):
        for kind, score in of_types.items():
            _say(
                f"{kind:10} {what} precision {score.precision:6.1%} recall {score.recall:6.1%} "
                f"F1 {score.f1:6.1%} ({score.marked} marked)"
            )


def _annotator(vocabulary: Path | None, model: Path | None = None) -> Annotator:
    from eagle_rag_biomed.options import Options
    from eagle_rag_biomed.resources import annotator_for

    return annotator_for(
        Options(
            vocabulary=str(vocabulary) if vocabulary else "",
            crf_model=str(model) if model else "",
        )
    )


def _types(given: str) -> list[ConceptType]:
    from eagle_rag_biomed.concepts import CONCEPT_TYPES

    wanted = given.split(",")
    types = [t for t in CONCEPT_TYPES if t in wanted]
    if len(types) != len(wanted):
        _refuse(f"Types are {', '.join(CONCEPT_TYPES)}.")
    return types


def _documents(path: Path) -> list[AnnotatedDocument]:
    from eagle_rag_biomed_compiler.pubtator import read_pubtator

    try:
        with path.open(encoding="utf-8") as lines:
            return list(read_pubtator(lines))
    except (OSError, UnicodeDecodeError):
        raise FileUnusable(f"The corpus {path.name!r} cannot be read.", path) from None


def _refuse(message: str) -> None:
    raise PluginError(message)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
