"""Everything on servers: PostgreSQL, S3, Redis and Milvus, several processes of the product."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg
import pytest
from e2e.product import CLI, Deployment, patiently, run_cli
from e2e.servers import Launcher
from servers import MilvusServer, PostgresServer, RedisServer, S3Server

DOCUMENTS = 30
FILLER = "\n\n".join(
    f"## Part {n}\n\n" + "The outlook depends on the weather of the season. " * 12
    for n in range(12)
)


@pytest.fixture
def database(postgres_server: PostgresServer) -> str:
    return postgres_server.url(postgres_server.new_database())


def ask(database: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(database) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.timeout(300)
def test_a_killed_worker_among_servers_loses_nothing(
    deployment: Deployment,
    launcher: Launcher,
    database: str,
    redis_server: RedisServer,
    s3_server: S3Server,
) -> None:
    """Thirty files over MCP, two Celery workers, one of them killed in between."""
    home = deployment.with_settings(
        database__url=database,
        celery__broker_url=f"redis://127.0.0.1:{redis_server.port}/7",
        ingest__processes=1,
        ingest__lease_seconds=2,
        blobs__url=f"s3://{s3_server.bucket}/scale-out",
        **{f"blobs__{name}": value for name, value in s3_server.settings.items()},
    )
    for n in range(DOCUMENTS):
        text = f"# Report {n}\n\nThe figure of unit{n} was {37 * n}.\n\n{FILLER}\n"
        (home.inbox / f"{n}.md").write_text(text)
    server = launcher.http(home, face="mcp")
    doomed, survivor = (launcher.start((*CLI, "worker", "--celery"), home) for _ in range(2))
    acknowledged = [server.ingest(f"{n}.md") for n in range(DOCUMENTS)]

    def states() -> Counter[str]:
        return Counter(dict(ask(database, "SELECT job_id, status FROM jobs")).values())

    for _ in patiently("the workers to be at it"):
        if states()["succeeded"] >= 4:
            break
    assert states()["succeeded"] < DOCUMENTS, "the kill comes too late"
    doomed.kill()
    # A ticket that died with the worker before it was used is replaced after one to two minutes.
    for _ in patiently("the rest of the jobs", seconds=200):
        if states()["succeeded"] == DOCUMENTS:
            break
    assert survivor.running, survivor.stderr

    jobs = ask(database, "SELECT job_id, status, dead FROM jobs")
    assert sorted(jobs) == sorted((job, "succeeded", False) for job in acknowledged)
    assert ask(database, "SELECT count(*), count(DISTINCT source_uri) FROM documents") == [
        (DOCUMENTS, DOCUMENTS)
    ]
    assert ask(database, "SELECT count(*) FROM versions") == [(DOCUMENTS,)]
    listed = s3_server.client().list_objects_v2(Bucket=s3_server.bucket, Prefix="scale-out/")
    assert len(listed["Contents"]) == DOCUMENTS
    for n in (0, 13, DOCUMENTS - 1):
        assert f"unit{n} was {37 * n}." in server.search(f"unit{n}", top_k=1)[0]
    checked = run_cli(home, "doctor", "--json")
    assert (checked.returncode, json.loads(checked.stdout)["findings"]) == (0, []), checked.stdout
    assert not home.catalog.exists() and not (home.home / "blobs").exists()


@pytest.mark.full
@pytest.mark.timeout(300)
def test_three_replicas_and_two_workers_never_miss_a_change(
    deployment: Deployment, launcher: Launcher, database: str, redis_server: RedisServer
) -> None:
    """What one replica is told has succeeded, all of them find at once; and no longer find."""
    home = deployment.with_settings(
        database__url=database,
        mcp__redis_url=f"redis://127.0.0.1:{redis_server.port}/8",
        ingest__embedded_worker=False,
        ingest__processes=1,
    )
    replicas = [launcher.http(home) for _ in range(3)]
    for _ in range(2):
        launcher.start((*CLI, "worker"), home)
    words = [5 * letter for letter in "abcdefghijklmnopqrst"]  # with no part in common
    for number, word in enumerate(words):
        told, note = replicas[number % 3], home.inbox / f"{number % 4}.md"
        note.write_text(f"# Note\n\nThe word of this note is {word}.\n")
        document_id = told.add(note.name)["document_id"]
        for replica in replicas:
            assert len(replica.search(word)) == 1, (number, word)
            if number >= 4:  # what it said before, from the index or from the cache
                assert replica.search(words[number - 4]) == []
        if number % 4 == 3:
            deleted = run_cli(home, "documents", "delete", document_id, "--yes")
            assert deleted.returncode == 0, deleted.stderr
            assert all(replica.search(word) == [] for replica in replicas)
    assert ask(database, "SELECT count(*) FROM jobs WHERE status = 'succeeded'") == [(20,)]
    assert ask(database, "SELECT count(*) FROM documents") == [(3,)]
    checked = run_cli(home, "doctor", "--json")
    assert (checked.returncode, json.loads(checked.stdout)["findings"]) == (0, []), checked.stdout


def test_two_processes_share_a_milvus_server(
    deployment: Deployment, launcher: Launcher, milvus_server: MilvusServer, tmp_path: Path
) -> None:
    home = deployment.with_settings(
        milvus__uri=milvus_server.url, milvus__db_prefix="shared_", mcp__tool_timeout=20
    )
    first, second = launcher.stdio(home), launcher.stdio(home)
    bridge = home.inbox / "bridge.md"
    bridge.write_text("# Bridge\n\nThe suspension bridge was closed.\n")
    (home.inbox / "harbour.md").write_text("# Harbour\n\nThe ferry leaves at noon.\n")
    document_id = first.add("bridge.md")["document_id"]
    second.add("harbour.md")
    for server in (first, second):
        assert len(server.search("suspension")) == len(server.search("ferry")) == 1

    bridge.write_text("# Bridge\n\nA tunnel took its place.\n")
    assert not second.add("bridge.md")["dedup_hit"]
    for server in (first, second):
        assert server.search("suspension") == []
        assert len(server.search("tunnel")) == 1

    deleted = run_cli(home, "documents", "delete", document_id, "--yes")
    assert deleted.returncode == 0, deleted.stderr
    for server in (first, second):
        assert server.search("tunnel") == []
        assert len(server.search("ferry")) == 1
    checked = run_cli(home, "doctor", "--json")
    assert (checked.returncode, json.loads(checked.stdout)["findings"]) == (0, []), checked.stderr
