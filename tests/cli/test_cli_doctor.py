"""The doctor looks at everything that a deployment needs, in time, and gives nothing away."""

from __future__ import annotations

import http.server
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from eagle_rag_core.cli.checks import machine, services
from eagle_rag_core.cli.checks.results import Check, Status, run_checks, well
from eagle_rag_core.cli.main import cli
from eagle_rag_core.errors import StorageError
from eagle_rag_core.settings import load_settings
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.testing.fake_llm import ScriptedModel

SECRET = "s3cret-and-long-enough-to-be-one"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("doctor") / "home"
    with PackLibrary(home) as library:
        library.ingest_text("# Otters\n\nThey eat urchins.\n", "otters.md")
    return home


def run(home: Path, *arguments: str, **environ: str) -> Result:
    variables = {f"EAGLE_RAG_{name}": value for name, value in environ.items()}
    quick = {"EAGLE_RAG_MODELS__TEXT_EMBEDDER": "none", "EAGLE_RAG_MODELS__OCR": "none"}
    command = ["doctor", "--home", str(home), *arguments]
    runner = CliRunner(env={**quick, **variables})
    return runner.invoke(cli, command, catch_exceptions=False)


def checks(home: Path, *arguments: str, **environ: str) -> dict[str, dict[str, Any]]:
    result = run(home, "--json", *arguments, **environ)
    answer = json.loads(result.stdout)
    found = {check["name"]: check for check in answer["checks"]}
    broken = [check["name"] for check in found.values() if check["status"] == "failed"]
    broken += [finding["check"] for finding in answer["findings"] if finding["level"] == "fault"]
    assert answer["ok"] == (result.exit_code == 0) == (not broken)
    return found


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_a_sound_deployment_is_told_check_by_check(home: Path) -> None:
    found = checks(home, "--no-packs", MODELS__OCR="auto", MODELS__TEXT_EMBEDDER="auto")
    expected = {"settings", "python", "clock", "home", "disk", "permissions", "pages"}
    expected |= {"database", "blobs"}
    expected |= {"auth", "port.server", "port.mcp", "packs", "packs.loaded", "index"}
    assert set(found) == expected | {"model.embedder", "model.ocr"}
    assert {check["status"] for check in found.values()} <= {"ok", "warning"}
    assert found["index"]["detail"] == "1 passages (local)."
    text = run(home, "--no-packs").stdout
    assert "ok       home            " in text and text.endswith("Everything is in order.\n")


def test_settings_that_cannot_be_used_are_a_finding(home: Path) -> None:
    found = checks(home, MCP__PORT="many")
    assert list(found) == ["settings"]
    assert "mcp.port" in found["settings"]["detail"]


def test_a_library_that_cannot_be_opened_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "catalog.db").write_bytes(b"not a database" * 100)
    found = checks(tmp_path / "home", "--no-packs")
    assert found["start"]["status"] == "failed"


def test_nothing_is_opened_while_its_server_does_not_answer(home: Path) -> None:
    url = f"postgresql://me:{SECRET}@127.0.0.1:{free_port()}/eagle"
    found = checks(home, DATABASE__URL=url)
    assert found["database"]["status"] == "failed" and "index" not in found


def test_what_does_not_answer_is_named_without_secrets(home: Path, tmp_path: Path) -> None:
    port = free_port()
    environ = {
        "MCP__REDIS_URL": f"redis://:{SECRET}@127.0.0.1:{port}/0",
        "MODELS__LLM__BASE_URL": f"http://127.0.0.1:{port}/v1",
        "MODELS__LLM__MODEL": "m",
        "MODELS__LLM__API_KEY": SECRET,
        "MODELS__RERANKER": "http",
        "MODELS__RERANK__BASE_URL": f"http://127.0.0.1:{port}",
        "BLOBS__URL": f"file://{tmp_path / 'file'}",
        "SERVER__HOST": "0.0.0.0",
    }
    (tmp_path / "file").write_text("no folder")
    names = ("redis.mcp", "model.llm", "model.reranker", "blobs", "auth")
    result = run(home, "--json", **environ)
    assert SECRET not in result.output
    found = {check["name"]: check for check in json.loads(result.stdout)["checks"]}
    assert {name: found[name]["status"] for name in names} == dict.fromkeys(names, "failed")
    assert found["redis.mcp"]["remedy"] == "Start it, or check the address in mcp.redis_url."
    wrong = services.redis("celery.broker_url", f"http://me:{SECRET}@127.0.0.1:{port}/0")
    assert wrong.detail == "celery.broker_url is no URL of Redis."


def test_a_language_model_that_answers_is_well(home: Path) -> None:
    with ScriptedModel("yes") as llm:
        named = {f"MODELS__LLM__{key.upper()}": value for key, value in llm.settings.items()}
        found = checks(home, **named | {"MODELS__LLM__MODEL": "m"})
    assert found["model.llm"] == {
        "name": "model.llm",
        "status": "ok",
        "detail": "m answers.",
        "remedy": "",
    }


def test_redis_and_postgresql_that_answer_are_well(
    redis_server: Any, postgres_catalog_url: str, tmp_path: Path
) -> None:
    settings = load_settings(
        overrides={
            "home": tmp_path,
            "database": {"url": postgres_catalog_url},
            "celery": {"broker_url": redis_server.url},
        }
    )
    found = run_checks(services.service_checks(settings))
    assert found["database"] == well("PostgreSQL answers.")
    assert found["redis.celery"] == well("Redis answers.")


# One by one


class _Live(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"status": "ok"}' if self.path == "/health/live" else b""
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def serving() -> Iterator[int]:
    with http.server.HTTPServer(("127.0.0.1", 0), _Live) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_a_port_is_free_or_ours_or_somebody_elses(serving: int) -> None:
    assert services.port("mcp.port", "127.0.0.1", free_port()).status is Status.OK
    ours = services.port("mcp.port", "127.0.0.1", serving)
    assert ours == well(f"{serving}: a server of eagle-rag answers there.")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = services.port("mcp.port", "127.0.0.1", other.getsockname()[1])
    assert taken.status is Status.WARNING and "set mcp.port" in taken.remedy


def test_originals_leave_no_trace_of_the_probe(tmp_path: Path) -> None:
    settings = load_settings(overrides={"home": tmp_path})
    assert services.originals(settings).status is Status.OK
    assert [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("version", "status"),
    [((3, 10, 9), "failed"), ((3, 11, 0), "ok"), ((3, 13, 2), "ok"), ((3, 15, 0), "warning")],
)
def test_python(version: tuple[int, ...], status: str) -> None:
    assert machine.python(version).status == status


def test_a_clock_that_is_behind_is_noticed(home: Path) -> None:
    assert machine.clock(home, time.time()).status is Status.OK
    assert machine.clock(home, time.time() - 3600).status is Status.WARNING
    assert machine.clock(home, 0.0).status is Status.FAILED


CONFIGS = {
    f"models: {{llm: {{api_key: {SECRET}}}}}": True,
    f"auth: {{tokens: [{{name: a, token: {SECRET}}}]}}": True,
    f"profiles: {{a: {{database: {{url: 'postgresql://me:{SECRET}@db/x'}}}}}}": True,
    "models: {llm: {api_key: '${KEY}'}}": False,
    "mcp: {port: 1, max_result_tokens: 900}": False,
}


@pytest.mark.parametrize("text", CONFIGS)
def test_secrets_that_others_can_read_are_noticed(tmp_path: Path, text: str) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(text)
    settings = load_settings(overrides={"home": tmp_path / "home"})
    for mode, readable in ((0o600, False), (0o640, True), (0o604, True)):
        config.chmod(mode)
        found = machine.permissions(settings, config)
        assert (found.status is Status.WARNING) == (CONFIGS[text] and readable)
        assert SECRET not in found.detail
    assert machine.permissions(settings, None).status is Status.OK


def test_checks_run_side_by_side_and_none_for_ever() -> None:
    meet = threading.Barrier(2, timeout=20)

    def together() -> Any:
        meet.wait()
        return well("")

    def breaks() -> Any:
        raise RuntimeError(SECRET)

    def refuses() -> Any:
        raise StorageError("It is away.")

    found = run_checks(
        [
            Check("hangs", threading.Event().wait, seconds=0.01),  # type: ignore[arg-type]
            Check("breaks", breaks),
            Check("refuses", refuses),
            Check("one", together),
            Check("two", together),
        ]
    )
    assert list(found) == ["hangs", "breaks", "refuses", "one", "two"]
    assert "No answer within 0.01 s." in found["hangs"].detail
    assert "RuntimeError" in found["breaks"].detail and SECRET not in found["breaks"].detail
    assert found["refuses"].detail == "It is away."
    assert found["one"].status is found["two"].status is Status.OK
