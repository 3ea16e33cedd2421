"""An archive is restored if it is ours and whole, and no name in it becomes a path."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from places import Place, Places

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.service.backup.archive import ArchiveReader

Members = list[tuple[tarfile.TarInfo, bytes]]


@pytest.fixture(scope="module")
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good archive."""
    folder = tmp_path_factory.mktemp("archive")
    place = Places(request, folder).new()
    with place.open() as life:
        life.add(folder / "a.md", "OTTERS eat.")
    return place.backup(folder / "backup.tar").path


@pytest.fixture
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A place that is still empty after the test."""
    place = Places(request, tmp_path).new()
    yield place
    with place.open() as life:
        assert life.rows()["documents"] == []
        assert life.blobs() == set()


def members(path: Path) -> Members:
    with tarfile.open(path) as tar:
        return [(member, tar.extractfile(member).read()) for member in tar]  # type: ignore[union-attr]


def rewritten(path: Path, content: Members) -> Path:
    with tarfile.open(path, "w") as tar:
        for member, data in content:
            if member.isreg():
                member.size = len(data)
            tar.addfile(member, io.BytesIO(data) if member.isreg() else None)
    return path


def named(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type = kind
    member.linkname = target
    return member


def with_manifest(content: Members, change: Callable[[dict[str, Any]], None]) -> Members:
    *others, (member, data) = content
    manifest = json.loads(data)
    change(manifest)
    return [*others, (member, json.dumps(manifest).encode())]


DAMAGE: dict[str, Callable[[Members], Members]] = {
    "a changed original": lambda c: [(c[0][0], b"other"), *c[1:]],
    "a changed row": lambda c: [
        (m, d.replace(b"a.md", b"b.md") if m.name == "catalog/documents/000001" else d)
        for m, d in c
    ],
    "no manifest": lambda c: c[:-1],
    "an empty manifest": lambda c: [*c[:-1], (c[-1][0], b"{}")],
    "a list for a manifest": lambda c: [*c[:-1], (c[-1][0], b"[]")],
    "no JSON for a manifest": lambda c: [*c[:-1], (c[-1][0], b"{")],
    "no original": lambda c: c[1:],
    "no rows": lambda c: [pair for pair in c if pair[0].name != "catalog/chunks/000001"],
    "one original more": lambda c: [(named("blobs/" + "0" * 64), b"x"), *c],
    "rows more": lambda c: [(named("catalog/kbs/000009"), b'["name"]\n'), *c],
    "a member twice": lambda c: [c[0], *c],
    "a path upwards": lambda c: [(named("../../etc/cron.d/x"), b"x"), *c],
    "a path upwards below": lambda c: [(named("blobs/../../x"), b"x"), *c],
    "an absolute path": lambda c: [(named("/etc/cron.d/x"), b"x"), *c],
    "a symbolic link": lambda c: [(named("audit.db", tarfile.SYMTYPE, "/etc/passwd"), b""), *c],
    "a hard link": lambda c: [(named("audit.db", tarfile.LNKTYPE, "manifest.json"), b""), *c],
    "a device": lambda c: [(named("audit.db", tarfile.CHRTYPE), b""), *c],
    "a folder": lambda c: [(named("catalog", tarfile.DIRTYPE), b""), *c],
    "a line break in a name": lambda c: [(named("catalog/kbs/000001\n"), b"x"), *c],
    "another table": lambda c: [(named("catalog/Users/000001"), b"x"), *c],
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_archive_is_refused(whole: Path, empty: Place, tmp_path: Path, kind: str) -> None:
    damaged = rewritten(tmp_path / "damaged.tar", DAMAGE[kind](members(whole)))
    with pytest.raises(InvalidArgument, match="no complete backup"):
        empty.restore(damaged)
    assert not (tmp_path.parent / "x").exists()


def test_an_archive_that_was_cut_anywhere_is_refused(whole: Path, tmp_path: Path) -> None:
    data = whole.read_bytes()
    end = data.rindex(b"}") + 1  # behind it there is padding only
    cut = tmp_path / "cut.tar"
    for length in {0, 1, 511, 512, end - 1, *range(0, end, end // 20)}:
        cut.write_bytes(data[:length])
        with pytest.raises(InvalidArgument, match="no complete backup"):
            ArchiveReader(cut)


@pytest.mark.parametrize(
    "content", [b"", b"text", b"\x1f\x8b\x08broken", b"PK\x03\x04", b"\0" * 2000]
)
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file.tar").write_bytes(content)
    with pytest.raises(InvalidArgument, match="no complete backup"):
        ArchiveReader(tmp_path / "file.tar")


def test_a_backup_of_a_newer_version_is_left_alone(
    whole: Path, empty: Place, tmp_path: Path
) -> None:
    newer = with_manifest(members(whole), lambda manifest: manifest.update(schema="9999"))
    with pytest.raises(InvalidArgument, match="newer than this installation"):
        empty.restore(rewritten(tmp_path / "newer.tar", newer))
    newer = with_manifest(members(whole), lambda manifest: manifest.update(format=2))
    with pytest.raises(InvalidArgument, match="use a newer"):
        empty.restore(rewritten(tmp_path / "newer.tar", newer))


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("kbs", b'["namespace"]\n["core"]\n'),
        ("unknown", b'["a"]\n[1]\n'),
        ("document_tags", b'["document_id","tag"]\n["nobody","t"]\n'),
        ("document_tags", b'["document_id","tag"]\n["nobody"]\n'),
        ("alembic_version", b'["version_num"]\n["0002"]\n'),
    ],
)
def test_rows_that_do_not_fit_are_refused(
    whole: Path, empty: Place, tmp_path: Path, table: str, line: bytes
) -> None:
    """Checksums only say that nothing changed since."""
    name = f"catalog/{table}/000002"
    digest = hashlib.sha256(line).hexdigest()
    content = [(named(name), line), *members(whole)]
    changed = with_manifest(content, lambda manifest: manifest["sha256"].update({name: digest}))
    with pytest.raises(InvalidArgument):
        empty.restore(rewritten(tmp_path / "odd.tar", changed))
    for path in (empty.home / "blobs").rglob("*"):  # harmless: it is found under its hash again
        if path.is_file():
            path.unlink()
