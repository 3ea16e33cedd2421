"""Measured figures as a table with bars, for the terminal or as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from eagle_rag_core.evaluation.metrics import Estimate
from eagle_rag_core.evaluation.running import Measured

if TYPE_CHECKING:
    from rich.table import Table

_BAR = 8


def as_json(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """The figures as JSON data; estimates as ``[mean, low, high]``."""
    return [{name: _plain(value) for name, value in asdict(row).items()} for row in measured]


def as_table(title: str, measured: Sequence[Measured]) -> Table:
    """The figures for people, within 80 columns: means, and nDCG@10 as a bar and with its
    95 % interval."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("search", no_wrap=True)
    table.add_column("", min_width=_BAR, no_wrap=True)
    for name in ("nDCG@10", "R@10", "MRR@10", "p50 ms", "p95 ms"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in measured:
        table.add_row(
            row.name,
            "█" * round(row.ndcg_10.mean * _BAR),
            _interval(row.ndcg_10),
            f"{row.recall_10.mean:.3f}",
            f"{row.mrr_10.mean:.3f}",
            f"{row.p50_ms:.1f}",
            f"{row.p95_ms:.1f}",
        )
    return table


def _interval(value: Estimate) -> str:
    return f"{value.mean:.3f} ±{max(value.high - value.mean, value.mean - value.low):.3f}"


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [round(part, 4) for part in value]
    return round(value, 2) if isinstance(value, float) else value
