"""Any number of servers and commands share one home, and a crash of one harms no other."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from e2e import rows
from e2e.product import CLI, Deployment, patiently, run_cli
from e2e.servers import Launcher, Process, StdioServer


@pytest.fixture
def home(deployment: Deployment) -> Deployment:
    """A home whose abandoned jobs are taken over quickly."""
    return deployment.with_settings(ingest__lease_seconds=2)


def note(home: Deployment, word: str) -> str:
    """A file in the inbox that only ``word`` finds; its name."""
    (home.inbox / f"{word}.md").write_text(f"# Note\n\nThe word of this note is {word}.\n")
    return f"{word}.md"


def cli_search(home: Deployment, word: str) -> list[str]:
    result = run_cli(home, "search", word, "--json")
    assert result.returncode == 0, result.stderr
    return [hit["text"] for hit in json.loads(result.stdout)]


def test_what_one_process_ingests_every_other_finds_at_once(
    home: Deployment, launcher: Launcher
) -> None:
    first, second = launcher.stdio(home), launcher.stdio(home)
    # Both have searched before, so that what they find later is not a first build of the index.
    first.add(note(home, "warmup"))
    assert len(first.search("warmup")) == len(second.search("warmup")) == 1

    first.add(note(home, "quokka"))
    assert len(second.search("quokka")) == 1  # no waiting: `succeeded` means visible
    second.add(note(home, "numbat"))
    assert len(first.search("numbat")) == 1

    result = run_cli(home, "ingest", str(home.inbox / note(home, "bilby")))
    assert result.returncode == 0, result.stderr
    assert len(first.search("bilby")) == len(second.search("bilby")) == 1
    assert len(cli_search(home, "quokka")) == 1
    assert rows.leftovers(home) == {}


def test_a_new_home_is_opened_by_several_processes_at_once(
    home: Deployment, launcher: Launcher
) -> None:
    """Each of them would create the tables, the inbox and the collection."""
    servers = [launcher.stdio(home) for _ in range(3)]
    requests = [
        server.send_request("tools/call", {"name": "core_list_kbs", "arguments": {}})
        for server in servers
    ]
    for server, request in zip(servers, requests, strict=True):
        assert server.answer(request)["result"]["structuredContent"] == {
            "items": [],
            "next_cursor": "",
        }
    servers[0].add(note(home, "dugong"))
    assert all(len(server.search("dugong")) == 1 for server in servers)
    assert rows.count(home, "SELECT count(*) FROM vector_collections") == 1


def test_searches_go_on_while_documents_come_in(home: Deployment, launcher: Launcher) -> None:
    server = launcher.http(home)
    server.add(note(home, "constant"))
    stop = threading.Event()

    def search() -> int:
        """Search until told to stop; how often."""
        rounds = 0
        while not stop.is_set():
            assert len(server.search("constant")) == 1
            rounds += 1
        return rounds

    with ThreadPoolExecutor(8) as pool:
        searches = [pool.submit(search) for _ in range(8)]
        try:
            jobs = [server.ingest(note(home, f"incoming{n}")) for n in range(30)]
            states = {server.finish(job)["status"] for job in jobs}
        finally:
            stop.set()
        assert all(done.result() > 0 for done in searches)
    assert states == {"succeeded"}


def test_servers_that_ingest_side_by_side_lose_nothing(
    home: Deployment, launcher: Launcher
) -> None:
    servers = [launcher.stdio(home), launcher.stdio(home)]
    words = [f"word{n}" for n in range(20)]
    submitted = [
        (servers[n % 2], servers[n % 2].ingest(note(home, word))) for n, word in enumerate(words)
    ]
    assert {server.finish(job)["status"] for server, job in submitted} == {"succeeded"}
    for server in servers:
        assert all(len(server.search(word, top_k=1)) == 1 for word in words)
    assert rows.leftovers(home) == {}
    assert rows.count(home, "SELECT count(*) FROM documents") == len(words)


def test_two_servers_given_the_same_file_index_it_once(
    home: Deployment, launcher: Launcher
) -> None:
    servers = [launcher.stdio(home), launcher.stdio(home)]
    name = note(home, "thylacine")
    states = [server.finish(job) for server, job in [(s, s.ingest(name)) for s in servers]]
    assert {state["status"] for state in states} == {"succeeded"}
    assert len({state["document_id"] for state in states}) == 1
    assert len(servers[0].search("thylacine")) == 1
    assert rows.leftovers(home) == {}


def _kill_server(victim: StdioServer, _command: Process) -> None:
    victim.kill()


def _kill_command(_victim: StdioServer, command: Process) -> None:
    command.kill()


@pytest.mark.parametrize(
    "kill",
    [
        pytest.param(_kill_server, id="server"),
        pytest.param(_kill_command, id="command", marks=pytest.mark.full),
    ],
)
def test_the_others_go_on_when_one_is_killed(
    home: Deployment,
    launcher: Launcher,
    kill: Callable[[StdioServer, Process], None],
) -> None:
    survivor, victim = launcher.stdio(home), launcher.stdio(home)
    folder = home.home.parent / "folder"
    folder.mkdir()
    for n in range(60):
        (folder / f"{n}.md").write_text(f"# Entry {n}\n\nThis is about entry{n}.\n")
    command = launcher.start((*CLI, "ingest", str(folder)), home)
    jobs = [victim.ingest(note(home, f"early{n}")) for n in range(5)]
    for _ in patiently("the command's first jobs"):
        if len(rows.jobs(home)) > 10:
            break
    kill(victim, command)

    survivor.add(note(home, "afterwards"))
    assert len(survivor.search("afterwards")) == 1
    assert {survivor.finish(job)["status"] for job in jobs} == {"succeeded"}
    for _ in patiently("the jobs the command had submitted"):
        if not {"queued", "running"} & set(rows.jobs(home).values()):
            break
    assert set(rows.jobs(home).values()) == {"succeeded"}
    assert rows.leftovers(home) == {}
    assert launcher.stdio(home).search("afterwards") == survivor.search("afterwards")
