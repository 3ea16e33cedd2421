"""Libraries that differ in what a caller may not see, and answers that can be compared."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from api.auth.served import MCP_HEADERS, Served, bearer

#: Callers and their knowledge bases; ``plan`` is not there yet.
CALLERS: Mapping[str, frozenset[str]] = {
    "ann": frozenset({"a", "plan"}),
    "bea": frozenset({"a", "b", "plan"}),
    "cid": frozenset({"c"}),
}
KBS = ("a", "b", "c")
#: Documents share words and tags across knowledge bases, so that leaks would show in ranks too.
TEXTS = {
    "a": "# Otters\n\n## Diet\n\nSea otters eat urchins.\n\n## Rest\n\nOtters rest in kelp.\n",
    "b": "# Seals\n\nSeals eat fish, and otters rarely eat fish.\n",
    "c": "# Secrets\n\nOtters eat zirconium. Urchins urchins otters otters kelp fish.\n",
}
MISSING = "0" * 32
_PATIENCE = 30.0
_VARYING = (
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
    (r'(elapsed_ms\\*":) ?[\d.e-]+', r"\1 0"),
    (r'(next_cursor\\*":) ?\\*"[^"\\]+\\*"', r"\1 CURSOR"),
    (r"urn:eagle-rag:request:[0-9a-f]{32}", "REQUEST"),
)


def token(caller: str) -> str:
    return f"token_of_{caller}_0123456789abcdef"


@dataclass(frozen=True)
class Answer:
    """What a caller can see of an answer, without what never is the same twice."""

    status: int
    kind: str
    text: str


@dataclass
class World:
    """A server with some of the knowledge bases, and what it calls jobs."""

    server: Served
    kbs: frozenset[str]
    documents: dict[str, str] = field(default_factory=dict)
    jobs: dict[str, str] = field(default_factory=dict)
    #: Ids that jobs of others have elsewhere.
    foreign_jobs: Mapping[str, str] = field(default_factory=dict)
    #: Ids of sections of the documents, and one that there is not.
    sections: list[str] = field(default_factory=lambda: [MISSING])

    def job(self, label: str) -> str:
        """Id of a job; of one that is not here, the id it has elsewhere."""
        return self.jobs.get(label) or self.foreign_jobs.get(label, "f" * 32)

    def sees(self, caller: str) -> bool:
        """Whether all that ``caller`` may see is here."""
        return CALLERS[caller] - {"plan"} <= self.kbs

    def send(self, caller: str, method: str, path: str, **options: Any) -> httpx2.Response:
        headers = {**bearer(token(caller)), **options.pop("headers", {})}
        return self.server.http.request(method, path, headers=headers, **options)

    def mcp(self, caller: str, method: str, params: Mapping[str, Any]) -> httpx2.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.send(caller, "POST", "/mcp", json=body, headers=MCP_HEADERS)

    def upload(self, caller: str, kb: str, name: str, text: str, label: str) -> httpx2.Response:
        """Upload a file and wait until its job, if there is one, is over."""
        fields = {"kb_name": kb, "tags": ["shared", f"tag-{kb}"]}
        answer = self.send(
            caller, "POST", "/ingest", files={"file": (name, text.encode())}, data=fields
        )
        if answer.status_code in (200, 202):
            job_id = self.jobs[label] = answer.json()["job_id"]
            self.finish(caller, job_id)
        return answer

    def finish(self, caller: str, job_id: str) -> None:
        until = time.monotonic() + _PATIENCE
        while not self.send(caller, "GET", f"/jobs/{job_id}").json()["finished_at"]:
            assert time.monotonic() < until, "a job does not end"
            time.sleep(0.005)

    def shown(self, answer: httpx2.Response) -> Answer:
        text = answer.text
        for pattern, stands_for in _VARYING:
            text = re.sub(pattern, stands_for, text)
        for label, job_id in (*self.jobs.items(), *self.foreign_jobs.items()):
            text = text.replace(job_id, f"JOB-{label}")
        return Answer(answer.status_code, answer.headers.get("content-type", ""), text)


Act = Callable[[World, str], httpx2.Response]


@dataclass(frozen=True)
class Worlds:
    """The whole library, and for each set of rights one that holds nothing else."""

    whole: World
    parts: tuple[World, ...]

    def compare(self, caller: str, act: Act) -> Answer:
        """Let ``caller`` act wherever all that it may see is there.

        What others have, and do, must make no difference.
        """
        whole = self.whole.shown(act(self.whole, caller))
        for part in self.parts:
            if part.sees(caller):
                assert part.shown(act(part, caller)) == whole, f"{caller} notices others"
        return whole


@contextmanager
def worlds(folder: Path) -> Iterator[Worlds]:
    with ExitStack() as stack:
        made = [
            _world(stack, folder / "".join(sorted(kbs)), frozenset(kbs))
            for kbs in (set(KBS), {"a"}, {"a", "b"}, {"c"})
        ]
        whole, *parts = made
        for part in parts:  # ids follow from names and content: nobody else's move them
            assert part.documents == {kb: whole.documents[kb] for kb in part.kbs}
            part.foreign_jobs = whole.jobs
        yield Worlds(whole, tuple(parts))


def _world(stack: ExitStack, home: Path, kbs: frozenset[str]) -> World:
    tokens = [
        {"name": name, "token": token(name), "kbs": sorted(readable)}
        for name, readable in CALLERS.items()
    ]
    tokens.append({"name": "all", "token": token("all")})
    auth = {"enabled": True, "tokens": tokens, "rate_limit": 0, "failure_limit": 100_000}
    server = stack.enter_context(Served(home, auth=auth, ingest={"isolation": "thread"}))
    world = World(server, kbs)
    for kb in KBS:
        if kb in kbs:
            answer = world.upload("all", kb, f"{kb}.md", TEXTS[kb], kb)
            document_id = world.documents[kb] = answer.json()["document_id"]
            outline = world.send("all", "GET", f"/documents/{document_id}/outline").json()
            world.sections += [item["section_id"] for item in outline["items"]]
    return world
