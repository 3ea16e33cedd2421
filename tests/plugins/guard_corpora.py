"""The corpora of the guard, and how well it tells them apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml

from eagle_rag_core.plugins.guard import name_findings
from eagle_rag_core.plugins.guard_tools import ToolTexts, tool_findings

_Entry = TypeVar("_Entry")
FOLDER: Final = Path(__file__).parent / "guard_corpus"


@dataclass(frozen=True)
class Figures:
    """How many entries of a half, and how many of them the guard refuses."""

    refused: int
    total: int

    @property
    def share(self) -> float:
        return self.refused / self.total


def held_out(entry: str) -> bool:
    """Whether an entry belongs to the half that rules were not written against."""
    return hashlib.sha256(entry.encode()).digest()[0] % 2 == 1


def names(corpus: str) -> dict[str, str]:
    """Names of a corpus, with their server or trick."""
    lines = (FOLDER / f"names_{corpus}.tsv").read_text("ascii").splitlines()
    return dict(line.split("\t") for line in lines)


def attacks() -> dict[str, str]:
    return {
        name.encode().decode("unicode_escape"): trick for name, trick in names("attacks").items()
    }


def tools(corpus: str) -> list[dict[str, Any]]:
    """The tools of a corpus as their files have them."""
    files = sorted(FOLDER.glob(f"{corpus}_tools_*.yaml"))
    return [tool for file in files for tool in yaml.safe_load(file.read_text("utf-8"))]


def texts_of(tool: dict[str, Any]) -> ToolTexts:
    words, _, rest = tool["name"].partition("_")
    annotations = tool.get("annotations", {})
    sentence, times = tool.get("description_repeat", ("", 0))
    return ToolTexts(
        name=tool["name"],
        namespace="lakehouse_bi" if rest.startswith("bi_") else words,
        title=tool.get("title", ""),
        description=tool.get("description", sentence * times),
        read_only=annotations.get("readOnlyHint", True),
        destructive=annotations.get("destructiveHint", False),
        input_schema={
            "type": "object",
            "properties": {
                name: {"type": "string", "description": node} if isinstance(node, str) else node
                for name, node in tool["parameters"].items()
            },
        },
    )


def name_is_refused(name: str) -> bool:
    return any(name_findings(f"pack_{name}", namespace="pack"))


def tool_is_refused(tool: dict[str, Any]) -> bool:
    return bool(tool_findings(texts_of(tool)))


def name_figures(corpus: str) -> tuple[Figures, Figures]:
    """Figures of the tuning and of the held-out half."""
    return _figures(names(corpus), name_is_refused, str)


def tool_figures(corpus: str) -> tuple[Figures, Figures]:
    """Figures of the tuning and of the held-out half."""
    return _figures(tools(corpus), tool_is_refused, lambda tool: json.dumps(tool, sort_keys=True))


def _figures(
    entries: Iterable[_Entry], refused: Callable[[_Entry], bool], key: Callable[[_Entry], str]
) -> tuple[Figures, Figures]:
    halves: dict[bool, list[bool]] = {False: [], True: []}
    for entry in entries:
        halves[held_out(key(entry))].append(refused(entry))
    tuning, test = halves[False], halves[True]
    return Figures(sum(tuning), len(tuning)), Figures(sum(test), len(test))
