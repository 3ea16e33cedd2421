from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from eagle_rag_core.errors import ErrorCode, FetchError, InvalidArgument
from eagle_rag_core.ingest.fetch import paths
from eagle_rag_core.ingest.fetch.paths import check_path, open_local
from eagle_rag_core.ingest.fetch.uris import canonical_uri, path_of

SECRET = b"secret"
LIMIT = 1000


@dataclass
class Home:
    """An allowed root with files in it, and a secret beside it."""

    root: Path
    outside: Path

    def read(self, name: str | Path, roots: Sequence[Path] | None = ()) -> bytes:
        """What a remote caller gets for a name, relative to the root or absolute."""
        path = path_of(canonical_uri(str(name), base=self.root))
        allowed = [self.root] if roots == () else roots
        return open_local(path, allowed_roots=allowed, max_bytes=LIMIT).data

    def refusal(self, name: str | Path, roots: Sequence[Path] | None = ()) -> ErrorCode:
        with pytest.raises(FetchError) as caught:
            self.read(name, roots)
        message = caught.value.message
        assert not caught.value.retryable
        assert str(self.root) not in message and str(self.outside) not in message
        assert "Errno" not in message
        return caught.value.code


@pytest.fixture
def home(tmp_path: Path) -> Home:
    root, outside = tmp_path / "inbox", tmp_path / "private"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "a.md").write_bytes(b"# A")
    (root / "sub" / "b.md").write_bytes(b"# B")
    (root / "sub" / "deep" / "c.md").write_bytes(b"# C")
    (root / "empty.md").touch()
    outside.mkdir()
    (outside / "secret.md").write_bytes(SECRET)
    (tmp_path / "inbox-2").mkdir()
    (tmp_path / "inbox-2" / "secret.md").write_bytes(SECRET)
    return Home(root, outside)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.md", b"# A"),
        ("./a.md", b"# A"),
        ("sub/b.md", b"# B"),
        ("sub//b.md", b"# B"),
        ("sub/../a.md", b"# A"),
        ("sub/deep/../b.md", b"# B"),
        ("missing/../a.md", b"# A"),
        ("../inbox/a.md", b"# A"),
        ("sub/deep/c.md", b"# C"),
        ("a.md/", b"# A"),
    ],
)
def test_files_inside_a_root_are_read(home: Home, name: str, content: bytes) -> None:
    assert home.read(name) == content
    assert home.read(home.root / name) == content


@pytest.mark.parametrize(
    "name",
    [
        "../private/secret.md",
        "sub/../../private/secret.md",
        "../inbox-2/secret.md",
        "..",
        "../",
        "/",
        "/etc/passwd",
        "/etc/shadow",
        "/etc/../etc/passwd",
        "/proc/self/environ",
        "/proc/self/cmdline",
        "/proc/self/root/etc/passwd",
        "/proc/self/fd/0",
        "/proc/1/environ",
        "/sys/kernel/uevent_seqnum",
        "/dev/null",
        "/dev/zero",
        "/dev/stdin",
        "/dev/tty",
        "/root/.ssh/id_rsa",
        "/no/such/file",
        "../../../../../../../../../../etc/passwd",
        "sub/deep/../../../../../../../../../../../../etc/passwd",
        "file:///etc/passwd",
        "file://localhost/etc/passwd",
        "file:////etc/passwd",
        "file:///%65tc/passwd",
        "file:///x/%2e%2e/etc/passwd",
        "file:///%2Fetc%2Fpasswd",
    ],
)
def test_paths_outside_are_refused_before_they_are_looked_at(
    home: Home, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str] = []
    real_path = os.path.realpath
    monkeypatch.setattr(os.path, "realpath", lambda p: looked_at.append(str(p)) or real_path(p))
    monkeypatch.setattr(os, "open", lambda *_, **__: pytest.fail("opened"))
    assert home.refusal(name) is ErrorCode.PATH_NOT_ALLOWED
    assert looked_at == [str(home.root)]


def test_existing_and_missing_paths_outside_are_refused_in_the_same_words(home: Home) -> None:
    def message(folder: str) -> str:
        path = home.outside / folder / "secret.md"
        with pytest.raises(FetchError) as caught:
            open_local(path, allowed_roots=[home.root], max_bytes=LIMIT)
        return caught.value.message

    assert message("") == message("missing")


def link(at: Path, to: Path | str) -> None:
    at.symlink_to(to)


ESCAPES: dict[str, tuple[Callable[[Home], None], str]] = {
    "link to a file": (lambda h: link(h.root / "l.md", h.outside / "secret.md"), "l.md"),
    "relative link": (lambda h: link(h.root / "l.md", "../private/secret.md"), "l.md"),
    "link to a folder": (lambda h: link(h.root / "l", h.outside), "l/secret.md"),
    "link to the parent": (lambda h: link(h.root / "l", ".."), "l/private/secret.md"),
    "link to the top": (lambda h: link(h.root / "l", "/"), "l/etc/passwd"),
    "link to a missing file": (lambda h: link(h.root / "l.md", h.outside / "no.md"), "l.md"),
    "link over a link": (
        lambda h: (link(h.root / "l", "m"), link(h.root / "m", h.outside))[0],
        "l/secret.md",
    ),
    "link in a subfolder": (lambda h: link(h.root / "sub" / "l", h.outside), "sub/l/secret.md"),
    "link to a process": (lambda h: link(h.root / "l", "/proc/self/environ"), "l"),
    "link to a device": (lambda h: link(h.root / "l", "/dev/zero"), "l"),
    "link to the sibling with the same prefix": (
        lambda h: link(h.root / "l", h.root.with_name("inbox-2")),
        "l/secret.md",
    ),
}


@pytest.mark.parametrize("escape", ESCAPES)
def test_links_that_lead_outside_are_refused(home: Home, escape: str) -> None:
    prepare, name = ESCAPES[escape]
    prepare(home)
    assert home.refusal(name) is ErrorCode.PATH_NOT_ALLOWED
    with pytest.raises(FetchError):
        check_path(home.root / name, [home.root])


def test_links_that_stay_inside_are_followed(home: Home) -> None:
    link(home.root / "latest.md", "sub/b.md")
    link(home.root / "folder", "sub")
    assert home.read("latest.md") == b"# B"
    assert home.read("folder/deep/c.md") == b"# C"


def test_a_link_from_one_root_into_another_is_followed(home: Home) -> None:
    link(home.root / "l.md", home.outside / "secret.md")
    assert home.read("l.md", [home.root, home.outside]) == SECRET


def test_a_link_outside_that_leads_inside_is_refused(home: Home) -> None:
    link(home.outside / "way-in", home.root)
    assert home.refusal(home.outside / "way-in" / "a.md") is ErrorCode.PATH_NOT_ALLOWED


def test_a_root_may_itself_be_a_link(home: Home, tmp_path: Path) -> None:
    link(tmp_path / "linked", home.root)
    assert home.read(tmp_path / "linked" / "a.md", [tmp_path / "linked"]) == b"# A"
    assert home.read(home.root / "a.md", [tmp_path / "linked"]) == b"# A"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("missing.md", ErrorCode.SOURCE_NOT_FOUND),
        ("missing/a.md", ErrorCode.SOURCE_NOT_FOUND),
        ("a.md/b.md", ErrorCode.SOURCE_NOT_FOUND),
        ("x" * 300 + ".md", ErrorCode.SOURCE_NOT_FOUND),
        ("sub", ErrorCode.SOURCE_UNREADABLE),
        ("sub/", ErrorCode.SOURCE_UNREADABLE),
        (".", ErrorCode.SOURCE_UNREADABLE),
        ("empty.md", ErrorCode.EMPTY_DOCUMENT),
    ],
)
def test_inside_a_root_the_reason_is_told(home: Home, name: str, code: ErrorCode) -> None:
    assert home.refusal(name) is code


def test_pipes_sockets_and_link_loops_are_no_documents(home: Home) -> None:
    os.mkfifo(home.root / "pipe")
    link(home.root / "loop", "loop")
    with socket.socket(socket.AF_UNIX) as listener:
        # The path of a socket is short by law; bind where we are.
        here = Path.cwd()
        os.chdir(home.root)
        try:
            listener.bind("socket")
        finally:
            os.chdir(here)
        for name in ("pipe", "socket", "loop"):
            assert home.refusal(name) is ErrorCode.SOURCE_UNREADABLE


@pytest.mark.parametrize("name", ["/proc/self/environ", "/proc/version", "/sys/kernel/mm"])
def test_a_root_never_opens_the_kernels_views(home: Home, name: str) -> None:
    assert home.refusal(name, [Path("/")]) is ErrorCode.PATH_NOT_ALLOWED


def test_devices_are_never_opened(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    real_open = os.open
    monkeypatch.setattr(os, "open", lambda *a, **k: opened.append(a[0]) or real_open(*a, **k))
    assert home.refusal("/dev/zero", [Path("/")]) is ErrorCode.SOURCE_UNREADABLE
    assert home.refusal("/dev/zero", None) is ErrorCode.SOURCE_UNREADABLE
    assert "zero" not in opened


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_files_say_so(home: Home) -> None:
    (home.root / "a.md").chmod(0)
    assert home.refusal("a.md") is ErrorCode.SOURCE_UNREADABLE


@pytest.mark.skipif(os.geteuid() == 0, reason="root lists everything")
@pytest.mark.skipif(not hasattr(os, "O_PATH"), reason="needs O_PATH")
def test_folders_need_only_be_passable(home: Home) -> None:
    (home.root / "sub").chmod(0o311)
    assert home.read("sub/b.md") == b"# B"
    (home.root / "sub").chmod(0o755)


def test_no_root_allows_nothing(home: Home) -> None:
    assert home.refusal("a.md", []) is ErrorCode.PATH_NOT_ALLOWED


def test_a_root_that_does_not_exist_yet_holds_nothing(home: Home, tmp_path: Path) -> None:
    missing = tmp_path / "later"
    assert home.refusal(missing / "a.md", [missing]) is ErrorCode.SOURCE_NOT_FOUND


def test_the_command_line_reads_what_its_user_reads(home: Home) -> None:
    link(home.outside / "l.md", "secret.md")
    assert home.read(home.outside / "secret.md", None) == SECRET
    assert home.read(home.outside / "l.md", None) == SECRET
    assert home.refusal(home.outside / "no.md", None) is ErrorCode.SOURCE_NOT_FOUND
    assert home.refusal(home.outside, None) is ErrorCode.SOURCE_UNREADABLE
    assert home.refusal("/", None) is ErrorCode.SOURCE_UNREADABLE
    check_path(home.outside / "no.md", None)


def test_check_path_asks_only_where(home: Home) -> None:
    check_path(home.root / "missing.md", [home.root])
    check_path(home.root / "sub", [home.root])
    with pytest.raises(FetchError):
        check_path(home.outside / "secret.md", [home.root])


@pytest.mark.parametrize("path", ["a.md", "../a.md", "/data/a\x00.md", "/data/a\n.md"])
def test_what_is_no_absolute_path_is_an_invalid_argument(home: Home, path: str) -> None:
    with pytest.raises(InvalidArgument):
        check_path(Path(path), [home.root])
    with pytest.raises(InvalidArgument):
        open_local(Path(path), allowed_roots=None, max_bytes=LIMIT)


def test_the_limit_is_named(home: Home) -> None:
    (home.root / "exact.md").write_bytes(b"x" * LIMIT)
    (home.root / "big.md").write_bytes(b"x" * (LIMIT + 1))
    assert len(home.read("exact.md")) == LIMIT
    with pytest.raises(FetchError, match=r"big.md is larger than 1000 bytes.*`ingest.max_bytes`"):
        home.read("big.md")


def test_a_file_that_grows_while_it_is_read_stops_at_the_limit(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.root / "log.txt").write_bytes(b"x" * (LIMIT + 1))
    # The size is asked first and is out of date by the time of the reading.
    monkeypatch.setattr(paths, "_regular_size", lambda *_: 10)
    assert home.refusal("log.txt") is ErrorCode.SOURCE_TOO_LARGE


@pytest.mark.parametrize(
    "name",
    [
        "テスト.pptx",
        "with space.md",
        "\N{PILE OF POO}.md",
        "e\u0301.md",
        "a%20b?c#d.md",
        "a\\b",
        "~",
    ],
)
def test_odd_names_are_read_and_reported(home: Home, name: str) -> None:
    (home.root / name).write_bytes(b"content")
    source = open_local(home.root / name, allowed_roots=[home.root], max_bytes=LIMIT)
    assert source.data == b"content"
    assert source.name == name
    assert source.uri == source.final_uri == canonical_uri(f"./{name}", base=home.root)
    assert path_of(source.uri) == home.root / name
    assert source.media_type == ""
    assert source.metadata == {}


class TestSwappedAfterTheCheck:
    """Somebody who may write inside the root swaps a part of the path behind our back."""

    @staticmethod
    def after_resolving(monkeypatch: pytest.MonkeyPatch, swap: Callable[[], None]) -> None:
        resolve = paths._resolve

        def resolve_then_swap(*args: object) -> tuple[Path, Path]:
            result = resolve(*args)  # type: ignore[arg-type]
            swap()
            return result

        monkeypatch.setattr(paths, "_resolve", resolve_then_swap)

    def test_file_for_a_link(self, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        def swap() -> None:
            (home.root / "a.md").unlink()
            link(home.root / "a.md", home.outside / "secret.md")

        self.after_resolving(monkeypatch, swap)
        assert home.refusal("a.md") is ErrorCode.SOURCE_UNREADABLE

    @pytest.mark.parametrize("folder", ["sub", "sub/deep"])
    def test_folder_for_a_link(
        self, home: Home, folder: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (home.outside / "c.md").write_bytes(SECRET)
        (home.outside / "deep").mkdir()
        (home.outside / "deep" / "c.md").write_bytes(SECRET)

        def swap() -> None:
            shutil.rmtree(home.root / folder)
            link(home.root / folder, home.outside)

        self.after_resolving(monkeypatch, swap)
        assert home.refusal("sub/deep/c.md") is ErrorCode.SOURCE_NOT_FOUND

    def test_file_for_a_pipe_after_it_was_looked_at(
        self, home: Home, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real_stat = os.stat

        def stat_then_swap(name: str, **options: object) -> os.stat_result:
            result = real_stat(name, **options)  # type: ignore[arg-type]
            if name == "a.md":
                (home.root / "a.md").unlink()
                os.mkfifo(home.root / "a.md")
            return result

        monkeypatch.setattr(os, "stat", stat_then_swap)
        assert home.refusal("a.md") is ErrorCode.SOURCE_UNREADABLE


def test_no_descriptor_is_left_open(home: Home) -> None:
    def open_descriptors() -> int:
        return len(list(Path("/dev/fd").iterdir()))

    before = open_descriptors()
    for name in ("a.md", "sub/deep/c.md", "missing/x.md", "sub", "empty.md"):
        try:
            home.read(name)
        except FetchError:
            continue
    assert open_descriptors() == before
