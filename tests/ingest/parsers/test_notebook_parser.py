"""Jupyter notebooks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from invariants import check_document

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.notebook import NotebookParser
from eagle_rag_core.types import ParsedDocument

PARSER = NotebookParser()


def parse(*cells: dict[str, Any], **rest: Any) -> ParsedDocument:
    notebook = {"nbformat": 4, "cells": cells, "metadata": {}, **rest}
    document = PARSER.parse(json.dumps(notebook).encode(), "a.ipynb")
    check_document(document)
    return document


def test_text_code_and_printed_output_in_order() -> None:
    outputs = [
        {"output_type": "stream", "text": ["\x1b[31mred\x1b[0m\n", "line\n"]},
        {"output_type": "display_data", "data": {"image/png": "AAAA"}},
        {"output_type": "execute_result", "data": {"text/plain": "42", "text/html": "<b>42</b>"}},
        {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": ["secret"]},
    ]
    document = parse(
        {"cell_type": "markdown", "source": ["# Study\n", "\n", "## Method"]},
        {"cell_type": "code", "source": "# not a heading\nprint(1)", "outputs": outputs},
        {"cell_type": "raw", "source": "raw text"},
        metadata={"kernelspec": {"language": "Python"}},
    )
    assert document.text == (
        "# Study\n\n## Method\n\n```python\n# not a heading\nprint(1)\n```\n\n"
        "```\nred\nline\n```\n\n```\n42\n```\n\n```\nKeyError: 'x'\n```\n\nraw text"
    )
    assert [(h.level, h.title) for h in document.headings] == [(1, "Study"), (2, "Method")]
    assert document.title == "Study"
    assert document.metadata == {"programming_language": "python"}


def test_code_with_fences_stays_in_one_fence() -> None:
    source = 'text = """\n```\n# no heading\n```\n"""'
    document = parse({"cell_type": "code", "source": source, "outputs": []})
    assert document.text == f"````\n{source}\n````"
    assert document.headings == ()


def test_notebooks_of_format_three() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Part"},
        {
            "cell_type": "code",
            "input": "x = 1",
            "outputs": [{"output_type": "stream", "text": "o"}],
        },
    ]
    notebook = {"nbformat": 3, "worksheets": [{"cells": cells}]}
    document = PARSER.parse(json.dumps(notebook).encode(), "a.ipynb")
    assert document.text == "## Part\n\n```\nx = 1\n```\n\n```\no\n```"


@pytest.mark.parametrize(
    "notebook",
    [
        {"cells": 1},
        {"cells": [1]},
        {"cells": [{"source": True}]},
        {"worksheets": [{}]},
        {"a": 1},
        [],
    ],
)
def test_what_is_no_notebook_is_refused(notebook: Any) -> None:
    with pytest.raises(IngestError, match="notebook") as caught:
        PARSER.parse(json.dumps(notebook).encode(), "a.ipynb")
    assert caught.value.code is ErrorCode.PARSE_FAILED


def test_a_notebook_of_empty_cells_is_empty() -> None:
    with pytest.raises(IngestError) as caught:
        parse({"cell_type": "code", "source": "", "outputs": []})
    assert caught.value.code is ErrorCode.EMPTY_DOCUMENT
