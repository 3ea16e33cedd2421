"""``eagle-rag packs new``: what it writes is a pack that loads, and code an expert would write."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from e2e.clean_environments import ROOT
from e2e.product import CLI, PATIENCE, Deployment, run_cli
from testing.plugin_runs import run_pytest

from eagle_rag_core.plugins.manifest import parse_manifest
from eagle_rag_core.scaffold.backends import BACKENDS
from eagle_rag_core.scaffold.names import pack_names
from eagle_rag_core.scaffold.rendering import core_requirement, render, write
from eagle_rag_core.testing.checking.checking import check

LONGEST = "pumps_" + "x" * 30


def generated(folder: Path, name: str = "orders", *, backend: str = "hatchling") -> Path:
    """A pack in a folder of its own."""
    project = folder / f"eagle-rag-{name}"
    write(render(pack_names(name), BACKENDS[backend]), project)
    return project


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_is_told_to_ship_the_manifest(tmp_path: Path, backend: str) -> None:
    project = generated(tmp_path, backend=backend)
    report = check(project)
    assert report.findings == ()
    assert report.packs[0].tools == ("orders_find_mentions",)
    told = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
    assert told["build-system"]["build-backend"] == BACKENDS[backend].module


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_wheel_of_every_backend_is_sound(tmp_path: Path, backend: str) -> None:
    pytest.importorskip(BACKENDS[backend].module.partition(".")[0])
    project = generated(tmp_path, backend=backend)
    hook = f"import {BACKENDS[backend].module} as b; b.build_wheel({str(tmp_path)!r})"
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # uv_build is a binary
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", hook],
        cwd=project,
        env={**os.environ, "PATH": tools},
        check=True,
        capture_output=True,
        timeout=60,
    )
    (wheel,) = tmp_path.glob("*.whl")
    report = check(wheel)
    assert report.findings == ()
    assert report.files == 9


def test_its_own_tests_pass(tmp_path: Path) -> None:
    ran = run_pytest(generated(tmp_path))
    assert "passed" in ran


@pytest.mark.parametrize("name", ["orders", "x", LONGEST])
def test_the_code_is_clean_under_ruff(tmp_path: Path, name: str) -> None:
    project = generated(tmp_path, name)
    for command in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--no-cache", "."]
        ran = subprocess.run(ruff, cwd=project, capture_output=True, text=True, timeout=60)
        assert ran.returncode == 0, ran.stdout


def test_the_code_is_clean_under_strict_mypy(tmp_path: Path) -> None:
    project = generated(tmp_path)
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(ROOT / ".mypy_cache" / "scaffold")],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "MYPYPATH": str(ROOT)},
    )
    assert ran.returncode == 0, ran.stdout


def test_no_placeholder_is_left(tmp_path: Path) -> None:
    contents = render(pack_names("orders"), BACKENDS["uv"])
    left = {
        path
        for path, text in contents.items()
        if "__package__" in path or "$" in text.replace("${{ matrix.python }}", "")
    }
    assert left == set()
    assert ".github/workflows/tests.yml" in contents and ".gitignore" in contents


def test_a_title_with_quotes_stays_one(tmp_path: Path) -> None:
    title = 'Orders "and" \\ more'
    contents = render(pack_names("orders", title=title), BACKENDS["hatchling"])
    manifest = parse_manifest(contents["eagle_rag_orders/eagle-pack.toml"])
    assert manifest.pack.title == title
    assert tomllib.loads(contents["pyproject.toml"])["project"]["description"] == title


@pytest.mark.parametrize(
    ("version", "required"),
    [
        ("0.1.0", "eagle-rag-core>=0.1,<1"),
        ("1.4.2", "eagle-rag-core>=1.4,<2"),
        ("2.0.0rc1", "eagle-rag-core>=2.0,<3"),
    ],
)
def test_the_core_is_required_up_to_the_next_major_release(version: str, required: str) -> None:
    assert core_requirement(version) == required


def test_the_command_takes_defaults_where_nobody_can_be_asked(deployment: Deployment) -> None:
    folder = deployment.home.parent
    result = run_cli(deployment, "packs", "new", "orders")
    assert result.returncode == 0, result.stderr
    assert "pip install -e 'eagle-rag-orders[dev]'" in result.stdout
    assert (folder / "eagle-rag-orders" / "eagle_rag_orders" / "pack.py").is_file()


def test_the_command_asks_in_a_terminal(deployment: Deployment) -> None:
    leader, follower = pty.openpty()
    os.write(leader, b"acme\n\nsetuptools\n")
    ran = subprocess.run(
        [*CLI, "packs", "new", "orders"],
        stdin=follower,
        capture_output=True,
        text=True,
        cwd=deployment.home.parent,
        env=deployment.environ,
        timeout=PATIENCE,
    )
    os.close(leader)
    os.close(follower)
    assert ran.returncode == 0, ran.stderr
    project = deployment.home.parent / "eagle-rag-orders"
    (entries,) = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"][
        "entry-points"
    ].values()
    assert entries == {"acme": "eagle_rag_orders:pack"}
    assert 'title = "Acme"' in (project / "eagle_rag_orders/eagle-pack.toml").read_text("utf-8")
    assert "setuptools.build_meta" in (project / "pyproject.toml").read_text("utf-8")


def test_an_installed_pack_keeps_its_namespace(deployment: Deployment) -> None:
    result = run_cli(deployment, "packs", "new", "biomed")
    assert result.returncode == 1
    assert "'biomed' is installed" in result.stderr


@pytest.mark.parametrize("there", ["a file in it", "a file", "a link"])
def test_nothing_that_exists_is_written_over(
    deployment: Deployment, tmp_path: Path, there: str
) -> None:
    target = tmp_path / "eagle-rag-orders"
    if there == "a file in it":
        target.mkdir()
        (target / "README.md").write_text("mine")
    elif there == "a file":
        target.write_text("mine")
    else:
        (tmp_path / "elsewhere").mkdir()
        target.symlink_to("elsewhere")
    result = run_cli(deployment, "packs", "new", "orders", "--yes", cwd=tmp_path)
    assert result.returncode == 1
    assert "exists already" in result.stderr
    assert not list(tmp_path.rglob("pyproject.toml"))


def test_an_empty_folder_may_be_filled(deployment: Deployment, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    result = run_cli(deployment, "packs", "new", "orders", "--yes", "--path", ".", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert (folder / "pyproject.toml").is_file()


def test_the_template_is_in_the_wheel_and_the_sdist(tmp_path: Path) -> None:
    into = repr(str(tmp_path))
    hooks = f"import hatchling.build as b; b.build_wheel({into}); b.build_sdist({into})"
    subprocess.run(
        [sys.executable, "-c", hooks], cwd=ROOT, check=True, capture_output=True, timeout=120
    )
    template = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "eagle_rag_core/scaffold/template").rglob("*.tmpl")
    }
    assert len(template) == 17
    (wheel,), (sdist,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        assert template <= set(archive.namelist())
    with tarfile.open(sdist) as archive:
        assert template <= {name.partition("/")[2] for name in archive.getnames()}
