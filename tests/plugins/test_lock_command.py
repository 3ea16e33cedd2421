"""``packs lock`` and ``--locked`` as people use them: real processes, real packs."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e.packs import install_pack
from e2e.product import STDIO, Deployment, free_port, run, run_cli
from e2e.servers import Launcher

from eagle_rag_core.testing.fake_distributions import pack_code, pack_manifest

#: A pack whose tool is described by its environment, and that prints when it is imported.
MOODY = pack_code("moody", at_import="import os\nprint('hello from the pack')").replace(
    'description="Finds things."', 'description=os.environ.get("MOOD", "Finds things.")'
)


@pytest.fixture
def moody(deployment: Deployment) -> Deployment:
    site = deployment.home.parent / "site"
    install_pack(site, "moody", body=MOODY)
    return Deployment(deployment.home, {"profile": "moody"}, site)


@pytest.fixture
def lock(moody: Deployment) -> Path:
    """The lock of that deployment."""
    result = run_cli(moody, "packs", "lock")
    assert result.returncode == 0, result.stderr
    return moody.home.parent / "eagle-tools.lock"


def test_a_lock_is_written_and_holds(moody: Deployment, lock: Path) -> None:
    assert "moody_query_things" in lock.read_text("utf-8")
    result = run_cli(moody, "packs", "lock", "--check")
    assert (result.returncode, result.stdout) == (0, "")
    assert "Imported: core, moody." in result.stderr
    assert "hello from the pack" in result.stderr, "stdout is for the changes"
    assert not moody.home.exists(), "locking needs no library"


def test_a_check_tells_changes_and_writes_nothing(
    moody: Deployment, lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = lock.read_bytes()
    monkeypatch.setenv("MOOD", "Finds other things.")
    result = run_cli(moody, "packs", "lock", "--check")
    assert result.returncode == 1
    assert result.stdout.splitlines() == [
        "~ tool moody_query_things",
        "    description: 'Finds things.' -> 'Finds other things.'",
    ]
    assert lock.read_bytes() == before


def test_locking_again_tells_and_accepts_changes(
    moody: Deployment, lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOD", "Finds other things.")
    monkeypatch.setenv("EAGLE_RAG_PLUGINS__LOCKED", str(lock))
    result = run_cli(moody.with_settings(plugins__locked=str(lock)), "packs", "lock")
    assert result.returncode == 0, result.stderr
    assert "'Finds things.' -> 'Finds other things.'" in result.stdout
    assert run_cli(moody, "packs", "lock", "--check").returncode == 0


def test_a_damaged_lock_is_replaced(moody: Deployment, lock: Path) -> None:
    lock.write_text("{", "utf-8")
    assert run_cli(moody, "packs", "lock", "--check").returncode == 1
    result = run_cli(moody, "packs", "lock")
    assert result.returncode == 0
    assert "is damaged" in result.stderr
    assert run_cli(moody, "packs", "lock", "--check").returncode == 0


@pytest.mark.parametrize(
    "face",
    [("serve", "--port", "0"), ("mcp", "--port", "0"), ("mcp", "--stdio"), ("worker",)],
    ids=" ".join,
)
def test_nothing_starts_with_another_surface(
    moody: Deployment, lock: Path, face: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOD", "Finds other things.")
    result = run_cli(moody, *face, "--locked")
    assert (result.returncode, result.stdout) == (1, "")
    assert "Error [lock_mismatch]: " in result.stderr
    assert "description: 'Finds things.' -> 'Finds other things.'" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_setting_holds_every_start_to_the_lock(
    moody: Deployment, lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = moody.with_settings(plugins__locked=str(lock))
    assert run_cli(home, "jobs").returncode == 0
    monkeypatch.setenv("MOOD", "Finds other things.")
    for command in (STDIO, (*STDIO[:1], "-m", "eagle_rag_core.cli.main", "jobs")):
        result = run(command, home)
        assert result.returncode == 1
        assert "Error [lock_mismatch]: " in result.stderr


def test_a_tool_that_is_gone_and_another_version_refuse_the_start(
    moody: Deployment, lock: Path
) -> None:
    site = moody.home.parent / "later"
    install_pack(site, "moody", body="pack = object()", text=pack_manifest("moody", more=""))
    later = Deployment(moody.home, moody.settings, site)
    result = run_cli(later, "packs", "lock", "--check")
    assert "- tool moody_query_things" in result.stdout.splitlines()
    result = run_cli(later, "serve", "--port", str(free_port()), "--locked", str(lock))
    assert result.returncode == 1
    assert "~ distribution eagle-rag-moody\n      manifest: " in result.stderr


def test_what_is_locked_is_served(moody: Deployment, lock: Path, launcher: Launcher) -> None:
    server = launcher.http(moody, "--locked", str(lock))
    assert "moody_query_things" in server.tools()
    assert server.call("moody_query_things", query="otters").payload == [{"name": "otters"}]
