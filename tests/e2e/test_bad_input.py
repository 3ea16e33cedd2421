"""Bad input of every kind, through a running server: it ends with a reason, nothing of it is
indexed, and the next job runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from e2e import rows
from e2e.answers import assert_clean
from e2e.bad_files import WORD
from e2e.bad_input import CASES, LIMITS, TAKEN, Case, Place
from e2e.packs import install_pack
from e2e.product import Deployment, patiently, run_cli
from e2e.servers import Launcher, StdioServer
from web_server import WebServer

from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.testing.fake_distributions import pack_manifest

MANUAL = Path(__file__).resolve().parents[2] / "docs" / "hostile-input.md"

#: Takes 127.0.0.1 for a public address, and answers for the names of the tests.
_NETWORK = """
from ipaddress import ip_address
from eagle_rag_core.ingest.fetch import addresses, http, network

PUBLIC, INSIDE = "127.0.0.1", "127.0.0.2"
ANSWERS = {
    "docs.example.com": [[PUBLIC]],
    "inside.example.com": [[INSIDE]],
    "both.example.com": [[PUBLIC, INSIDE]],
    "rebind.example.com": [[PUBLIC], [INSIDE]],
}

def resolve(host, port):
    answers = ANSWERS[host]
    return answers.pop(0) if len(answers) > 1 else answers[0]

def allowed(address):
    return address == ip_address(PUBLIC) or addresses.is_public(address)

network.system_resolver = resolve
http.SafeFetcher.__init__.__kwdefaults__["allow"] = allowed

class Pack:
    pass

pack = Pack()
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    folder = tmp_path_factory.mktemp("bad")
    install_pack(folder / "site", "net", body=_NETWORK, text=pack_manifest("net", more=""))
    return Deployment(
        folder / "home", {**LIMITS, "profile": "net", "models.ocr": "auto"}, folder / "site"
    )


@pytest.fixture(scope="module")
def place(home: Deployment) -> Iterator[Place]:
    with WebServer("127.0.0.1") as web, WebServer("127.0.0.2") as inside:
        made = Place(home.inbox, web, inside)
        made.secret.write_text(f"# Secret\n\nThe {WORD} is secret.\n")
        yield made


@pytest.fixture(scope="module")
def server(home: Deployment, place: Place, shared_launcher: Launcher) -> StdioServer:
    server = shared_launcher.stdio(home)
    server.add(place.file("otters.md", b"# Otters\n\nSea otters eat urchins.\n"))
    return server


def stored(home: Deployment) -> dict[str, Any]:
    """Everything a search, an audit or a disk would show of documents."""
    tables = ("documents", "versions", "sections", "chunks", "vector_rows", "pack_records")
    counted = {name: rows.count(home, f"SELECT count(*) FROM {name}") for name in tables}
    blobs = sorted(path.name for path in (home.home / "blobs").rglob("*") if path.is_file())
    return {**counted, "blobs": blobs}


def settled(home: Deployment) -> dict[str, Any]:
    """The same once originals that were replaced are gone: that is after their job's end."""
    for _ in patiently("the end of originals that nobody needs"):
        needed = rows.rows(home, "SELECT DISTINCT content_hash FROM versions")
        if (found := stored(home))["blobs"] == sorted(key for (key,) in needed):
            return found
    raise AssertionError  # patiently() has raised


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.name}")
def test_bad_input_ends_with_its_reason(
    case: Case, server: StdioServer, home: Deployment, place: Place
) -> None:
    source = case.make(place)
    before = settled(home)
    if case.at_once:
        refused(server, home, case, source)
    elif case.ends == TAKEN:
        taken(server, home, source)
        before = settled(home)
    else:
        failed(server, home, case, source)
    assert settled(home) == before
    assert rows.leftovers(home) == {}
    assert not place.inside.seen
    server.add(place.file("next.md", f"# Next\n\nAfter {case.kind}: {case.name}.\n".encode()))
    assert len(server.search("urchins")) == 1


def refused(server: StdioServer, home: Deployment, case: Case, source: str) -> None:
    """See that the call refuses it, and that there is no job."""
    jobs = rows.jobs(home)
    reply = server.call("core_ingest", source_uri=source)
    assert (reply.code, rows.jobs(home)) == (case.ends, jobs)
    assert case.says in reply.error["error"]
    assert_clean(reply, home)


def failed(server: StdioServer, home: Deployment, case: Case, source: str) -> None:
    """See that its job fails for good."""
    job_id = server.ingest(source)
    assert server.finish(job_id)["status"] == "failed"
    reply = server.call("core_get_job", job_id=job_id)
    code, _, message = reply.payload["error"].partition(": ")
    assert code == case.ends and case.says in message
    assert_clean(reply, home)


def taken(server: StdioServer, home: Deployment, source: str) -> None:
    """See that it becomes a document that is found by its word under its name."""
    document_id = server.add(source)["document_id"]
    this = [{"field": "id", "op": "eq", "value": document_id}]
    hit = server.call("core_retrieve_text", query=WORD, filter=this).payload[0]
    assert WORD in hit["text"] and "\0" not in hit["text"]
    uri = hit["metadata"]["source_uri"]
    assert uri == source or unquote(uri).endswith(f"/{source}")
    (item,) = server.call("core_list_documents", filter=this).payload["items"]
    assert item["source_uri"] == uri and item["title"]


def test_the_command_reads_a_folder_of_bad_files(place: Place, tmp_path: Path) -> None:
    here = Place(tmp_path / "files" / "inbox", place.web, place.inside)
    here.inbox.mkdir(parents=True)
    expected = {case.make(here): case.ends == TAKEN for case in CASES}
    home = Deployment(tmp_path / "home", LIMITS)
    manifest = tmp_path / "manifest.json"
    result = run_cli(home, "ingest", str(here.inbox), "--manifest", str(manifest))
    assert result.returncode == 1 and "Traceback" not in result.stderr
    (source,) = json.loads(manifest.read_text())["sources"]
    items = {unquote(item["uri"]).rpartition("/")[2]: item for item in source["items"]}
    for name in expected.keys() & items.keys():
        added = items[name]["status"] == "added"
        assert added == expected[name] == (not items[name]["reason"])
    added = [item for item in items.values() if item["status"] == "added"]
    assert len(added) == rows.count(home, "SELECT count(*) FROM documents") > 10
    assert run_cli(home, "doctor").stdout.endswith("\nEverything is in order.\n")


def table() -> str:
    """What :data:`CASES` says, for the manual."""
    lines = ["| Kind | What exactly | Ends as | In the call |", "| --- | --- | --- | --- |"]
    for case in CASES:
        lines.append(
            f"| {case.kind} | {case.name} | `{case.ends}` | {'yes' if case.at_once else '–'} |"
        )
    return "\n".join(lines)


def test_the_manual_lists_every_case() -> None:
    assert table() in MANUAL.read_text("utf-8")


def test_codes_are_stable_ones() -> None:
    assert {case.ends for case in CASES} <= {*ErrorCode, TAKEN}
    names = [(case.kind, case.name) for case in CASES]
    assert len(set(names)) == len(names)
