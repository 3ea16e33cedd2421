"""The command ``eagle-rag-biomed``: vocabularies and stop-terms."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Sequence
from pathlib import Path

from eagle_rag_core.errors import EagleError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 1 when it could not do what was asked."""
    arguments = _parser().parse_args(argv)
    try:
        arguments.run(arguments)
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
    from eagle_rag_biomed.annotator import Annotator
    from eagle_rag_biomed.artefact import open_artefact
    from eagle_rag_biomed.builtin import builtin_vocabulary
    from eagle_rag_biomed.concepts import CONCEPT_TYPES
    from eagle_rag_biomed.stopterms import builtin_stop_terms, format_stop_terms
    from eagle_rag_biomed_compiler.learning import learn_stop_terms
    from eagle_rag_biomed_compiler.pubtator import read_pubtator

    folder = arguments.vocabulary
    vocabulary = open_artefact(folder) if folder else builtin_vocabulary()
    wanted = arguments.types.split(",")
    types = [t for t in CONCEPT_TYPES if t in wanted]
    if len(types) != len(wanted):
        _refuse(f"Types are {', '.join(CONCEPT_TYPES)}.")
    annotator = Annotator(vocabulary, builtin_stop_terms())
    try:
        with arguments.corpus.open(encoding="utf-8") as lines:
            learned = learn_stop_terms(annotator, read_pubtator(lines), types)
    except (OSError, UnicodeDecodeError):
        _refuse(f"The corpus {arguments.corpus.name!r} cannot be read.")
    arguments.output.write_text(format_stop_terms(learned), encoding="utf-8")
    _say(f"{len(learned)} stop-terms. Use them with plugins.options.biomed.stop_terms.")


def _refuse(message: str) -> None:
    from eagle_rag_core.errors import PluginError

    raise PluginError(message)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
