"""Whatever happens to a library, in any order: searches find what a plain dictionary holds, and
an audit finds nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from service.life_pack import Life

from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.types import COMMAND_LINE, IngestRequest

KBS = st.sampled_from(["a", "b", "c"])
FILES = st.sampled_from(["one.md", "two.md", "three.md"])
WORDS = ["otter", "kelp", "granite", "walrus"]


class _Crash(BaseException):
    """The process ends here."""


class LibraryMachine(RuleBasedStateMachine):
    """A library beside its model: the word of each file, by knowledge base and file."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="library-model-"))
        self.model: dict[tuple[str, str], str] = {}
        self.kbs: set[str] = set()
        self.version, self.embedder = 1, "alpha"
        self.life: Life | None = None

    @initialize()
    def open(self) -> None:
        self.life = Life(self.folder / "home", embedder="alpha")

    @property
    def library(self) -> Life:
        assert self.life is not None
        return self.life

    @rule(kb=KBS, name=FILES, word=st.sampled_from(WORDS))
    def ingest(self, kb: str, name: str, word: str) -> None:
        self.library.add(self.folder / name, f"# File\n\nThe word is {word}.\n", kb)
        self._ingested(kb, name, word)

    @rule(kb=KBS, name=FILES, word=st.sampled_from(WORDS))
    def ingest_after_a_worker_died(self, kb: str, name: str, word: str) -> None:
        path = self.folder / name
        path.write_text(f"# File\n\nThe word is {word}.\n")
        life = self.library
        job = life.services.ingest.submit(COMMAND_LINE, IngestRequest(str(path), kb))
        queue = JobQueue(life.engine.catalog, fingerprint=life.engine.fingerprint)
        queue.claim("dead", life.engine.fingerprint, 0.0)
        life.library.app.work()
        assert life.ends([job.job_id]) == ["succeeded"]
        self._ingested(kb, name, word)

    @rule(word=st.sampled_from(WORDS))
    def die_after_storing_an_original(self, word: str) -> None:
        data = f"never published {word}".encode()
        Originals(self.library.engine.catalog, self._blobs()).keep(f"{hash(word):064x}"[-64:], data)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), crash=st.booleans())
    def delete_document(self, data: st.DataObject, crash: bool) -> None:
        kb, name = data.draw(st.sampled_from(sorted(self.model)))
        found = [
            item["document_id"]
            for item in self.library.library.call("core_list_documents", kb_name=kb)["items"]
            if item["source_uri"].endswith(f"/{name}")
        ]
        with self._dying(crash):
            assert self.library.services.documents.delete(COMMAND_LINE, *found)
        del self.model[kb, name]

    @precondition(lambda self: self.kbs)
    @rule(data=st.data(), crash=st.booleans())
    def delete_kb(self, data: st.DataObject, crash: bool) -> None:
        kb = data.draw(st.sampled_from(sorted(self.kbs)))
        with self._dying(crash):
            self.library.services.kbs.delete(COMMAND_LINE, kb)
        self.kbs.remove(kb)
        self.model = {key: word for key, word in self.model.items() if key[0] != kb}

    @precondition(lambda self: 0 < len(self.kbs) < 3)
    @rule(data=st.data())
    def rename_kb(self, data: st.DataObject) -> None:
        kb = data.draw(st.sampled_from(sorted(self.kbs)))
        new = data.draw(st.sampled_from(sorted({"a", "b", "c"} - self.kbs)))
        self.library.services.kbs.rename(COMMAND_LINE, kb, new)
        self.kbs = self.kbs - {kb} | {new}
        self.model = {
            (new if key[0] == kb else key[0], key[1]): word for key, word in self.model.items()
        }

    @precondition(lambda self: self.kbs)
    @rule(data=st.data(), into=KBS)
    def copy_kb(self, data: st.DataObject, into: str) -> None:
        source = data.draw(st.sampled_from(sorted(self.kbs)))
        if source == into:
            return
        self.library.upkeep.kb_copy.copy(COMMAND_LINE, source, into)
        self.kbs.add(into)
        self.model |= {
            (into, name): word for (kb, name), word in self.model.items() if kb == source
        }

    @rule()
    def make_anew_with_another_pipeline(self) -> None:
        self.version += 1
        self._reopen()
        assert set(self.library.make_stale_anew()) <= {"succeeded"}

    @rule()
    def embed_anew(self) -> None:
        self.embedder = "beta" if self.embedder == "alpha" else "alpha"
        self.library.upkeep.embedders.run(f"life_{self.embedder}")
        self._reopen()

    @rule()
    def restart(self) -> None:
        self._reopen()

    @invariant()
    def finds_what_the_model_holds(self) -> None:
        if self.life is None:
            return
        for word in WORDS:
            expected = sorted(kb for (kb, _), held in self.model.items() if held == word)
            hits = self.library.library.call("core_retrieve_text", query=word, top_k=50)
            found = [hit["metadata"]["kb_name"] for hit in hits if word in hit["text"]]
            assert sorted(found) == expected, word

    def teardown(self) -> None:
        try:
            if self.life is not None:
                self._audit(self.life)
        finally:
            if self.life is not None:
                self.life.library.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _audit(self, life: Life) -> None:
        for path in (life.home / "blobs").rglob("*"):
            if path.is_file():
                os.utime(path, (1, 1))  # no running ingest needs it
        life.upkeep.audit.repair(life.upkeep.audit.run())
        assert life.findings() == []
        assert len(life.rows()["documents"]) == len(self.model)
        assert len(life.blobs()) == len(set(self.model.values()))

    def _ingested(self, kb: str, name: str, word: str) -> None:
        self.kbs.add(kb)
        self.model[kb, name] = word

    def _blobs(self):  # type: ignore[no-untyped-def]
        from eagle_rag_core.blobs.store import BlobStore

        return BlobStore(self.library.home / "blobs")

    def _reopen(self) -> None:
        self.library.library.close()
        self.life = Life(self.folder / "home", version=str(self.version))

    @contextmanager
    def _dying(self, crash: bool) -> Iterator[None]:
        """The block, whose process perhaps ends after its first commit."""
        if not crash:
            yield
            return
        usual = Originals.discard

        def end(*_: object) -> None:
            raise _Crash

        Originals.discard = end  # type: ignore[method-assign]
        try:
            yield
        except _Crash:
            pass
        finally:
            Originals.discard = usual  # type: ignore[method-assign]
        self._reopen()


def test_a_library_is_what_its_model_says() -> None:
    run_state_machine_as_test(
        LibraryMachine,
        settings=settings(
            max_examples=8,
            stateful_step_count=12,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )
