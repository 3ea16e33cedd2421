"""Objects and prefixes of a real S3-compatible server on loopback."""

from __future__ import annotations

import builtins
import logging
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from servers import S3Server

from eagle_rag_core.errors import ConfigError, ErrorCode, FetchError, InvalidArgument
from eagle_rag_core.ingest.fetch import s3
from eagle_rag_core.ingest.fetch.s3 import S3Access, S3Client, S3Object
from eagle_rag_core.ingest.fetch.s3_uris import check_allowed, s3_uri
from eagle_rag_core.ingest.sources.bucket import BucketLister
from eagle_rag_core.ingest.sources.items import SkippedItem, SourceItem, SourceKind, SourceSpec

_NUMBERS = count()


class Prefix:
    """A prefix of its own in the shared bucket."""

    def __init__(self, server: S3Server) -> None:
        self.name = f"test-{next(_NUMBERS)}"
        self.uri = f"s3://{server.bucket}/{self.name}"
        self._client = server.client()
        self._bucket = server.bucket
        self.access = S3Access(**server.settings)

    def put(self, key: str, data: bytes = b"text") -> str:
        self._client.put_object(Bucket=self._bucket, Key=f"{self.name}{key}", Body=data)
        return f"{self.uri}{key}"

    def client(self, max_bytes: int = 100_000, **access: Any) -> S3Client:
        from dataclasses import replace

        return S3Client(replace(self.access, **access), max_bytes=max_bytes)

    def found(self, **options: Any) -> list[SourceItem | SkippedItem]:
        spec = SourceSpec(SourceKind.S3, s3_uri(self.uri, prefix=True), "default", **options)
        lister = BucketLister(spec, self.client())
        items = list(lister.items())
        assert lister.complete
        return items

    def names(self, **options: Any) -> list[str]:
        return [
            item.uri.removeprefix(self.uri)
            for item in self.found(**options)
            if isinstance(item, SourceItem)
        ]


@pytest.fixture
def prefix(s3_server: S3Server) -> Prefix:
    return Prefix(s3_server)


def test_the_objects_below_a_prefix_are_listed_with_their_etags(prefix: Prefix) -> None:
    for key in ("/b.md", "/a/c.md", "/.hidden.md", "/a/", "-other/d.md", "/film.part"):
        prefix.put(key)
    assert prefix.names() == ["/a/c.md", "/b.md"]
    revisions = {item.uri: item.revision for item in prefix.found()}
    assert all(revisions.values())
    prefix.put("/b.md", b"changed")
    changed = {item.uri: item.revision for item in prefix.found()}
    assert {uri for uri in changed if changed[uri] != revisions[uri]} == {f"{prefix.uri}/b.md"}


def test_patterns_see_names_without_the_prefix(prefix: Prefix) -> None:
    for key in ("/a.md", "/b.pdf", "/old/c.md"):
        prefix.put(key)
    assert prefix.names(include=("*.md",), exclude=("/old/",)) == ["/a.md"]


def test_a_prefix_may_be_the_key_of_one_object(prefix: Prefix) -> None:
    prefix.put(".md")
    prefix.name, prefix.uri = f"{prefix.name}.md", f"{prefix.uri}.md"
    prefix.put("x")
    assert prefix.names() == [""]


def test_more_objects_than_a_page_holds_are_listed(
    prefix: Prefix, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3, "_PAGE", 2)
    for number in range(5):
        prefix.put(f"/{number}.md")
    assert len(prefix.names()) == 5


@pytest.mark.parametrize("key", ["/a b.md", "/日本語.md", "/a%20b?c#d.md", "/é.md", "/a+b.md"])
def test_odd_keys_are_listed_and_read(prefix: Prefix, key: str) -> None:
    prefix.put(key, key.encode())
    (name,) = prefix.names()
    assert name == key
    source = prefix.client().read(prefix.uri + name)
    assert (source.data, source.name) == (key.encode(), key.removeprefix("/"))


@pytest.mark.parametrize("key", ["x/a\nb.md", "x/\ud800.md"])
def test_keys_that_do_not_survive_the_way_are_refused(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = S3Client(S3Access(), max_bytes=100)
    monkeypatch.setattr(client, "list", lambda _: iter([S3Object(key, "etag", 1)]))
    spec = SourceSpec(SourceKind.S3, "s3://library/x", "default")
    (item,) = BucketLister(spec, client).items()
    assert isinstance(item, SkippedItem) and item.refused and item.name.isprintable()


def test_an_object_is_read_with_its_validators(prefix: Prefix) -> None:
    uri = prefix.put("/a.md", b"# A")
    client = prefix.client()
    source = client.read(uri)
    assert (source.data, source.uri, source.final_uri, source.name) == (b"# A", uri, uri, "a.md")
    assert client.read(uri, etag=source.etag).not_modified
    prefix.put("/a.md", b"# B")
    assert client.read(uri, etag=source.etag).data == b"# B"


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("/missing.md", ErrorCode.SOURCE_NOT_FOUND),
        ("/folder", ErrorCode.SOURCE_NOT_FOUND),
        ("/empty.md", ErrorCode.EMPTY_DOCUMENT),
        ("/big.md", ErrorCode.SOURCE_TOO_LARGE),
    ],
)
def test_objects_that_are_no_document_say_why(prefix: Prefix, key: str, code: ErrorCode) -> None:
    prefix.put("/empty.md", b"")
    prefix.put("/big.md", b"x" * 101)
    prefix.put("/folder/x.md")
    with pytest.raises(FetchError) as caught:
        prefix.client(max_bytes=100).read(prefix.uri + key)
    assert caught.value.code is code and not caught.value.retryable


def test_a_bucket_that_does_not_exist_is_named(prefix: Prefix) -> None:
    with pytest.raises(FetchError, match="no-such-bucket") as caught:
        list(prefix.client().list("s3://no-such-bucket/x"))
    assert caught.value.code is ErrorCode.SOURCE_NOT_FOUND


def test_a_store_that_does_not_answer_can_be_tried_again_and_nothing_secret_is_told(
    prefix: Prefix, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="eagle_rag_core")
    client = prefix.client(endpoint_url="http://127.0.0.1:9", timeout=2.0)
    with pytest.raises(FetchError) as caught:
        client.read(f"{prefix.uri}/a.md")
    assert caught.value.retryable and "endpoint_url" in caught.value.message
    told = caught.value.message + caplog.text + repr(prefix.access) + repr(client)
    assert "secret-for-tests" not in told and "key-for-tests" not in told


def test_the_extra_is_named_when_it_is_missing(
    prefix: Prefix, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_import: Callable[..., Any] = builtins.__import__

    def without_s3fs(name: str, *rest: Any) -> Any:
        if name == "s3fs":
            raise ImportError(name)
        return real_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_s3fs)
    with pytest.raises(ConfigError, match=r"eagle-rag-core\[s3\]"):
        prefix.client().read(f"{prefix.uri}/a.md")


@pytest.mark.parametrize(
    ("uri", "allowed", "passes"),
    [
        ("s3://b/docs/a.md", ["s3://b/docs"], True),
        ("s3://b/docs/a.md", ["s3://b/docs/"], True),
        ("s3://b/docs/a.md", ["s3://b/"], True),
        ("s3://b/docs/a.md", ["s3://x/", "s3://b"], True),
        ("s3://b/docs-private/a.md", ["s3://b/docs"], False),
        ("s3://b/docs", ["s3://b/docs"], False),
        ("s3://bb/docs/a.md", ["s3://b"], False),
        ("s3://b/Docs/a.md", ["s3://b/docs"], False),
        ("s3://b/docs/a.md", [], False),
        ("s3://b/docs/a.md", None, True),
    ],
)
def test_allowed_prefixes_end_at_a_slash(uri: str, allowed: list[str] | None, passes: bool) -> None:
    if passes:
        check_allowed(uri, allowed)
        return
    with pytest.raises(FetchError) as caught:
        check_allowed(uri, allowed)
    assert caught.value.code is ErrorCode.PATH_NOT_ALLOWED


@pytest.mark.parametrize(
    "uri", ["s3://", "s3:///key", "s3://a..b/key", "s3://bucket/../x", "s3://bucket//x", "s3:x"]
)
def test_what_names_no_prefix_is_refused(uri: str) -> None:
    with pytest.raises(InvalidArgument):
        s3_uri(uri, prefix=True)
