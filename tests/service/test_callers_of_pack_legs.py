"""A leg of a pack reads its records on behalf of whoever asks, through every face."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from eagle_rag_core.plugins import explicit_pack
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import COMMAND_LINE, Caller, ScopeRequest

CODE = """
from eagle_rag_core.plugins import hookimpl
from eagle_rag_core.types import Enrichment, Leg, NewRecord, ScoredNode


class Codes:
    name = "codes"
    version = "1"

    def enrich(self, item):
        ids = [chunk.node_id for chunk in item.chunks]
        return Enrichment(records=[NewRecord("code", {"text": "x"}, node_id=id) for id in ids])


@hookimpl
def register_enrichers(ctx):
    return [Codes()]


@hookimpl
def register_retrievers(ctx):
    def retrieve(request):
        found = ctx.records.find("code", limit=request.limit)
        return [ScoredNode(record.node_id, 1.0) for record in found]

    return [Leg("codes_all", retrieve)]
"""
MANIFEST = """
schema = 1
[pack]
namespace = "codes"
title = "Codes"
api = ">=1.0,<2"
[[records]]
kind = "code"
fields = [{ name = "text", type = "string" }]
"""
GUEST = Caller("guest", kbs=frozenset({"open"}))


@pytest.mark.parametrize(
    ("caller", "seen"), [(COMMAND_LINE, {"open", "closed"}), (GUEST, {"open"})]
)
def test_services_act_for_their_caller(tmp_path: Path, caller: Caller, seen: set[str]) -> None:
    module = ModuleType("codes")
    exec(compile(CODE, "codes.py", "exec"), vars(module))
    with PackLibrary(tmp_path, explicit_pack(module, MANIFEST)) as library:
        for kb_name in ("open", "closed"):
            library.ingest_text(f"Nothing but {kb_name}.", f"{kb_name}.md", kb_name=kb_name)
        services = library.app.services()
        found = services.search.search(caller, "unrelated words", top_k=9, request=ScopeRequest())
        assert {hit.kb_name for hit in found.hits} == seen
        answer = services.answer.answer(
            caller, "unrelated words", mode="auto", request=ScopeRequest()
        )
        statuses = {step.name: step.status for step in answer.steps}
        assert statuses["codes_all"] == "ok"
