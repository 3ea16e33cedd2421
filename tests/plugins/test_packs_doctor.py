"""``eagle-rag packs doctor``: what is wrong with installed packs, and what to do."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from e2e.product import Deployment, run_cli

from eagle_rag_core.testing.fake_distributions import (
    DECLARED,
    pack_manifest,
    write_distribution,
    write_pack,
)

UNIMPORTABLE = "raise SystemExit('imported')"


class Site:
    """Folders with packs in them, and the doctor who looks at them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.front, self.back = folder / "front", folder / "back"
        self.front.mkdir()
        self.back.mkdir()

    def pack(self, namespace: str, *, back: bool = False, **more: Any) -> None:
        write_pack(self.back if back else self.front, namespace, code=UNIMPORTABLE, **more)

    def doctor(self, *arguments: str, **settings: object) -> tuple[int, str]:
        """Exit code and output, under settings in which ``__`` stands for the dot."""
        path = os.pathsep.join([str(self.front), str(self.back)])
        home = Deployment(self.folder / "home", {}, Path(path)).with_settings(**settings)
        result = run_cli(home, "packs", "doctor", *arguments)
        assert (result.stdout or result.stderr) and "Traceback" not in result.stderr
        return result.returncode, result.stdout

    def report(self, **settings: object) -> tuple[int, dict[str, Any]]:
        code, output = self.doctor("--json", **settings)
        return code, dict(json.loads(output))

    def findings(self, subject: str, **settings: object) -> list[tuple[str, str, str]]:
        """Severity, fault and remedy of what is said about a subject."""
        _, report = self.report(**settings)
        return [
            (finding["severity"], finding["what"], finding["remedy"])
            for finding in report["findings"]
            if finding["subject"] == subject
        ]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_a_sound_pack_is_no_finding(site: Site) -> None:
    site.pack("demo")
    code, report = site.report(profile="demo")
    assert (code, report["ok"]) == (0, True)
    assert report["default_namespace"] == "demo"
    assert report["enabled"] == ["demo"]
    assert Path(report["prefix"]).is_dir()
    (pack,) = [pack for pack in report["packs"] if pack["namespace"] == "demo"]
    assert pack == {
        "namespace": "demo",
        "distribution": "eagle-rag-demo",
        "version": "1.0",
        "state": "discovered",
        "location": str(site.front),
        "editable": False,
        "enabled": True,
    }
    assert not [f for f in report["findings"] if f["subject"] in ("demo", "eagle-rag-demo")]


@pytest.mark.parametrize("enabled", [True, False])
def test_a_broken_pack_is_a_problem_only_where_it_is_enabled(site: Site, enabled: bool) -> None:
    """Reported as simonw/llm#1280."""
    site.pack("demo", manifest="")
    settings: dict[str, object] = {"plugins__enabled": ["demo"]} if enabled else {}
    code, report = site.report(**settings)
    assert (code, report["ok"]) == ((1, False) if enabled else (0, True))
    ((severity, what, remedy),) = site.findings("demo", **settings)
    assert severity == ("problem" if enabled else "note")
    assert what.startswith("invalid. eagle-pack.toml is not in the installed package")
    assert remedy.startswith("pip install --force-reinstall eagle-rag-demo.")


def test_people_read_what_is_wrong_and_what_to_do(site: Site) -> None:
    site.pack("demo", manifest="schema = [")
    code, text = site.doctor("--namespace", "demo")
    assert code == 1
    assert "problem: demo: invalid. eagle-pack.toml is not valid TOML" in text
    assert "    pip install --force-reinstall eagle-rag-demo." in text
    assert "eagle-rag-demo 1.0" in text and str(site.front) in text


def test_a_shadowed_copy_is_named_with_both_places(site: Site) -> None:
    """Reported as vllm-project/vllm#43987."""
    site.pack("demo", version="2.0")
    site.pack("demo", back=True, version="1.0")
    ((severity, what, remedy),) = site.findings("demo", profile="demo")
    assert severity == "note"
    assert what.startswith(f"shadowed. Another copy, version 2.0, comes first: {site.front}.")
    assert remedy.startswith("pip uninstall eagle-rag-demo until")
    ((severity, what, _),) = site.findings("eagle-rag-demo", profile="demo")
    assert severity == "note"
    assert f"Found 2 times on sys.path: 2.0 in {site.front}, 1.0 in {site.back}." in what


def test_an_enabled_pack_hidden_by_a_stale_copy_is_a_problem(site: Site) -> None:
    """Reported as vllm-project/vllm#43987."""
    write_distribution(site.front, "eagle-rag-demo", "0.9")
    site.pack("demo", back=True)
    code, report = site.report(profile="demo")
    assert code == 1
    (finding,) = [f for f in report["findings"] if f["severity"] == "problem"]
    assert "version 0.9" in finding["what"] and str(site.front) in finding["what"]


def test_a_namespace_claimed_twice_is_said_of_both(site: Site) -> None:
    """Reported as pytest-dev/pytest#10072."""
    site.pack("demo", distribution="eagle-rag-demo")
    site.pack("demo", distribution="other-demo", package="other_pack")
    found = site.findings("demo", plugins__enabled=["demo"])
    assert [severity for severity, _, _ in found] == ["problem"] * 2
    assert all("eagle-rag-demo 1.0 and other-demo 1.0" in what for _, what, _ in found)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"plugins__default_namespace": "dmo"}, "did you mean 'demo', from eagle-rag-demo?"),
        ({"plugins__enabled": ["eagle-rag-demo"]}, "did you mean 'demo', from eagle-rag-demo?"),
        ({"plugins__require": {"dmeo": ">=1"}}, "plugins.require names 'dmeo'"),
    ],
    ids=["default", "enabled", "require"],
)
def test_settings_that_name_no_pack_are_a_problem(
    site: Site, settings: dict[str, object], words: str
) -> None:
    """Reported as pytest-dev/pytest#14135."""
    site.pack("demo")
    code, _ = site.report(**settings)
    assert code == 1
    ((severity, what, _),) = site.findings("settings", **settings)
    assert severity == "problem" and words in what


def test_a_required_version_that_is_not_there_is_a_problem(site: Site) -> None:
    site.pack("demo")
    settings: dict[str, object] = {
        "plugins__enabled": ["demo"],
        "plugins__require": {"demo": ">=2"},
    }
    ((severity, what, _),) = site.findings("demo", **settings)
    assert severity == "problem"
    assert "plugins.require asks for >=2; 1.0 is installed." in what


def test_a_disabled_pack_is_a_wish_unless_the_namespace_needs_it(site: Site) -> None:
    site.pack("demo")
    ((severity, _, _),) = site.findings(
        "demo", plugins__enabled=["demo"], plugins__disabled=["demo"]
    )
    assert severity == "note"
    ((severity, _, _),) = site.findings("demo", profile="demo", plugins__disabled=["demo"])
    assert severity == "problem"


def test_what_a_pack_needs_and_long_names_are_notes(site: Site) -> None:
    long = DECLARED.replace("query_things", "query_things_with_a_rather_long_name")
    site.pack("demo", manifest=pack_manifest("demo", more=f'{long}\n[needs]\nenv = ["DEMO_KEY"]'))
    found = site.findings("demo", profile="demo")
    assert [severity for severity, _, _ in found] == ["note", "note"]
    text = " ".join(what for _, what, _ in found)
    assert "DEMO_KEY" in text
    assert "demo_query_things_with_a_rather_long_name has 41 characters" in text


def test_a_distribution_that_cannot_be_read_is_named(site: Site) -> None:
    """Reported as python/cpython#100455."""
    broken = write_distribution(
        site.front, "eagle-rag-broken", entry_points=b"[eagle_rag.packs]\n\xff = x:y"
    )
    ((severity, what, _),) = site.findings(str(broken))
    assert severity == "note" and "cannot be read" in what
