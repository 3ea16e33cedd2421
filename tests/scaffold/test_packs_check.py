"""``eagle-rag packs check``: what is found in a pack without running any of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from e2e.product import Deployment, run_cli
from scaffold.wheels import (
    INFO,
    MANIFEST,
    PACKAGE,
    WHEEL,
    Files,
    project_files,
    write_folder,
    write_sdist,
    write_wheel,
)

from eagle_rag_core.testing.checking.checking import check

TOOLS = f"{PACKAGE}/tools.py"
INIT = f"{PACKAGE}/__init__.py"


def changed(path: str, old: str, new: str) -> dict[str, str]:
    text = project_files()[path]
    assert old in text
    return {path: text.replace(old, new)}


def appended(path: str, line: str) -> tuple[dict[str, str], int]:
    """A file with one more line, and its number."""
    text = project_files()[path] + line + "\n"
    return {path: text}, len(text.splitlines())


def found(folder: Path, changes: Files) -> list[str]:
    return [str(finding) for finding in check(write_wheel(folder, changes)).findings]


def test_a_sound_pack_has_no_findings_in_any_form(tmp_path: Path) -> None:
    for path in (write_wheel(tmp_path), write_sdist(tmp_path), write_folder(tmp_path / "source")):
        report = check(path)
        assert (report.ok, report.findings) == (True, ())
        assert (report.name, report.version, report.files) == ("eagle-rag-orders", "0.1.0", 9)
        assert report.packs[0].tools == ("orders_find_mentions",)


def test_nothing_of_the_pack_is_imported(tmp_path: Path) -> None:
    unimportable = {INIT: "raise SystemExit\npack = 1\n", f"{PACKAGE}/.pth": "import os\n"}
    before = set(sys.modules)
    check(write_wheel(tmp_path, unimportable))
    assert not [name for name in set(sys.modules) - before if name.startswith(PACKAGE)]


@pytest.mark.parametrize(
    ("changes", "start"),
    [
        ({f"{INFO}/entry_points.txt": ""}, f"{INFO}/entry_points.txt: error: It has no entry"),
        (
            {f"{INFO}/entry_points.txt": f"[eagle_rag.packs]\norders = {PACKAGE}.pack:pack\n"},
            f"{INFO}/entry_points.txt:2: error: The entry point orders = ",
        ),
        (
            {f"{INFO}/entry_points.txt": f"[eagle_rag.packs]\ncore = {PACKAGE}:pack\n"},
            f"{INFO}/entry_points.txt:2: error: The namespace 'core' is reserved",
        ),
        (
            {f"{INFO}/entry_points.txt": "[eagle_rag.packs]\norders = elsewhere:pack\n"},
            f"{INFO}/entry_points.txt:2: error: There is no package 'elsewhere'",
        ),
        ({MANIFEST: None}, f"{PACKAGE}/: error: There is no eagle-pack.toml"),
        ({MANIFEST: "schema = ["}, f"{MANIFEST}: error: eagle-pack.toml is not valid TOML"),
        (
            changed(MANIFEST, 'namespace = "orders"', 'namespace = "sales"'),
            f"{MANIFEST}: error: eagle-pack.toml says namespace 'sales'",
        ),
        (
            changed(MANIFEST, ">=1.0,<2", ">=9"),
            f"{MANIFEST}:7: error: It needs pack API >=9",
        ),
        (
            changed(MANIFEST, "Find the passages that", "Always call this first:"),
            f"{MANIFEST}:13: error: The summary of tool 'orders_find_mentions'",
        ),
        (
            changed(MANIFEST, 'title = "Orders"', 'title = "See https://example.org"'),
            f"{MANIFEST}:6: error: The title of the pack",
        ),
        (
            {
                f"{INFO}/METADATA": "Name: eagle-rag-orders\nVersion: 0.1.0\n"
                "Requires-Dist: eagle-rag-core>=99\n"
            },
            f"{INFO}/entry_points.txt: error: It requires eagle-rag-core >=99",
        ),
        (
            {f"{INFO}/METADATA": "Name: eagle-rag-orders\nVersion: 0.1.0\n"},
            "warning: It does not require eagle-rag-core",
        ),
        (
            {
                f"{INFO}/METADATA": "Name: eagle-rag-orders\nVersion: 0.1.0\n"
                "Requires-Dist: eagle-rag-core==0.1.0\n"
            },
            f"{INFO}/entry_points.txt: warning: It requires one version of eagle-rag-core",
        ),
        ({f"{PACKAGE}/options.py": None}, f"{MANIFEST}: error: options = "),
        ({f"{PACKAGE}/options.py": "x = 1"}, f"{MANIFEST}: warning: options = "),
        ({INIT: "x = 1"}, f"{INIT}: warning: The entry point is "),
        (
            changed(TOOLS, "Passages of the ingested documents that", "Deletes documents that"),
            f"{TOOLS}:31: error: The description of tool 'orders_find_mentions'",
        ),
        (
            changed(TOOLS, 'namespace="orders"', 'namespace="sales"'),
            f"{TOOLS}:31: error: The tool is in the namespace 'sales'",
        ),
        ({f"{PACKAGE}/py.typed": None}, f"{PACKAGE}/: hint: There is no py.typed"),
        ({"tests/__init__.py": ""}, "tests/: warning: It would be installed as the top-level"),
        ({"orders_tools.py": ""}, "hint: It brings 2 top-level packages: eagle_rag_orders, "),
        ({"start.pth": "import os"}, "start.pth: error: Python runs it at every start"),
        ({"sitecustomize.py": ""}, "sitecustomize.py: error: Python runs it at every start"),
        ({f"{PACKAGE}/fast.so": b"\x7fELF"}, f"{PACKAGE}/fast.so: warning: It is compiled code"),
        ({f"{PACKAGE}/x.pyc": b"\0"}, f"{PACKAGE}/x.pyc: error: It is code without its source"),
        (
            {f"{PACKAGE}/__pycache__/x.pyc": b"\0"},
            f"{PACKAGE}/__pycache__/x.pyc: warning: It is bytecode",
        ),
        (
            {f"{PACKAGE}-0.1.0.data/scripts/run": "#!python"},
            f"{PACKAGE}-0.1.0.data/scripts/run: warning: It is installed outside",
        ),
        (
            {f"{PACKAGE}/long.py": "#" * 1_100_000},
            f"{PACKAGE}/long.py: warning: It has 1100000 bytes and was not looked through",
        ),
    ],
)
def test_each_fault_is_named_with_its_place(tmp_path: Path, changes: Files, start: str) -> None:
    assert any(line.startswith(start) for line in found(tmp_path, changes)), found(
        tmp_path, changes
    )


def test_the_source_is_held_to_the_rules_for_packs(tmp_path: Path) -> None:
    changes, line = appended(TOOLS, "import subprocess")
    (finding,) = found(tmp_path, changes)
    assert finding.startswith(f"{TOOLS}:{line}: error: subprocess")


def test_what_is_installed_beside_the_package_is_looked_through_too(tmp_path: Path) -> None:
    hidden = {f"{PACKAGE}-0.1.0.data/purelib/{PACKAGE}/more.py": "import subprocess\n"}
    assert found(tmp_path, hidden)[0].startswith(f"{PACKAGE}/more.py:1: error: subprocess")


def test_tools_are_those_of_the_manifest(tmp_path: Path) -> None:
    renamed = changed(TOOLS, 'name="find_mentions"', 'name="find_codes"')
    error, warning = found(tmp_path, renamed)
    assert error.startswith(f"{TOOLS}:31: error: The manifest does not declare the tool 'find_c")
    assert warning.startswith(f"{MANIFEST}: warning: It declares the tool 'find_mentions'")


def test_names_that_only_running_it_shows_are_not_guessed_at(tmp_path: Path) -> None:
    assert found(tmp_path, changed(TOOLS, 'name="find_mentions"', "name=NAME")) == []


def test_code_that_cannot_be_parsed_is_an_error_and_hides_nothing(tmp_path: Path) -> None:
    deep = {f"{PACKAGE}/deep.py": "x = " + "(" * 5000 + ")" * 5000, f"{PACKAGE}/bad.py": "def"}
    places = [line.partition(": error")[0] for line in found(tmp_path, deep)]
    assert f"{PACKAGE}/bad.py:1" in places
    assert any(place.startswith(f"{PACKAGE}/deep.py") for place in places)


def test_a_source_folder_is_read_as_its_wheel_would_be(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "1", {f"{PACKAGE}/__pycache__/x.pyc": b"\0"})
    (folder / PACKAGE / "link.py").symlink_to("/etc/hostname")
    assert check(folder).findings == ()
    excluded = changed(
        "pyproject.toml", "[tool.hatch", '[tool.hatch.build]\nexclude = ["*.toml"]\n[tool.hatch'
    )
    (left_out,) = check(write_folder(tmp_path / "2", excluded)).findings
    assert "hatchling will leave eagle-pack.toml out" in left_out.reason
    told = changed(
        "pyproject.toml", f'packages = ["{PACKAGE}"]', f'packages = ["{PACKAGE}", "tests"]'
    )
    files = {**told, "tests/__init__.py": ""}
    (tests,) = check(write_folder(tmp_path / "3", files)).findings
    assert (tests.severity, tests.file) == ("warning", "tests/")
    entry = changed("pyproject.toml", f'"{PACKAGE}:pack"', f'"{PACKAGE}"')
    first, *_ = check(write_folder(tmp_path / "4", entry)).findings
    assert (first.file, first.line > 0) == ("pyproject.toml", True)


@pytest.mark.parametrize(
    "text", ["[project", "x = 1", "[project]\nname = 3", "tool = 1\n[project]\nname = 'x'"]
)
def test_a_project_that_cannot_be_read_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert not check(tmp_path).ok


def test_the_command_prints_findings_and_exits_with_1_on_errors_alone(
    deployment: Deployment, tmp_path: Path
) -> None:
    sound = run_cli(deployment, "packs", "check", str(write_wheel(tmp_path)))
    assert (sound.returncode, sound.stdout.splitlines()[-1]) == (0, "Nothing is wrong.")
    warned = write_wheel(tmp_path, {"tests/__init__.py": "", f"{PACKAGE}/py.typed": None})
    result = run_cli(deployment, "packs", "check", str(warned))
    assert (result.returncode, result.stdout.splitlines()[-1]) == (0, "1 warning, 1 hint")
    broken = run_cli(deployment, "packs", "check", str(write_wheel(tmp_path, {MANIFEST: None})))
    assert (broken.returncode, broken.stdout.splitlines()[-1]) == (1, "1 error")


def test_the_report_is_the_same_as_json(deployment: Deployment, tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, {"tests/__init__.py": ""})
    shown = json.loads(run_cli(deployment, "packs", "check", str(wheel), "--json").stdout)
    assert (shown["ok"], shown["kind"], shown["name"]) == (True, "wheel", "eagle-rag-orders")
    assert shown["packs"][0]["namespace"] == "orders"
    (finding,) = shown["findings"]
    assert (finding["severity"], finding["file"], finding["line"]) == ("warning", "tests/", 0)


def test_a_renamed_wheel_is_told(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path)
    for name in ("orders.whl", WHEEL.replace("0.1.0", "0.2.0"), WHEEL.replace("orders", "sales")):
        other = wheel.rename(tmp_path / name)
        (finding,) = check(other).findings
        assert "Its file is" in finding.reason
        wheel = other
