"""``eagle-rag eval``: how well a library answers the questions of a test set."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options
from eagle_rag_core.errors import EagleError
from eagle_rag_core.types import COMMAND_LINE, IngestRequest, Job, JobStatus, ScopeRequest

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp
    from eagle_rag_core.evaluation.running import Measured
    from eagle_rag_core.evaluation.sets import JudgedSet

#: Passages per question: a document may have several of the first places.
_PASSAGES = 30
_POLL = 0.2


@click.command(name="eval")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@common_options
@click.option("--kb", default="", help="Ask this knowledge base instead of a library made anew.")
@click.option("--split", default="test", show_default=True, help="Judgements: qrels/SPLIT.tsv.")
@click.option("--ablation", is_flag=True, help="Compare the legs of retrieval, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Write an SVG.")
def evaluate(
    start: Start,
    folder: Path,
    kb: str,
    split: str,
    ablation: bool,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Measure retrieval on the test set in FOLDER (BEIR layout).

    Without --kb its corpus is taken into a library of its own, which is deleted afterwards. With
    --kb the documents of that knowledge base are asked; their file names, without suffix, are the
    ids of the corpus.
    """
    from eagle_rag_core.evaluation import report
    from eagle_rag_core.evaluation.sets import read_set

    questions = read_set(folder, split=split)
    if kb:
        with start.app() as app:
            measured = _measure(app, questions, kb, {}, ablation)
    else:
        with _fresh(start, questions) as (app, ids):
            measured = _measure(app, questions, "", ids, ablation)
    if not measured[0].recall_10.mean:
        click.echo("Nothing that was found has an id of the corpus; see --kb.", err=True)
    if as_json:
        click.echo(json.dumps(report.as_json(measured), indent=2))
    else:
        _print(report.as_table(f"{folder.name}, {len(questions.queries)} questions", measured))
    if plot is not None:
        _draw(report.as_table(folder.name, measured), plot)


def _measure(
    app: EagleApp, questions: JudgedSet, kb: str, ids: Mapping[str, str], ablation: bool
) -> list[Measured]:
    """:param ids: ids of the corpus by document; by default names of files are."""
    from eagle_rag_core.evaluation.running import measure, variants

    search, request = app.services().search, ScopeRequest(kb_name=kb)
    legs = app.engine().orchestrator.leg_names
    every = variants(legs if ablation else ())
    measured = []
    app.engine().warm()
    with _progress("questions", len(every) * len(questions.queries)) as note:
        for name, without in every.items():

            def rank(query: str, without: frozenset[str] = without) -> list[str]:
                found = search.search(
                    COMMAND_LINE, query, top_k=_PASSAGES, request=request, without=without
                )
                return [ids.get(hit.document_id) or _name(hit.source_uri) for hit in found.hits]

            measured.append(measure(name, questions, rank, note=note))
    return measured


def _name(uri: str) -> str:
    return Path(unquote(uri.rpartition("/")[2])).stem


@contextmanager
def _fresh(start: Start, questions: JudgedSet) -> Iterator[tuple[EagleApp, Mapping[str, str]]]:
    """A library that holds the corpus, and the corpus' id of each of its documents."""
    with tempfile.TemporaryDirectory(prefix="eagle-rag-eval-") as root:
        home = Path(root, "home")
        fresh = replace(start, overrides={**start.overrides, "home": home})
        with fresh.app() as app:
            app.work()
            yield app, _fill(app, questions, Path(root))


def _fill(app: EagleApp, questions: JudgedSet, folder: Path) -> dict[str, str]:
    services = app.services()
    ids: dict[str, str] = {}
    waiting: set[str] = set()
    lost = 0
    for number, document in enumerate(questions.documents()):
        path = folder / f"{number}.txt"
        path.write_text(document.text, "utf-8")
        job = _submit(app, IngestRequest(str(path), kb_name="eval", title=document.title))
        if job is None:
            lost += 1
        else:
            ids[job.document_id] = document.id
            waiting.add(job.job_id)
    with _progress("documents", len(waiting)) as note:
        while waiting:
            for job in services.jobs.ended(COMMAND_LINE, waiting):
                waiting.discard(job.job_id)
                lost += job.status is not JobStatus.SUCCEEDED
                note()
            time.sleep(_POLL)
    if lost:
        click.echo(f"{lost} documents of the corpus could not be indexed.", err=True)
    return ids


def _submit(app: EagleApp, request: IngestRequest) -> Job | None:
    """The job; None for a source that is refused. Waits while the queue is full."""
    while True:
        try:
            return app.services().ingest.submit(COMMAND_LINE, request)
        except EagleError as error:
            if not error.retryable:
                return None
            time.sleep(max(error.retry_after_s, _POLL))


@contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar on stderr; yields what moves it by one."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)


def _print(table: object) -> None:
    from rich.console import Console

    Console().print(table)


def _draw(table: object, path: Path) -> None:
    import io

    from rich.console import Console

    console = Console(record=True, width=130, file=io.StringIO())
    console.print(table)
    console.save_svg(str(path), title="eagle-rag eval")
