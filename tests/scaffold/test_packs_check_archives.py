"""Archives that are made to do harm are refused, with the reason, before anything is unpacked."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest
from e2e.product import Deployment, run_cli
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scaffold.wheels import INFO, PACKAGE, WHEEL, record_of, wheel_files, write_sdist, write_wheel

from eagle_rag_core.plugins.archives import MAX_FILES
from eagle_rag_core.testing.checking.checking import check

SDIST = f"{PACKAGE}-0.1.0"


def refusal(path: Path) -> str:
    report = check(path)
    assert not report.ok and not report.kind
    (finding,) = report.findings
    return finding.reason


def added(folder: Path, entry: zipfile.ZipInfo | str, content: bytes = b"") -> Path:
    """A sound wheel with one more entry."""
    path = write_wheel(folder)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(entry, content)
    return path


@pytest.mark.parametrize(
    "name", ["../evil.py", "a/../../evil.py", "/etc/evil.py", "C:/evil.py", "a\\..\\evil.py"]
)
def test_entries_outside_of_a_wheel(tmp_path: Path, name: str) -> None:
    assert "outside" in refusal(added(tmp_path, name))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_in_a_wheel(tmp_path: Path, kind: int) -> None:
    entry = zipfile.ZipInfo(f"{PACKAGE}/link.py")
    entry.external_attr = (kind | 0o777) << 16
    assert "link or a device" in refusal(added(tmp_path, entry, b"/etc/passwd"))


def test_two_entries_of_one_name_in_a_wheel(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        path = added(tmp_path, f"{PACKAGE}/__init__.py", b"import os")
    assert "twice" in refusal(path)


def test_a_wheel_that_unpacks_to_far_more(tmp_path: Path) -> None:
    path = added(tmp_path, f"{PACKAGE}/zeros.bin", bytes(60 * 1024 * 1024))
    assert path.stat().st_size < 1024 * 1024
    assert "far more than it should" in refusal(path)


def test_sizes_that_lie(tmp_path: Path) -> None:
    path = added(tmp_path, f"{PACKAGE}/more.py", b"x = 1\n" * 1000)
    raw = path.read_bytes()
    size = (6000).to_bytes(4, "little")
    assert size in raw
    path.write_bytes(raw.replace(size, (10).to_bytes(4, "little")))
    assert "damaged" in refusal(path)


def test_ten_thousand_entries(tmp_path: Path) -> None:
    path = tmp_path / WHEEL
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(10_000):
            archive.writestr(f"{PACKAGE}/{number}.txt", b"")
    assert f"more than {MAX_FILES} entries" in refusal(path)


def test_a_wheel_without_a_record(tmp_path: Path) -> None:
    assert "no RECORD" in refusal(write_wheel(tmp_path, record=None))


def test_a_wheel_with_two_sets_of_metadata(tmp_path: Path) -> None:
    assert "no RECORD" in refusal(added(tmp_path, "other-1.0.dist-info/METADATA"))


def test_files_that_the_record_does_not_know(tmp_path: Path) -> None:
    (finding,) = check(added(tmp_path, f"{PACKAGE}/more.txt", b"x")).findings
    assert (finding.severity, finding.file) == ("error", f"{PACKAGE}/more.txt")
    assert f"{INFO}/RECORD does not list it" in finding.reason


def test_files_that_are_not_those_of_the_record(tmp_path: Path) -> None:
    record = record_of({**wheel_files(), f"{PACKAGE}/gone.py": b""})
    changed = {f"{PACKAGE}/py.typed": "partial\n"}
    findings = check(write_wheel(tmp_path, changed, record=record)).findings
    assert [(finding.file, finding.severity) for finding in findings] == [
        (f"{PACKAGE}/gone.py", "error"),
        (f"{PACKAGE}/py.typed", "error"),
    ]


def test_two_files_that_are_installed_in_one_place(tmp_path: Path) -> None:
    other = {f"{PACKAGE}-0.1.0.data/purelib/{PACKAGE}/__init__.py": "pack = 1\n"}
    findings = check(write_wheel(tmp_path, other)).findings
    assert "Two files are installed there" in findings[0].reason


@pytest.mark.parametrize(
    "text", ["[eagle_rag.packs\nx", "[eagle_rag.packs]\n= =\n", "\0", "[" * 99]
)
def test_metadata_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    assert not check(write_wheel(tmp_path, {f"{INFO}/entry_points.txt": text})).ok


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (member("../evil.py"), "outside"),
        (member("/etc/evil.py"), "outside"),
        (member(f"{SDIST}/x", tarfile.SYMTYPE, "/etc/passwd"), "link or a device"),
        (member(f"{SDIST}/x", tarfile.LNKTYPE, f"{SDIST}/pyproject.toml"), "link or a device"),
        (member(f"{SDIST}/x", tarfile.FIFOTYPE), "link or a device"),
        (member(f"{SDIST}/pyproject.toml"), "twice"),
    ],
)
def test_entries_of_an_sdist(tmp_path: Path, entry: tarfile.TarInfo, words: str) -> None:
    assert words in refusal(write_sdist(tmp_path, entry))


def test_an_sdist_that_unpacks_to_far_more(tmp_path: Path) -> None:
    path = tmp_path / f"{SDIST}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        entry = member(f"{SDIST}/zeros.bin")
        entry.size = 60 * 1024 * 1024
        archive.addfile(entry, io.BytesIO(bytes(entry.size)))
    assert "far more than it should" in refusal(path)


def test_a_header_of_an_sdist_that_asks_for_gigabytes(tmp_path: Path) -> None:
    header = member("x", tarfile.XHDTYPE)
    header.size = 4 * 1024**3
    path = tmp_path / f"{SDIST}.tar.gz"
    path.write_bytes(gzip.compress(header.tobuf() + bytes(60 * 1024 * 1024)))
    assert "far more than it should" in refusal(path)


def test_an_sdist_of_two_projects(tmp_path: Path) -> None:
    assert "no single folder" in refusal(write_sdist(tmp_path, member("other/pyproject.toml")))


@pytest.mark.parametrize("name", [WHEEL, f"{SDIST}.tar.gz", "pack.txt"])
def test_files_that_are_no_archives(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\0" * 100)
    assert refusal(tmp_path / name)


def test_the_command_says_why(deployment: Deployment, tmp_path: Path) -> None:
    result = run_cli(deployment, "packs", "check", str(added(tmp_path, "../evil.py")))
    assert result.returncode == 1
    assert result.stdout.startswith("error: The archive is refused: '../evil.py' would be")
    assert "Traceback" not in result.stderr


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_damage_is_an_error_and_never_a_crash(tmp_path: Path, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([write_wheel, write_sdist]))
    path = kind(tmp_path)
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw[: data.draw(st.integers(1, len(raw)))])
    report = check(path)
    assert report.ok or report.findings
