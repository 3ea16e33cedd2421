"""The tests every pack should pass."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import eagle_rag_lakehouse_bi
from eagle_rag_core.testing import PackConformance


class TestLakehouseBi(PackConformance):
    pack = eagle_rag_lakehouse_bi
    namespace = "lakehouse_bi"
    corpus = Path(__file__).parent.parent / "examples"
    arguments: ClassVar = {"query_semantic_context": {"query": "revenue per customer"}}
