"""A library with figures and tables, as the tests of this folder share it."""

from __future__ import annotations

from dataclasses import dataclass

from visual_samples import Place

from eagle_rag_core.testing import PackLibrary

SETTINGS = {"models": {"ocr": "none"}, "ingest": {"isolation": "thread"}}


@dataclass(frozen=True)
class Seen:
    """A library with the report in a knowledge base of its own, and a text beside it."""

    library: PackLibrary
    report: str
    places: dict[str, Place]
