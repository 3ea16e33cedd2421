"""An environment as a pack's author has it: the core is installed, the checkout is not on the path.

What the core requires is lent by the environment that runs the tests, so that nothing has to be
downloaded. Packs and the core are installed by pip, from wheels.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Not lent: what has to be installed properly, and what changes the path.
_OWN = ("eagle_rag", "_editable_impl", "__editable__", "__pycache__")


@dataclass(frozen=True)
class Environment:
    """A virtual environment with a home folder of its own."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def environ(self) -> dict[str, str]:
        """Of a shell in which the environment is activated; pip works offline."""
        dropped = ("EAGLE_RAG_", "PYTHON", "PIP_", "XDG_", "COV_")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
        tools = Path(sys.executable).parent  # of other distributions: fastmcp, ruff, …
        return {
            **kept,
            "HOME": str(self.folder.parent),
            "PATH": os.pathsep.join([str(self.folder / "bin"), str(tools), kept["PATH"]]),
            "VIRTUAL_ENV": str(self.folder),
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # that means: do not isolate
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def run(self, *command: str | Path, cwd: Path) -> str:
        """Run a command to its end; what it wrote to stdout.

        :raises AssertionError: it failed, with everything it wrote.
        """
        ran = subprocess.run(
            [*map(str, command)],
            cwd=cwd,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
        assert ran.returncode == 0, f"{command} failed:\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout

    def installed(self, *wheels: Path) -> None:
        """Install wheels whose requirements are there."""
        command = (self.python, "-m", "pip", "install", "--quiet", "--no-compile")
        self.run(*command, *wheels, cwd=self.folder)


def clean_environment(folder: Path) -> Environment:
    """A new environment with the core of this checkout, installed from its wheel."""
    environment = Environment(folder / "venv")
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", environment.folder], check=True, timeout=60
    )
    lent = folder / "lent"
    lent.mkdir()
    site = Path(sysconfig.get_path("purelib"))
    for entry in site.iterdir():
        if not entry.name.startswith(_OWN) and entry.suffix != ".pth":
            (lent / entry.name).symlink_to(entry)
    (own_site,) = environment.folder.glob("lib/python*/site-packages")
    (own_site / "lent.pth").write_text(f"{lent}\n", "utf-8")
    for tool in ("pip", "pytest"):  # lent packages have no scripts here
        script = environment.folder / "bin" / tool
        script.write_text(f'#!/bin/sh\nexec "{environment.python}" -m {tool} "$@"\n', "utf-8")
        script.chmod(0o755)
    environment.installed(build_wheel(ROOT, folder / "core"))
    return environment


def build_wheel(project: Path, folder: Path) -> Path:
    """Build a project's wheel into ``folder`` with its own backend, without an index."""
    subprocess.run(
        [
            *(sys.executable, "-W", "ignore", "-m", "build", "--wheel", "--no-isolation"),
            *("--outdir", str(folder), str(project)),
        ],
        capture_output=True,
        check=True,
        timeout=120,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel
