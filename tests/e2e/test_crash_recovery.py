"""kill -9 in the middle of an ingest: what was acknowledged is done, once, after a restart."""

from __future__ import annotations

import pytest
from e2e import rows
from e2e.product import Deployment, patiently
from e2e.servers import Launcher, StdioServer

DOCUMENTS = 200
OUTLOOK = "## Outlook\n\n" + " ".join(["The outlook depends on the weather of the season."] * 12)


def opening(n: int) -> str:
    return f"# Report {n}\n\nThe figure of unit{n} was {37 * n} this quarter."


@pytest.fixture
def home(deployment: Deployment) -> Deployment:
    for n in range(DOCUMENTS):
        (deployment.inbox / f"{n}.md").write_text(f"{opening(n)}\n\n{OUTLOOK}\n")
    # Every call may wait for its turn, however many come at once.
    return deployment.with_settings(ingest__lease_seconds=2, mcp__queue_timeout=60)


def submit_all(server: StdioServer) -> list[str]:
    """Submit every file without waiting in between; the job ids."""
    requests = [
        server.send_request(
            "tools/call", {"name": "core_ingest", "arguments": {"source_uri": f"{n}.md"}}
        )
        for n in range(DOCUMENTS)
    ]
    answers = server.answers(requests)
    return [answers[request]["result"]["structuredContent"]["job_id"] for request in requests]


def unfinished(home: Deployment) -> int:
    return sum(status in ("queued", "running") for status in rows.jobs(home).values())


def test_every_acknowledged_job_survives_kill_9(home: Deployment, launcher: Launcher) -> None:
    server = launcher.stdio(home)
    server.search("nothing yet")  # the start counts for no call's pace
    acknowledged = submit_all(server)
    server.kill()
    left = unfinished(home)
    assert left > 0, "the kill came too late to interrupt anything"

    server = launcher.stdio(home)
    for _ in patiently("the second server to work"):
        if unfinished(home) < left - 5:
            break
    server.kill()
    assert unfinished(home) > 0, "the second kill came too late"

    server = launcher.stdio(home)
    for _ in patiently("the rest of the jobs"):
        if unfinished(home) == 0:
            break
    assert rows.jobs(home) == dict.fromkeys(acknowledged, "succeeded")
    assert [passage[:2] + passage[4:5] for passage in rows.content(home)] == sorted(
        (f"{n}.md", ordinal, text)
        for n in range(DOCUMENTS)
        for ordinal, text in enumerate((opening(n), OUTLOOK))
    )
    assert rows.leftovers(home) == {}
    for n in (0, DOCUMENTS // 2, DOCUMENTS - 1):
        assert server.search(f"unit{n}", top_k=1)[0].startswith(opening(n))


def test_a_document_is_never_seen_half_written(deployment: Deployment, launcher: Launcher) -> None:
    """Readers of another process see the old version or the new one, whole."""
    home = deployment.with_settings(ingest__lease_seconds=2, retrieval__expand_chars=0)
    path = home.inbox / "log.md"

    def write(edition: str) -> None:
        parts = [f"## Part {n}\n\nedition {edition} of part{n} of the log." for n in range(20)]
        path.write_text("\n\n".join(parts))

    def editions() -> set[str]:
        found = reader.search("edition log", top_k=100)
        assert len(found) == 20
        return {text.split("edition ")[1].split()[0] for text in found}

    write("first")
    writer, reader = launcher.stdio(home), launcher.stdio(home)
    writer.add(path)
    assert editions() == {"first"}
    write("second")
    job = writer.ingest(path)
    for _ in patiently("the second edition", pause=0):
        seen = editions()
        assert len(seen) == 1
        if seen == {"second"}:
            break
    assert writer.finish(job)["status"] == "succeeded"
    assert rows.leftovers(home) == {}
