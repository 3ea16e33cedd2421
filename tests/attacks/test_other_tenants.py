"""A caller limited to some knowledge bases learns and changes nothing of the others.

These limits are what authentication hands to the services; tests/test_mcp_auth.py tries them over
HTTP.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from e2e.product import patiently

from eagle_rag_core.errors import EagleError, ErrorCode, NotFound
from eagle_rag_core.service import Services
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import (
    COMMAND_LINE,
    Caller,
    Condition,
    FilterOp,
    IngestRequest,
    JobStatus,
    ScopeRequest,
)

MINE, THEIRS = Caller("mine", kbs=frozenset({"mine"})), Caller("them", kbs=frozenset({"theirs"}))


class Shared:
    """A library of two tenants, each with a document of the same words and tags, and its job."""

    def __init__(self, folder: Path) -> None:
        self.library = PackLibrary(folder / "home")
        self.services: Services = self.library.app.services()
        self.documents: dict[str, str] = {}
        self.jobs: dict[str, str] = {}
        for kb in ("mine", "theirs"):
            path = folder / f"{kb}.md"
            path.write_text(f"# {kb} otters\n\nSea otters of {kb} eat urchins.\n")
            request = IngestRequest(str(path), kb_name=kb, tags=("shared",))
            job = self.services.ingest.submit(COMMAND_LINE, request)
            self.documents[kb], self.jobs[kb] = job.document_id, job.job_id
        self.library.app.work()
        for _ in patiently("the jobs"):
            if len(self.services.jobs.ended(COMMAND_LINE, list(self.jobs.values()))) == 2:
                break


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    shared = Shared(tmp_path_factory.mktemp("tenants"))
    yield shared
    shared.library.close()


def refusal(act: Callable[[], object]) -> tuple[ErrorCode, str]:
    with pytest.raises(EagleError) as caught:
        act()
    return caught.value.code, caught.value.message


def test_ids_of_jobs_cannot_be_guessed(shared: Shared) -> None:
    ids = set(shared.jobs.values())
    assert len(ids) == 2
    assert all(re.fullmatch("[0-9a-f]{32}", job_id) for job_id in ids)


@pytest.mark.parametrize("act", ["get", "cancel", "retry"])
def test_a_job_of_others_is_like_none(shared: Shared, act: str) -> None:
    operation = getattr(shared.services.jobs, act)
    theirs, missing = shared.jobs["theirs"], "0" * 32
    found = refusal(lambda: operation(MINE, theirs))
    assert found[0] is ErrorCode.JOB_NOT_FOUND
    assert found[1].replace(theirs, "") == refusal(lambda: operation(MINE, missing))[1].replace(
        missing, ""
    )
    assert shared.services.jobs.get(THEIRS, theirs).status is JobStatus.SUCCEEDED


def test_lists_of_jobs_end_at_the_own_ones(shared: Shared) -> None:
    jobs = shared.services.jobs
    for found in (jobs.list(MINE), jobs.ended(MINE, list(shared.jobs.values()))):
        assert [job.job_id for job in found] == [shared.jobs["mine"]]


def kb_found(shared: Shared, request: ScopeRequest) -> set[str]:
    answer = shared.services.search.search(MINE, "urchins", top_k=10, request=request)
    return {hit.kb_name for hit in answer.hits}


def test_no_scope_widens_beyond_the_own_knowledge_bases(shared: Shared) -> None:
    theirs = shared.documents["theirs"]
    own = {"mine"}
    assert kb_found(shared, ScopeRequest()) == own
    assert kb_found(shared, ScopeRequest(scope_tags=("shared",))) == own
    assert kb_found(shared, ScopeRequest(documents=(theirs,))) == set()
    assert kb_found(shared, ScopeRequest(scope_documents=(theirs,))) == set()
    assert kb_found(shared, ScopeRequest(scope_kbs=("mine",), scope_documents=(theirs,))) == own
    either = Condition("id", FilterOp.IN, f"{theirs},{shared.documents['mine']}")
    assert kb_found(shared, ScopeRequest(filter=(either,))) <= own
    for request in (ScopeRequest(kb_name="theirs"), ScopeRequest(scope_kbs=("theirs",))):
        with pytest.raises(NotFound):
            kb_found(shared, request)


@pytest.mark.parametrize("act", ["get", "delete"])
def test_a_document_of_others_is_like_none(shared: Shared, act: str) -> None:
    operation = getattr(shared.services.documents, act)
    theirs, missing = shared.documents["theirs"], "0" * 32

    def outcome(document_id: str) -> object:
        try:
            return operation(MINE, document_id)
        except EagleError as error:
            return error.code, error.message.replace(document_id, "")

    assert outcome(theirs) == outcome(missing)
    assert shared.services.documents.get(THEIRS, theirs)


@pytest.mark.parametrize("act", ["stats", "delete"])
def test_a_knowledge_base_of_others_is_like_none(shared: Shared, act: str) -> None:
    operation = getattr(shared.services.kbs, act)
    theirs = refusal(lambda: operation(MINE, "theirs"))
    missing = refusal(lambda: operation(MINE, "absent"))
    assert theirs[0] is ErrorCode.KB_NOT_FOUND
    assert theirs[1].replace("theirs", "") == missing[1].replace("absent", "")
    assert [kb.name for kb in shared.services.kbs.list(MINE)] == ["mine"]


def test_nobody_writes_into_a_knowledge_base_of_others(shared: Shared, tmp_path: Path) -> None:
    writer = Caller("mine", kbs=frozenset({"mine"}), any_path=True)
    path = tmp_path / "poison.md"
    path.write_text("# Poison\n\nOtters eat poison.\n")
    before = len(shared.services.jobs.list(COMMAND_LINE, kb_name="theirs"))
    for name in ("theirs", "a-new-one", ""):
        code, _ = refusal(
            lambda name=name: shared.services.ingest.submit(
                writer, IngestRequest(str(path), kb_name=name)
            )
        )
        assert code in (ErrorCode.KB_NOT_FOUND, ErrorCode.FORBIDDEN)
    assert len(shared.services.jobs.list(COMMAND_LINE, kb_name="theirs")) == before
