"""What a caller says about a source ends up in answers and on operators' terminals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import COMMAND_LINE, IngestRequest

STEERING = ["\x1b[2J", "a\nb", "\x07", "\x9b31m", "\u202egnp.exe", "nul\0", "\ud800"]


@pytest.mark.parametrize("text", STEERING)
@pytest.mark.parametrize("field", ["title", "source_type", "tags", "metadata"])
def test_texts_that_steer_a_terminal_are_refused(tmp_path: Path, field: str, text: str) -> None:
    source = tmp_path / "note.md"
    source.write_text("A note.", "utf-8")
    value: Any = {"tags": (text,), "metadata": {"author": text}}.get(field, text)
    with PackLibrary(tmp_path / "home") as library:
        with pytest.raises(InvalidArgument, match="control characters"):
            library.app.services().ingest.submit(
                COMMAND_LINE, IngestRequest(str(source), **{field: value})
            )
        assert library.call("core_list_documents")["items"] == []


def test_other_scripts_and_signs_are_welcome(tmp_path: Path) -> None:
    source = tmp_path / "note.md"
    source.write_text("A note.", "utf-8")
    request = IngestRequest(str(source), title="Übersicht 概要 — “été” 🚀", tags=("naïve", "标签"))
    with PackLibrary(tmp_path / "home") as library:
        assert library.app.services().ingest.submit(COMMAND_LINE, request).job_id
