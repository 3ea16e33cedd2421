"""The tests every pack should pass."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import eagle_rag_biomed
from eagle_rag_core.catalog.ids import document_id
from eagle_rag_core.testing import PackConformance
from eagle_rag_core.testing.conformance.subject import READABLE

EXAMPLES = (Path(__file__).parent.parent / "examples").resolve()
CHEST_PAIN = document_id("biomed", READABLE, (EXAMPLES / "case-chest-pain.md").as_uri())


class TestBiomed(PackConformance):
    pack = eagle_rag_biomed
    namespace = "biomed"
    corpus = EXAMPLES
    arguments: ClassVar = {
        "query_entities": {"query": "heart attack treated with aspirin"},
        "resolve_terms": {"terms": ["heart attack", "AD", "metfromin"]},
        "annotate_text": {"text": "No heart attack after aspirin in carriers of V600E."},
        "list_entities": {"document_id": CHEST_PAIN},
        "find_cooccurring": {"entity": "heart attack"},
        "retrieve_context": {"query": "heart attack treated with aspirin"},
        "retrieve_compounds": {"compound": "aspirin"},
    }
