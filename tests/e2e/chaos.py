"""A library whose processes are killed while it changes, and what has to hold all the same.

One driver submits changes to a server, a command changes something beside it, and at a random
moment one of the processes gets a kill -9. Whoever was killed is started again, and when the queue
is empty the library has to be what its model says.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL
from typing import Final
from urllib.parse import unquote

import numpy as np
from e2e import rows
from e2e.counting_pack import EMBEDDER, NAMESPACE, EmbeddingLog, vector
from e2e.product import CLI, Deployment, patiently, run_cli
from e2e.servers import Launcher, Process, StdioServer
from jobs.hostile import children

_SETTINGS: Final = {
    "profile": NAMESPACE,
    "models.text_embedder": EMBEDDER,
    "ingest.lease_seconds": 3,
    "ingest.processes": 1,
    # Whatever is killed often enough is no hostile source here.
    "ingest.max_attempts": 20,
}
#: Answers every line with what an audit finds; a command for each would take long to start.
_AUDITOR: Final = """
import json, sys
from eagle_rag_core.bootstrap import Start
with Start().app() as app:
    for _ in sys.stdin:
        found = app.services().upkeep.audit.run()
        print(json.dumps([[f.check, f.subject, f.problem] for f in found]), flush=True)
"""
VICTIMS: Final = ("server", "worker", "server's process", "worker's process", "command", "all")
#: Passages of a document: mostly a few, at times several batches of the embedder.
_PARTS: Final = (1, 2, 3, 5, 8, 150)
_DEFAULT, _BULK, _COPY, _RENAMED = "default", "bulk", "copy", "renamed"

#: A document: knowledge base and file name.
Key = tuple[str, str]


@dataclass(frozen=True)
class Edition:
    """What a file says at a time; its word occurs in no other one."""

    word: str
    parts: int

    @property
    def passages(self) -> list[str]:
        return [
            f"# Part {n} of {self.word}\n\nThe walrus counts {self.word} clams in part {n}."
            for n in range(self.parts)
        ]

    @property
    def text(self) -> str:
        return "\n\n".join(self.passages) + "\n"


@dataclass
class Numbers:
    """What happened.

    :param workers_killed: worker processes that died, with their parent or alone.
    :param unanswered: sources whose submission was cut off by a kill.
    """

    cycles: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    workers_killed: int = 0
    acknowledged: int = 0
    unanswered: int = 0
    batches: int = 0
    batches_again: int = 0
    searches: int = 0
    originals_left: int = 0

    def __str__(self) -> str:
        return json.dumps({**vars(self), "kills": dict(self.kills)})


class Chaos:
    """The library, its model and its processes.

    :param seed: of everything that is random here.
    """

    def __init__(self, folder: Path, launcher: Launcher, seed: int) -> None:
        self._random = random.Random(seed)
        self._launcher = launcher
        self._log = EmbeddingLog(folder / "embedded.jsonl")
        self._log.install(folder / "site")
        self.home = Deployment(folder / "home", _SETTINGS, folder / "site")
        self._bulk = folder / "bulk"
        self._bulk.mkdir()
        self.numbers = Numbers()
        #: What each document may be; one possibility where everything was acknowledged.
        self._model: dict[Key, list[Edition | None]] = {}
        #: What the files of the folder say.
        self._in_folder: dict[str, Edition | None] = {}
        self._jobs: list[str] = []
        self._gone: list[str] = []
        self._editions = 0
        self._server: StdioServer = launcher.stdio(self.home)
        self._worker = self._started("worker")
        self._command: Process | None = None
        self._auditor = launcher.start(
            (sys.executable, "-c", _AUDITOR),
            self.home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        # From now on the catalog is open somewhere, so that rows can be read at any time.
        assert self._audit() == []

    def cycle(self) -> None:
        """Change the library while something is killed, wait until all is done, and look."""
        self.numbers.cycles += 1
        files = [f"file{n}.md" for n in range(12)]
        self._random.shuffle(files)
        self._begin_command(files[8:])
        victim = self._random.choice(VICTIMS)
        # A command takes a while to start.
        longest = 2.5 if victim == "command" else 1.0
        killer = threading.Timer(self._random.uniform(0, longest), self._kill, [victim])
        killer.start()
        for name in files[: self._random.randint(3, 8)]:
            self._submit(name)
            time.sleep(self._random.uniform(0, 0.1))
        killer.join()
        if self._command is not None:
            self._command.wait()
        self._restore()
        for _ in patiently("the end of all jobs", seconds=90):
            if not {"queued", "running"} & set(rows.jobs(self.home).values()):
                break
        self._check()

    def finish(self) -> None:
        """See that a repair finds nothing but originals that nobody came back for."""
        for path in (self.home.home / "blobs").rglob("*"):
            if path.is_file():
                os.utime(path, (1, 1))  # no job is about to publish it
        found = self._audit()
        assert {check for check, *_ in found} <= {"blobs.orphans"}, found
        self.numbers.originals_left = len(found)
        repaired = run_cli(self.home, "doctor", "--repair")
        assert repaired.stdout.endswith("Everything is in order.\n"), repaired.stdout
        assert self._audit() == []

    # What is done to the library.

    def _submit(self, name: str) -> None:
        """Write a new edition and submit it; without an answer it was heard, or it was not."""
        edition, key = self._edition(), (_DEFAULT, name)
        _write(self.home.inbox / name, edition)
        self._model[key] = [*self._model.get(key, [None]), edition]
        try:
            job_id = self._server.ingest(name)
        except (AssertionError, OSError):
            self.numbers.unanswered += 1
            return
        self.numbers.acknowledged += 1
        self._jobs.append(job_id)
        self._model[key] = [edition]

    def _begin_command(self, files: list[str]) -> None:
        """Start something beside the server, if there is anything to do.

        :param files: those that the server is not asked to take in meanwhile.
        """
        kbs = {kb for kb, _ in self._model}
        copied = kbs & {_COPY, _RENAMED}
        choices = [self._delete, self._ingest]
        if copied:
            choices += [self._rename, self._drop]
        elif _BULK in kbs:
            choices += [self._copy]
        arguments = self._random.choice(choices)(files)
        self._command = self._started(*arguments) if arguments else None

    def _delete(self, files: list[str]) -> list[str]:
        chosen = [key for key in ((_DEFAULT, name) for name in files[:2]) if key in self._model]
        ids = [self._document_id(key) for key in chosen]
        self._may_be(chosen, None)
        return ["documents", "delete", "--yes", *ids] if ids else []

    def _ingest(self, _files: list[str]) -> list[str]:
        """Take in a folder in which some files are new and some are gone."""
        for name in self._random.sample([f"bulk{n}.md" for n in range(6)], 3):
            path, edition = self._bulk / name, None
            if path.exists() and self._random.random() < 0.3:
                path.unlink()
            else:
                edition = self._edition()
                _write(path, edition)
            self._in_folder[name] = edition
        for name, edition in self._in_folder.items():  # what a killed command left undone, too
            self._may_be([(_BULK, name)], edition)
        return ["ingest", str(self._bulk), "--kb", _BULK, "--delete-missing", "--allow-empty"]

    def _copy(self, _files: list[str]) -> list[str]:
        self._moves(_BULK, _COPY)
        return ["kb", "copy", _BULK, _COPY]

    def _rename(self, _files: list[str]) -> list[str]:
        present = next(kb for kb, _ in self._model if kb in (_COPY, _RENAMED))
        other = _RENAMED if present == _COPY else _COPY
        self._moves(present, other)
        self._may_be([key for key in self._model if key[0] == present], None)
        return ["kb", "rename", present, other]

    def _drop(self, _files: list[str]) -> list[str]:
        present = next(kb for kb, _ in self._model if kb in (_COPY, _RENAMED))
        self._may_be([key for key in self._model if key[0] == present], None)
        return ["kb", "delete", present, "--yes"]

    def _may_be(self, keys: Iterable[Key], edition: Edition | None) -> None:
        for key in keys:
            self._model[key] = [*self._model.get(key, [None]), edition]

    def _moves(self, kb: str, other: str) -> None:
        for (found, name), editions in list(self._model.items()):
            if found == kb:
                self._model[other, name] = [None, *editions]

    def _edition(self) -> Edition:
        self._editions += 1
        # One term for the analyzer, which splits words with digits and stems English ones.
        letters = "".join("abcdefghij"[int(digit)] for digit in str(self._editions))
        return Edition(f"z{letters}q", self._random.choice(_PARTS))

    # Who is killed, and who is started again.

    def _started(self, *arguments: str) -> Process:
        return self._launcher.start((*CLI, *arguments), self.home)

    def _kill(self, victim: str) -> None:
        self.numbers.kills[victim] += 1
        parents = {"server": self._server, "worker": self._worker, "command": self._command}
        name, _, process = victim.partition("'s ")
        for parent in [parents[name]] if name in parents else parents.values():
            if parent is None or not parent.running:
                continue
            workers = children(parent.process.pid)
            self.numbers.workers_killed += len(workers)
            if process:
                for pid in workers:
                    with suppress(ProcessLookupError):
                        os.kill(pid, SIGKILL)
            else:
                parent.kill()  # and its workers die with it

    def _restore(self) -> None:
        if not self._server.running:
            self._server.release()
            self._server = self._launcher.stdio(self.home)
        if not self._worker.running:
            self._worker = self._started("worker")

    # What has to hold.

    def _check(self) -> None:
        states = rows.jobs(self.home)
        lost = {job: states.get(job) for job in self._jobs if states.get(job) != "succeeded"}
        assert not lost, f"acknowledged jobs that did not succeed: {lost}"
        self._compare()
        assert rows.leftovers(self.home) == {}
        self._search()
        self.numbers.batches, self.numbers.batches_again = self._log.batches()
        assert self.numbers.batches_again <= self.numbers.workers_killed, self.numbers
        assert self._audit() == []

    def _compare(self) -> None:
        """See that every document is one of its possibilities, whole; from now on the only one."""
        found = self._documents()
        for key, editions in self._model.items():
            passages = found.pop(key, None)
            fitting = [e for e in editions if passages == (e.passages if e else None)]
            assert fitting, f"{key} is none of {editions}, but {passages}"
            self._gone += [e.word for e in editions if e and e not in fitting]
            self._model[key] = fitting[-1:]
        assert not found, f"documents that nobody made: {list(found)}"
        self._model = {key: state for key, state in self._model.items() if state != [None]}
        kbs = {kb for kb, _ in self._model}
        assert not kbs >= {_COPY, _RENAMED}, "a knowledge base under two names"

    def _documents(self) -> dict[Key, list[str]]:
        """The passages of every document, each with the vector of its text."""
        found: dict[Key, list[str]] = defaultdict(list)
        query = """SELECT d.kb_name, d.source_uri, c.text, r.dense FROM chunks c
            JOIN documents d ON d.visible_version = c.version_id
            JOIN vector_rows r USING (node_id) ORDER BY c.ordinal"""
        for kb, uri, text, dense in rows.rows(self.home, query):
            assert np.allclose(np.frombuffer(dense, "<f4"), vector(text), atol=1e-6)
            found[kb, unquote(uri.rpartition("/")[2])].append(text)
        return dict(found)

    def _search(self) -> None:
        """See that searches find what the model holds, and nothing of what it held."""
        current = [(kb, e.word) for (kb, _), (e,) in self._model.items() if e]
        for kb, word in self._random.sample(current, min(4, len(current))):
            texts = self._server.search(word, kb_name=kb, top_k=3)
            assert any(word in text for text in texts), (kb, word, texts)
        held = {word for _, word in current}
        for word in [word for word in self._gone if word not in held][-3:]:
            assert not any(word in text for text in self._server.search(word, top_k=20))
        self.numbers.searches += 1

    def _audit(self) -> list[list[str]]:
        pipes = self._auditor.process
        assert pipes.stdin is not None and pipes.stdout is not None
        pipes.stdin.write(b"\n")
        pipes.stdin.flush()
        line = pipes.stdout.readline()
        assert line, self._auditor.stderr
        findings: list[list[str]] = json.loads(line)
        return findings

    def _document_id(self, key: Key) -> str:
        query = "SELECT document_id, source_uri FROM documents WHERE kb_name = ?"
        found = rows.rows(self.home, query, key[0])
        return next(str(found_id) for found_id, uri in found if uri.endswith(f"/{key[1]}"))


def _write(path: Path, edition: Edition) -> None:
    """Put a file in place at once, as editors do."""
    fresh = path.with_suffix(".fresh~")
    fresh.write_text(edition.text)
    fresh.rename(path)
