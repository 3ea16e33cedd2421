"""Test sets in BEIR's layout: ``corpus.jsonl``, ``queries.jsonl`` and judgements.

Judgements are ``qrels.tsv`` or ``qrels/<split>.tsv`` with the columns query-id, corpus-id, score.
https://github.com/beir-cellar/beir describes the layout.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eagle_rag_core.errors import InvalidArgument


@dataclass(frozen=True, slots=True)
class SetDocument:
    """A document of a corpus."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """Questions with their judgements; only judged questions are kept.

    :param queries: text per id.
    :param judgements: grades (above 0) of the relevant documents, per query.
    """

    folder: Path
    queries: Mapping[str, str]
    judgements: Mapping[str, Mapping[str, int]]

    def documents(self) -> Iterator[SetDocument]:
        """The corpus, one document after the other.

        :raises InvalidArgument: a line is no document.
        """
        for row in _rows(self.folder / "corpus.jsonl"):
            yield SetDocument(str(row["_id"]), str(row.get("title") or ""), str(row["text"]))


def read_set(folder: Path, *, split: str = "test") -> JudgedSet:
    """Read questions and judgements.

    :raises InvalidArgument: a file is missing or is not in this layout.
    """
    judgements = _judgements(folder, split)
    queries = {
        str(row["_id"]): str(row["text"])
        for row in _rows(folder / "queries.jsonl")
        if str(row["_id"]) in judgements
    }
    if not queries:
        raise InvalidArgument(f"No question of {folder.name} has a judgement above 0.")
    return JudgedSet(folder, queries, {query: judgements[query] for query in queries})


def _judgements(folder: Path, split: str) -> dict[str, dict[str, int]]:
    paths = [folder / "qrels" / f"{split}.tsv", folder / "qrels.tsv"]
    path = next(filter(Path.is_file, paths), None)
    if path is None:
        raise InvalidArgument(f"{folder.name} has neither qrels/{split}.tsv nor qrels.tsv.")
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        fields = line.split("\t")
        if number == 1 and fields[:1] == ["query-id"]:
            continue
        try:
            query, document, score = fields
            grade = int(score)
        except ValueError:
            raise InvalidArgument(
                f"Line {number} of {path.name} is not query-id, corpus-id, score with tabs between."
            ) from None
        if grade > 0:
            found[query][document] = grade
    return found


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        raise InvalidArgument(f"{path.parent.name} has no {path.name}; is it in BEIR's layout?")
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                row["_id"], row["text"]
            except (ValueError, KeyError, TypeError):
                raise InvalidArgument(
                    f"Line {number} of {path.name} is no JSON object with _id and text."
                ) from None
            yield row
