"""What importing and registering a pack does, seen in a fresh process."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest

from eagle_rag_core.testing.conformance.base import Base
from eagle_rag_core.testing.processes import run_python

_LATER = "Import it inside the function that needs it."


class LoadingTests(Base):
    """One fresh process for all of these tests."""

    def test_loads_in_a_fresh_process(self) -> None:
        """Importing and registering it works, and prints nothing."""
        printed = self._probed()["printed"]
        assert not printed, (
            f"Importing or registering the pack prints {printed[:200]!r}. Over stdio that breaks "
            "the protocol; use ctx.logger."
        )

    def test_is_not_imported_unless_enabled(self) -> None:
        """Packs that a deployment does not enable cost nothing."""
        assert not self._probed()["imported_unasked"], (
            "The package is imported although no profile enables it. Something else imports it: "
            "a .pth file, another pack, or a plugin of the core's dependencies."
        )

    def test_importing_it_brings_nothing_heavy(self) -> None:
        """The import of the package itself is cheap."""
        heavy = self._probed()["heavy"]
        assert not heavy, f"Importing the pack imports {', '.join(heavy)}. {_LATER}"

    def test_importing_it_has_no_effects(self) -> None:
        """No file is written, no address reached and no program run."""
        effects = self._probed()["effects"]
        assert not effects, "Importing the pack tries:\n  " + "\n  ".join(effects)

    def test_loading_it_twice_gives_the_same(self) -> None:
        """Hooks make new objects from the same data every time."""
        differs = self._probed()["differs"]
        assert not differs, (
            f"Loading the pack a second time gives different {', '.join(differs)}. Hooks must not "
            "keep state in the module, nor depend on the time or on chance."
        )

    def test_loading_it_leaves_the_process_as_it_was(self) -> None:
        """No threads, log handlers, search paths, variables or handlers of signals remain."""
        left = self._probed()["left"]
        assert not left, (
            f"Loading the pack changes the process: {', '.join(left)}. Start threads inside a "
            "call, log with ctx.logger, and leave the rest to the deployment."
        )

    def test_loads_without_other_packs(self) -> None:
        """Packs do not import each other."""
        others = self._probed()["other_packs"]
        assert not others, (
            f"Loading the pack imports {', '.join(others)}, which may be missing elsewhere. Put "
            "shared code into a distribution that is no pack."
        )

    def _probed(self) -> dict[str, Any]:
        cls = type(self)
        return _probe(cls.pack, json.dumps(dict(cls.options)))


@cache
def _probe(pack: ModuleType, options: str) -> dict[str, Any]:
    probe = "eagle_rag_core.testing.probe"
    ran = run_python(
        f"from {probe} import main\nmain({pack.__name__!r}, {options!r})",
        path=[Path(folder).parent for folder in pack.__path__],
    )
    if ran.returncode:
        _fail(ran.stderr)
    printed, _, report = ran.stdout.rstrip("\n").rpartition("\n")
    return {**json.loads(report), "printed": printed.strip()}


def _fail(stderr: str) -> NoReturn:
    pytest.fail(f"A fresh process cannot import or load the pack:\n{stderr}", pytrace=False)
