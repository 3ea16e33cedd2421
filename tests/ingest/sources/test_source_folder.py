from __future__ import annotations

import os
import socket
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eagle_rag_core.errors import ErrorCode, FetchError
from eagle_rag_core.ingest.fetch.uris import file_uri, path_of
from eagle_rag_core.ingest.sources.folder import FolderLister, shown
from eagle_rag_core.ingest.sources.items import SkippedItem, SourceItem, SourceKind, SourceSpec


class Folder:
    """A folder that tests fill and list."""

    def __init__(self, top: Path) -> None:
        self.top = top

    def write(self, name: str, text: str = "text") -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def lister(self, **options: Any) -> FolderLister:
        spec = SourceSpec(SourceKind.FOLDER, file_uri(self.top), "default", **options)
        return FolderLister(spec)

    def names(self, **options: Any) -> list[str]:
        """The files it names, relative."""
        return [
            str(path_of(item.uri).relative_to(self.top))
            for item in self.lister(**options).items()
            if isinstance(item, SourceItem)
        ]

    def skipped(self, **options: Any) -> dict[str, SkippedItem]:
        return {
            os.path.relpath(item.name, self.top): item
            for item in self.lister(**options).items()
            if isinstance(item, SkippedItem)
        }


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "top").mkdir()
    return Folder(tmp_path / "top")


def test_files_come_in_a_stable_order_without_junk(folder: Folder) -> None:
    for name in ("b.md", "a/z.md", "a/b/c.md", ".env", ".git/config", "~$b.docx", "a/x.tmp"):
        folder.write(name)
    assert folder.names() == ["a/b/c.md", "a/z.md", "b.md"]
    assert folder.skipped() == {}


def test_include_exclude_and_the_ignore_file(folder: Folder) -> None:
    for name in ("a.md", "b.txt", "drafts/c.md", "old/d.md", "old/keep.md"):
        folder.write(name)
    folder.write(".eagleignore", "# not ready\ndrafts/\n/old/*\n!/old/keep.md\n")
    assert folder.names() == ["a.md", "b.txt", "old/keep.md"]
    assert folder.names(include=("*.md",)) == ["a.md", "old/keep.md"]
    assert folder.names(exclude=("old",)) == ["a.md", "b.txt"]


def test_an_ignore_file_that_cannot_be_read_stops_the_listing(folder: Folder) -> None:
    (folder.top / ".eagleignore").mkdir()
    with pytest.raises(FetchError, match=r"\.eagleignore cannot be read"):
        folder.lister()


def test_links_are_followed_to_files_inside_only(folder: Folder, tmp_path: Path) -> None:
    folder.write("real/a.md")
    (tmp_path / "secret.md").write_text("secret")
    (folder.top / "inside.md").symlink_to("real/a.md")
    (folder.top / "outside.md").symlink_to(tmp_path / "secret.md")
    (folder.top / "parent").symlink_to("..")
    (folder.top / "loop").symlink_to("loop")
    (folder.top / "self").symlink_to(".")
    (folder.top / "nowhere.md").symlink_to("missing.md")
    assert folder.names() == ["inside.md", "real/a.md"]
    reasons = {name: item.reason for name, item in folder.skipped().items()}
    assert "out of the folder" in reasons["outside.md"]
    assert "link to a folder" in reasons["parent"] and "link to a folder" in reasons["self"]
    assert "circle" in reasons["loop"] and "nowhere" in reasons["nowhere.md"]
    assert not any(item.refused for item in folder.skipped().values())


def test_the_folder_may_itself_be_reached_by_a_link(folder: Folder, tmp_path: Path) -> None:
    folder.write("a.md")
    (folder.top / "b.md").symlink_to("a.md")
    (tmp_path / "linked").symlink_to(folder.top)
    assert Folder(tmp_path / "linked").names() == ["a.md", "b.md"]


def test_pipes_and_sockets_are_skipped_without_opening_them(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(folder.top / "pipe.md")
    monkeypatch.chdir(folder.top)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.md")  # the path of a socket is short by law
        assert folder.names() == []
    assert {name: item.reason for name, item in folder.skipped().items()} == {
        "pipe.md": "It is no regular file.",
        "socket.md": "It is no regular file.",
    }


ODD_NAMES = [
    "with space.md",
    " leading.md",
    "テスト.md",
    unicodedata.normalize("NFC", "é.md"),
    unicodedata.normalize("NFD", "é.md"),
    "\N{PILE OF POO}.md",
    "a%20b?c#d.md",
    "back\\slash.md",
    "-rf.md",
    "a:b.md",
    "*.md",
    "'; DROP TABLE documents.md",
    "ab" * 126 + ".md",
    "あ" * 84 + ".md",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_listed_and_lead_back_to_their_file(folder: Folder, name: str) -> None:
    folder.write(name)
    assert folder.names() == [name]


def test_composed_and_decomposed_names_are_two_files(folder: Folder) -> None:
    for form in ("NFC", "NFD"):
        folder.write(unicodedata.normalize(form, "é.md"))
    assert len(folder.names()) == 2


def test_names_that_are_no_text_are_listed(folder: Folder) -> None:
    (folder.top / os.fsdecode(b"caf\xe9.md")).write_text("text")
    assert folder.names() == [os.fsdecode(b"caf\xe9.md")]


@pytest.mark.parametrize("name", ["a\nb.md", "a\tb.md", "a\x7fb.md"])
def test_names_with_control_characters_are_refused_and_printable(folder: Folder, name: str) -> None:
    folder.write(name)
    folder.write("good.md")
    assert folder.names() == ["good.md"]
    ((shown_name, item),) = folder.skipped().items()
    assert item.refused and "rename" in item.reason and shown_name.isprintable()


def test_what_is_shown_of_a_path_is_printable() -> None:
    assert shown(os.fsdecode(b"/x/caf\xe9\n.md")) == "/x/caf\N{REPLACEMENT CHARACTER}" * 1 + (
        "\N{REPLACEMENT CHARACTER}.md"
    )


def test_an_unreadable_subfolder_is_refused_and_leaves_the_listing_incomplete(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("a.md")
    folder.write("closed/b.md")
    _close(monkeypatch, folder.top / "closed", PermissionError(13, "denied"))
    lister = folder.lister()
    found = list(lister.items())
    assert [item.refused for item in found if isinstance(item, SkippedItem)] == [True]
    assert not lister.complete


def test_a_subfolder_that_vanishes_meanwhile_holds_nothing(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("a.md")
    folder.write("gone/b.md")
    _close(monkeypatch, folder.top / "gone", FileNotFoundError(2, "gone"))
    lister = folder.lister()
    assert len(list(lister.items())) == 1
    assert lister.complete


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FileNotFoundError(2, "gone"), ErrorCode.SOURCE_NOT_FOUND),
        (PermissionError(13, "denied"), ErrorCode.SOURCE_UNREADABLE),
        (OSError(5, "stale file handle"), ErrorCode.SOURCE_UNREADABLE),
    ],
)
def test_a_folder_that_cannot_be_read_is_an_error_and_never_empty(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, error: OSError, code: ErrorCode
) -> None:
    _close(monkeypatch, folder.top, error)
    lister = folder.lister()
    with pytest.raises(FetchError) as caught:
        list(lister.items())
    assert caught.value.code is code
    assert not lister.complete


def _close(monkeypatch: pytest.MonkeyPatch, folder: Path, error: OSError) -> None:
    """Make a folder fail to be listed; root reads everything, so rights do not do it."""
    scandir = os.scandir

    def guarded(path: Any = ".") -> Any:
        if str(path) == str(folder):
            raise error
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)


def test_the_revision_changes_with_the_content(folder: Folder) -> None:
    def revision() -> str:
        (item,) = folder.lister().items()
        assert isinstance(item, SourceItem)
        return item.revision

    path = folder.write("a.md", "one")
    first = revision()
    assert revision() == first
    status = path.stat()
    path.write_text("two")
    # The time of the last change of the content can be set back; that of the file's entry cannot.
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert revision() != first


def test_what_is_covered_and_what_is_gone(folder: Folder, tmp_path: Path) -> None:
    path = folder.write("a.md")
    lister = folder.lister(include=("*.md",))
    assert lister.covers(file_uri(path)) and not lister.gone(file_uri(path))
    assert not lister.covers(file_uri(folder.top / "a.txt"))
    assert not lister.covers(file_uri(tmp_path / "a.md"))
    path.unlink()
    assert lister.gone(file_uri(path))
    assert lister.gone(file_uri(folder.top / "x" / "b.md"))


def test_ten_thousand_files_are_listed_one_by_one(folder: Folder) -> None:
    for number in range(100):
        (folder.top / f"{number:02}").mkdir()
        for inner in range(100):
            (folder.top / f"{number:02}" / f"{inner:02}.md").touch()
    entries = _count_scans(folder)
    assert next(entries) == 2  # the top and the first folder, not the other ninety-nine
    assert len(folder.names()) == 10_000


def _count_scans(folder: Folder) -> Iterator[int]:
    """How many folders were listed by the time the first file was named."""
    scans = 0
    scandir = os.scandir

    def counting(path: Any = ".") -> Any:
        nonlocal scans
        scans += 1
        return scandir(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "scandir", counting)
        next(folder.lister().items())
    yield scans
