"""The commands and the configuration of docs/operations.md, on real servers."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from code_blocks import code_blocks
from e2e.product import Deployment, patiently, run_cli
from e2e.servers import Launcher
from reference_pages import DOCS, ROOT
from servers import PostgresServer, RedisServer, S3Server

from eagle_rag_core.cli.main import cli
from eagle_rag_core.settings import load_settings

PAGE = DOCS / "operations.md"
BLOCKS = code_blocks(PAGE)


def commands(*, running: bool) -> list[list[str]]:
    """The lines of the tested shell blocks: those that run on, or those that end."""
    return [
        shlex.split(line)
        for block in BLOCKS
        if block.language == "sh" and "tested" in block.notes
        if ("running" in block.notes) == running
        for line in block.code.splitlines()
    ]


def configuration() -> str:
    (code,) = (block.code for block in BLOCKS if block.notes.get("file") == "servers.yaml")
    return code


class Operator:
    """Types what the page says, where the page's hosts and folders are the test's."""

    def __init__(self, folder: Path, config: str) -> None:
        self.folder = folder
        self.deployment = Deployment(folder / "srv" / "eagle")
        for name in ("backups", "srv/eagle/inbox"):
            (folder / name).mkdir(parents=True)
        (folder / "servers.yaml").write_text(config, "utf-8")

    def here(self, words: Sequence[str]) -> list[str]:
        """A command's words after its name."""
        assert words[0] == "eagle-rag"
        return [re.sub(r"^/(?=srv|backups)", f"{self.folder}/", word) for word in words[1:]]

    def type(self, words: Sequence[str]) -> str:
        """Run a command to its end, in this process: a new one takes a second to start."""
        ended = CliRunner().invoke(cli, self.here(words))
        assert ended.exit_code == 0, (words, ended.output, ended.exception)
        return ended.stdout


@pytest.fixture
def operator(
    tmp_path: Path, postgres_server: PostgresServer, redis_server: RedisServer, s3_server: S3Server
) -> Iterator[Operator]:
    name = postgres_server.new_database()
    code = configuration()
    for said, meant in {
        "/srv/eagle ": f"{tmp_path}/srv/eagle ",
        "postgresql://eagle@db.internal:5432/eagle": postgres_server.url(name),
        "s3://eagle-originals/library": f"s3://{s3_server.bucket}/operations",
        "http://s3.internal:9000": s3_server.url,
        "redis://redis.internal:6379/3": f"redis://127.0.0.1:{redis_server.port}/3",
    }.items():
        assert said in code
        code = code.replace(said, meant)
    # Tests of their own put vectors into Milvus; here each command would load its client.
    code = re.sub(r"^milvus:\n  uri:.*\n", "", code, flags=re.MULTILINE)
    yield Operator(tmp_path, code)
    postgres_server.drop(name)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, s3_server: S3Server) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EAGLE_RAG_MODELS__TEXT_EMBEDDER", "none")
    monkeypatch.setenv("EAGLE_RAG_MODELS__OCR", "none")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_server.settings["access_key_id"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_server.settings["secret_access_key"])
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


def test_the_configuration_is_valid(tmp_path: Path) -> None:
    (tmp_path / "servers.yaml").write_text(configuration(), "utf-8")
    settings = load_settings(config=tmp_path / "servers.yaml")
    assert settings.milvus.uri and not settings.ingest.embedded_worker


def test_the_extras_are_there() -> None:
    (block,) = (block for block in BLOCKS if block.code.startswith("pip install"))
    named = re.search(r"\[(.+)\]", block.code)
    assert named is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(named[1].split(",")) <= project["optional-dependencies"].keys()


@pytest.mark.usefixtures("environment")
def test_every_command_does_what_the_page_says(operator: Operator, tmp_path: Path) -> None:
    serve, work = commands(running=True)
    with Launcher(tmp_path) as launcher:
        environ = operator.deployment
        server = launcher.http(environ, *operator.here(serve)[1:])
        launcher.start(
            (sys.executable, "-m", "eagle_rag_core.cli.main", *operator.here(work)), environ
        )
        (operator.deployment.inbox / "otters.md").write_text("# Otters\n\nSea otters eat.\n")
        assert server.add("otters.md")
        said = [operator.type(words) for words in commands(running=False)]
        for _ in patiently("the server to search what was restored"):
            if server.search("otters"):
                break
    assert len(list((operator.folder / "backups").iterdir())) == 3
    restored = Deployment(operator.folder / "srv" / "restored")
    found = run_cli(restored, "search", "otters")
    assert "Sea otters eat." in found.stdout
    assert any("1 documents and 1 originals restored." in text for text in said)
    assert json.loads(said[-1])["findings"] == []
