"""Every case of the tables is refused with its code, and nothing inside is ever reached."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from case_tables import PathCase, UrlCase, counts, path_cases, url_cases

from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.ingest.fetch.addresses import check_url
from eagle_rag_core.ingest.fetch.http import SafeFetcher
from eagle_rag_core.ingest.fetch.reader import SourceReader
from eagle_rag_core.ingest.fetch.s3 import S3Access, S3Client
from eagle_rag_core.ingest.fetch.uris import canonical_uri

URLS, PATHS = url_cases(), path_cases()
SECRET = b"the launch code"
DOCS = Path(__file__).resolve().parents[3] / "docs" / "sources.md"


def named(case: UrlCase | PathCase) -> str:
    return f"{case.group}: {ascii(case.case)[:40]}"


def of(via: str) -> list[UrlCase]:
    return [case for case in URLS if case.via == via]


@pytest.fixture
def no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails the test as soon as a socket wants to connect."""
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("connected"))
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("connected"))


def refusal(fetcher: SafeFetcher, url: str) -> EagleError:
    with pytest.raises(EagleError) as caught:
        fetcher.fetch(url)
    assert not caught.value.retryable
    assert "secret" not in caught.value.message and "passwd" not in caught.value.message
    return caught.value


@pytest.mark.parametrize("case", of("url"), ids=named)
def test_urls_are_refused_before_anything_is_asked(case: UrlCase, no_connection: None) -> None:
    fetcher = SafeFetcher(max_bytes=1000, resolver=lambda *_: pytest.fail("resolved"))
    assert refusal(fetcher, case.case).code == case.code
    with pytest.raises(EagleError) as caught:  # as a call does, before there is a job
        check_url(case.case)
    assert caught.value.code == case.code


@pytest.mark.parametrize("case", of("dns"), ids=named)
def test_names_are_judged_by_all_their_answers(case: UrlCase, no_connection: None) -> None:
    fetcher = SafeFetcher(max_bytes=1000, resolver=lambda *_: case.case.split())
    assert refusal(fetcher, "http://docs.example.com/").code == case.code


@pytest.mark.parametrize("case", of("redirect"), ids=named)
def test_redirects_are_not_followed_inside(
    case: UrlCase, web: Any, inside: Any, fetcher: Callable[..., SafeFetcher]
) -> None:
    web.redirect("/start", case.case)
    assert refusal(fetcher(), web.url("/start")).code == case.code
    assert [path for path, _ in web.seen] == ["/start"] and inside.seen == []


@pytest.mark.parametrize("via", ["url", "redirect"])
def test_a_name_that_changes_its_answer_is_asked_once(
    via: str, web: Any, inside: Any, hosts: Any, fetcher: Callable[..., SafeFetcher]
) -> None:
    """DNS rebinding: between the check and the connection the name turns inside."""
    hosts.answers["docs.example.com"] = [["127.0.0.1"], ["127.0.0.2"]]
    web.page("/page", b"text")
    web.redirect("/start", "/page")
    path = "/page" if via == "url" else "/start"
    assert fetcher().fetch(web.url(path)).data == b"text"
    assert hosts.asked == ["docs.example.com"] and inside.seen == []


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder that may be read, with every way out of it that a file system has."""
    top = tmp_path_factory.mktemp("world")
    root, outside = top / "inbox", top / "private"
    (root / "sub" / "deep").mkdir(parents=True)
    outside.mkdir()
    (top / "inbox-2").mkdir()
    for folder in (outside, top / "inbox-2"):
        (folder / "secret.md").write_bytes(SECRET)
    for name in ("a.md", "sub/b.md", "sub/deep/c.md"):
        (root / name).write_text("# Open\n")
    (root / "empty.md").touch()
    links = {
        "link-to-file.md": outside / "secret.md",
        "relative-link.md": "../private/secret.md",
        "link-to-folder": outside,
        "link-to-parent": "..",
        "link-to-top": "/",
        "link-to-missing.md": outside / "missing.md",
        "link-over-link": "link-to-folder",
        "sub/link-in-subfolder": outside,
        "link-to-process": "/proc/self/environ",
        "link-to-device": "/dev/zero",
        "link-to-sibling": top / "inbox-2",
        "loop": "loop",
        "link-loop-a": "link-loop-b",
        "link-loop-b": "link-loop-a",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "pipe")
    here = Path.cwd()
    os.chdir(root)  # the path of a socket is short by law
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket")
    finally:
        os.chdir(here)
    return {"root": root, "outside": outside}


@pytest.mark.parametrize("case", PATHS, ids=named)
def test_paths_and_objects_are_refused(
    case: PathCase, world: dict[str, Path], no_connection: None
) -> None:
    text = case.case
    for name, path in world.items():
        text = text.replace(f"{{{name}}}", str(path))
    reader = SourceReader(
        fetcher=SafeFetcher(max_bytes=1000),
        s3=S3Client(S3Access(), max_bytes=1000),
        allowed_roots=(world["root"],),
        allowed_s3=("s3://library/open",),
        max_bytes=1000,
    )
    with pytest.raises(EagleError) as caught:
        reader.read(canonical_uri(text, base=world["root"]), any_path=False)
    assert caught.value.code == case.code
    assert SECRET.decode() not in caught.value.message
    assert str(world["outside"]) not in caught.value.message


def test_what_may_be_read_is_read(world: dict[str, Path]) -> None:
    """The table would also hold if everything were refused."""
    reader = SourceReader(
        SafeFetcher(max_bytes=1000), S3Client(S3Access(), max_bytes=1), (world["root"],), (), 1000
    )
    for name in ("a.md", "sub/../a.md", "sub/deep/c.md"):
        uri = canonical_uri(name, base=world["root"])
        assert reader.read(uri, any_path=False).data == b"# Open\n"


def test_the_tables_are_as_large_as_promised_and_say_why() -> None:
    assert len(URLS) >= 200 and len(PATHS) >= 100
    cases = [*URLS, *PATHS]
    assert len({tuple(case) for case in cases}) == len(cases)
    assert all(case.reason and case.code in set(ErrorCode) for case in cases)


def test_the_manual_counts_the_cases() -> None:
    text = DOCS.read_text("utf-8")
    for name, cases in (("URLs", URLS), ("Paths and objects", PATHS)):
        lines = [f"| {group} | {number} |" for group, number in counts(cases).items()]
        table = "\n".join([f"| {name} | cases |", "| --- | ---: |", *lines])
        assert table in text, f"docs/sources.md should hold:\n\n{table}"
        assert f"{len(cases)} {name.split()[0].lower()}" in text.lower()
