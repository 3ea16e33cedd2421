"""The figures of an evaluation as text."""

from __future__ import annotations

from collections.abc import Iterator

from eagle_rag_lakehouse_cli.evaluation import Report


def as_text(report: Report) -> str:
    """A table of schemas, then what to do about what was not found."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    yield (
        f"{report.questions} verified questions, {report.max_tables} tables an answer, "
        "each asked without its own query"
    )
    yield ""
    width = max(len("schema"), *(len(f.schema) for f in report.schemas))
    yield f"{'schema':<{width}}  questions  tables found  all found"
    for figures in report.schemas:
        yield (
            f"{figures.schema or 'all':<{width}}  {figures.questions:>9}"
            f"  {figures.recall:>12.1%}  {figures.complete:>9.1%}"
        )
    yield from _listed("Not found", (f"{m.question}: {', '.join(m.tables)}" for m in report.missed))
    yield from _listed("Tables that nothing finds", report.unreachable)
    yield from _listed("Tables of verified queries that no catalog describes", report.gone)
    yield from _listed(
        "Descriptions to write first",
        (f"{d.name} (missed {d.missed}, used {d.used} times)" for d in report.descriptions),
    )


def _listed(title: str, items: Iterator[str] | list[str]) -> Iterator[str]:
    listed = list(items)
    if listed:
        yield ""
        yield f"{title}:"
        yield from (f"  {item}" for item in listed)
