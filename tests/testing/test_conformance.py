"""Each inherited test fails for the pack that breaks its promise, and says why."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from bad_packs import BAD, GOOD

from eagle_rag_core.testing import PackConformance, run_python

#: What a test of a pack said, by the pack and the test; "" where it passed.
Said = dict[tuple[str, str], str]
_HEALTHY = "healthy"


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Said:
    """All packs, in one process of its own: some of them spoil it."""
    folder = tmp_path_factory.mktemp("packs")
    chosen = [str(GOOD.write(folder, _HEALTHY))]
    for name, pack in BAD.items():
        path = pack.write(folder, name)
        chosen += [f"{path}::TestIt::{test}" for test in pack.failing]
    report = folder / "report.xml"
    options = ["-q", "-p", "no:cacheprovider", f"--rootdir={folder}", f"--junitxml={report}"]
    options.append(f"--basetemp={folder / 'homes'}")
    ran = run_python(
        f"import pytest, sys\nsys.exit(pytest.main({[*options, *chosen]!r}))",
        path=[folder],
        timeout=150,
    )
    assert report.exists(), ran.stdout + ran.stderr
    return _read(report)


def _read(report: Path) -> Said:
    said: Said = {}
    for case in ElementTree.parse(report).iter("testcase"):
        pack = case.get("classname", "").split(".")[0].removeprefix("test_bad")
        failure = next(iter(child for child in case if child.tag in ("failure", "error")), None)
        message = "" if failure is None else f"{failure.get('message')} {failure.text}"
        said[pack, case.get("name", "").partition("[")[0]] = message
    return said


def test_a_sound_pack_passes_every_test(said: Said) -> None:
    own = {test: message for (pack, test), message in said.items() if pack == _HEALTHY}
    assert own.keys() == {name for name in dir(PackConformance) if name.startswith("test_")}
    assert {test: message for test, message in own.items() if message} == {}


CASES = [(name, test) for name, pack in BAD.items() for test in pack.failing]


@pytest.mark.parametrize(("name", "test"), CASES, ids=[f"{name}-{test}" for name, test in CASES])
def test_a_broken_promise_is_found_and_explained(said: Said, name: str, test: str) -> None:
    assert BAD[name].failing[test] in said.get((name, test), "it was not run")


def test_every_inherited_test_has_a_pack_that_fails_it() -> None:
    inherited = {name for name in dir(PackConformance) if name.startswith("test_")}
    assert inherited - {test for _, test in CASES} == NEVER_BROKEN


#: The framework keeps this promise whatever a pack does; the test would tell if it did not.
NEVER_BROKEN = {"test_is_not_imported_unless_enabled"}
