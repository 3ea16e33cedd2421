"""Sources that cannot or may not be ingested: refused in the call, or failed with a reason."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from e2e import rows
from e2e.answers import assert_clean
from e2e.product import Caller, Deployment
from e2e.servers import Launcher

LIMIT = 4000
#: What callers get for whatever lies outside, whether it exists or not.
OUTSIDE = "outside the folders this server may read"


@pytest.fixture(scope="module", params=["stdio", "http"])
def face(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def home(face: str, tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """A home with one document, and a secret beside it."""
    home = Deployment(tmp_path_factory.mktemp(face) / "home", {"ingest.max_bytes": LIMIT})
    (home.home.parent / "secret.md").write_text("# Secret\n\nThe launch code.\n")
    (home.inbox / "otters.md").write_text("# Otters\n\nSea otters eat urchins.\n")
    return home


@pytest.fixture(scope="module")
def server(face: str, home: Deployment, shared_launcher: Launcher) -> Caller:
    server: Caller = getattr(shared_launcher, face)(home)
    server.add("otters.md")
    return server


def refuse(server: Caller, home: Deployment, source: str, **more: object) -> dict[str, object]:
    """See that a call refuses a source and leaves nothing behind; its error."""
    before = rows.jobs(home)
    reply = server.call("core_ingest", source_uri=source, kb_name="fresh", **more)
    error = reply.error
    assert_clean(reply, home)
    assert rows.jobs(home) == before
    assert rows.rows(home, "SELECT name FROM kbs") == [("default",)]
    assert server.search("urchins")
    return error


def fail(server: Caller, home: Deployment, name: str) -> str:
    """See that a job fails and leaves no document behind; its reason."""
    job_id = server.ingest(name)
    assert server.finish(job_id)["status"] == "failed"
    reply = server.call("core_get_job", job_id=job_id)
    assert not reply.is_error  # asking worked; the answer is that the job failed
    assert_clean(reply, home)
    assert rows.count(home, "SELECT count(*) FROM documents") == 1
    assert rows.leftovers(home) == {}
    return str(reply.payload["error"])


def test_a_missing_file_is_refused(server: Caller, home: Deployment) -> None:
    error = refuse(server, home, "missing.md")
    assert (error["code"], error["error"]) == (
        "source_not_found",
        "FetchError: missing.md does not exist.",
    )


def test_an_empty_file_is_refused(server: Caller, home: Deployment) -> None:
    (home.inbox / "empty.md").touch()
    assert refuse(server, home, "empty.md")["code"] == "empty_document"


def test_a_huge_file_is_refused_with_the_setting_to_raise(server: Caller, home: Deployment) -> None:
    (home.inbox / "huge.md").write_bytes(b"a" * (LIMIT + 1))
    error = refuse(server, home, "huge.md")
    assert error["code"] == "source_too_large"
    assert f"{LIMIT} bytes" in str(error["error"]) and "ingest.max_bytes" in str(error["error"])


def test_a_folder_is_refused(server: Caller, home: Deployment) -> None:
    (home.inbox / "folder").mkdir(exist_ok=True)
    assert refuse(server, home, "folder")["code"] == "source_unreadable"


def test_a_pipe_is_refused_without_waiting_for_its_writer(server: Caller, home: Deployment) -> None:
    if not (home.inbox / "pipe.md").exists():
        os.mkfifo(home.inbox / "pipe.md")
    assert refuse(server, home, "pipe.md")["code"] == "source_unreadable"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads files of any mode")
def test_an_unreadable_file_is_refused(server: Caller, home: Deployment) -> None:
    path = home.inbox / "private.md"
    path.write_text("# Private\n")
    path.chmod(0)
    error = refuse(server, home, "private.md")
    assert error["code"] == "source_unreadable"
    assert "may not be read by the user" in str(error["error"])


def _absolute(home: Path) -> str:
    return str(home.parent / "secret.md")


def _dots(home: Path) -> str:
    return "../../secret.md"


def _dots_inside(home: Path) -> str:
    return f"{home}/inbox/x/../../../secret.md"


def _symlink(home: Path) -> str:
    link = home / "inbox" / "link.md"
    link.unlink(missing_ok=True)
    link.symlink_to(home.parent / "secret.md")
    return "link.md"


def _linked_folder(home: Path) -> str:
    link = home / "inbox" / "linked"
    link.unlink(missing_ok=True)
    link.symlink_to(home.parent)
    return "linked/secret.md"


def _uri(home: Path) -> str:
    return (home.parent / "secret.md").as_uri()


def _encoded(home: Path) -> str:
    return f"file://{home}/inbox/%2e%2e/%2e%2e/secret.md"


def _missing(home: Path) -> str:
    return "/no/such/file.md"


def _environ(home: Path) -> str:
    return "/proc/self/environ"


def _catalog(home: Path) -> str:
    return str(home / "catalog.db")


@pytest.mark.parametrize(
    "place",
    [
        _absolute,
        _dots,
        _dots_inside,
        _symlink,
        _linked_folder,
        _uri,
        _encoded,
        _missing,
        _environ,
        _catalog,
    ],
)
def test_paths_outside_the_allowed_folders_are_refused(
    server: Caller, home: Deployment, place: Callable[[Path], str]
) -> None:
    error = refuse(server, home, place(home.home))
    assert error["code"] == "path_not_allowed"
    assert OUTSIDE in str(error["error"])
    assert server.search("launch code") == []


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/",
        "http://localhost/admin",
        "http://10.1.2.3/",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/",
        "http://[::ffff:192.168.0.1]/",
        "http://2130706433/",
        "http://0x7f.1/",
    ],
)
def test_private_addresses_are_refused(server: Caller, home: Deployment, url: str) -> None:
    error = refuse(server, home, url)
    assert error["code"] == "url_not_allowed"
    assert "public internet" in str(error["error"])


@pytest.mark.parametrize(
    "source",
    ["", "   ", "~/notes.md", "ftp://example.org/x", "http://user:pw@example.org/", "a\0b", "\n"],
)
def test_what_is_no_source_is_refused(server: Caller, home: Deployment, source: str) -> None:
    assert refuse(server, home, source)["code"] == "invalid_argument"


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("noise.md", random.Random(7).randbytes(2000), "binary data"),
        ("noise", bytes(range(256)), "binary data"),
        ("blank.md", b" \n\n ", "no text"),
        ("cut.pdf", b"%PDF-1.7 and then nothing", "cut off"),
        ("cut.docx", b"PK\x03\x04 and then nothing", "damaged or cut-off"),
    ],
)
def test_a_file_that_cannot_be_read_fails_its_job_with_a_reason(
    server: Caller, home: Deployment, name: str, data: bytes, words: str
) -> None:
    (home.inbox / name).write_bytes(data)
    assert words in fail(server, home, name)
    assert server.search("urchins")


def test_a_bad_source_does_not_block_the_next_try(
    deployment: Deployment, launcher: Launcher
) -> None:
    path = deployment.inbox / "mended.md"
    path.write_bytes(b"\0\1\2" * 200)
    server = launcher.stdio(deployment)
    assert server.finish(server.ingest(path))["status"] == "failed"
    path.write_text("# Mended\n\nNow it reads well.\n")
    server.add(path)
    assert server.search("mended") == ["# Mended\n\nNow it reads well."]
