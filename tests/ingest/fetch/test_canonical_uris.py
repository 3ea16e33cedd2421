from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.errors import ErrorCode, InvalidArgument
from eagle_rag_core.ingest.fetch.uris import (
    MAX_SOURCE_URI,
    canonical_uri,
    display_name,
    file_uri,
    is_file_uri,
    name_of,
    path_of,
)

BASE = Path("/srv/inbox")

SAME_URL = [
    ("http://example.com", "http://example.com/"),
    ("HTTP://EXAMPLE.COM/", "http://example.com/"),
    ("  https://example.com/a  ", "https://example.com/a"),
    ("http://example.com:80/a", "http://example.com/a"),
    ("https://example.com:443/a", "https://example.com/a"),
    ("http://example.com:443/a", "http://example.com:443/a"),
    ("http://example.com:/a", "http://example.com/a"),
    ("http://example.com:0080/a", "http://example.com/a"),
    ("http://example.com./a", "http://example.com/a"),
    ("http://example.com/a#part", "http://example.com/a"),
    ("http://example.com/a?#part", "http://example.com/a"),
    ("http://example.com/a?b=1&c=2", "http://example.com/a?b=1&c=2"),
    ("http://example.com?b=1", "http://example.com/?b=1"),
    ("http://example.com/a/./b/../c", "http://example.com/a/c"),
    ("http://example.com/a/b/..", "http://example.com/a/"),
    ("http://example.com/a/b/.", "http://example.com/a/b/"),
    ("http://example.com/../../a", "http://example.com/a"),
    ("http://example.com/a/%2e%2E/b", "http://example.com/b"),
    ("http://example.com//a//b", "http://example.com//a//b"),
    ("http://example.com/a/", "http://example.com/a/"),
    ("http://example.com/%7euser", "http://example.com/~user"),
    ("http://example.com/a%2fb", "http://example.com/a%2Fb"),
    ("http://example.com/100%", "http://example.com/100%25"),
    ("http://example.com/a;v=1", "http://example.com/a;v=1"),
    ("http://example.com/a b", "http://example.com/a%20b"),
    ("http://example.com/a\\b", "http://example.com/a%5Cb"),
    ("http://example.com/日本", "http://example.com/%E6%97%A5%E6%9C%AC"),
    ("http://example.com/?q=日本", "http://example.com/?q=%E6%97%A5%E6%9C%AC"),
    ("http://MÜNCHEN.de/", "http://xn--mnchen-3ya.de/"),
    ("http://例え。テスト/", "http://xn--r8jz45g.xn--zckzah/"),
    ("http://under_score.example.com/", "http://under_score.example.com/"),
    ("http://8.8.8.8/", "http://8.8.8.8/"),
    ("http://0x08080808/", "http://8.8.8.8/"),
    ("http://010.010.2056/", "http://8.8.8.8/"),
    ("http://8.8.8.8.", "http://8.8.8.8/"),
    ("http://[2606:4700:0:0::1111]/", "http://[2606:4700::1111]/"),
    ("http://[2606:4700::1111]:80/", "http://[2606:4700::1111]/"),
]


@pytest.mark.parametrize(("given_url", "canonical"), SAME_URL)
def test_spellings_of_one_url_become_one(given_url: str, canonical: str) -> None:
    assert canonical_uri(given_url) == canonical
    assert canonical_uri(canonical) == canonical


SAME_FILE = [
    ("/data/a.md", "file:///data/a.md"),
    ("/data//x/.././a.md", "file:///data/a.md"),
    ("/data/a.md/", "file:///data/a.md"),
    ("a.md", "file:///srv/inbox/a.md"),
    ("./a.md", "file:///srv/inbox/a.md"),
    ("../a.md", "file:///srv/a.md"),
    ("../../../../a.md", "file:///a.md"),
    ("./a: b.md", "file:///srv/inbox/a%3A%20b.md"),
    (" a.md", "file:///srv/inbox/%20a.md"),
    ("~user/a.md", "file:///srv/inbox/~user/a.md"),
    ("/data/100%.md", "file:///data/100%25.md"),
    ("/data/a%20b.md", "file:///data/a%2520b.md"),
    ("/data/a?b#c.md", "file:///data/a%3Fb%23c.md"),
    ("/data/テスト.pptx", "file:///data/%E3%83%86%E3%82%B9%E3%83%88.pptx"),
    ("file:///data/a.md", "file:///data/a.md"),
    ("FILE:///data/a.md", "file:///data/a.md"),
    ("file:/data/a.md", "file:///data/a.md"),
    ("file://localhost/data/a.md", "file:///data/a.md"),
    ("file:////data/a.md", "file:///data/a.md"),
    ("file:///data/x/../a.md", "file:///data/a.md"),
    ("file:///data/x/%2e%2e/a.md", "file:///data/a.md"),
    ("file:///data/a%20b.md", "file:///data/a%20b.md"),
    ("file:///data/a b.md", "file:///data/a%20b.md"),
]


@pytest.mark.parametrize(("given_path", "canonical"), SAME_FILE)
def test_spellings_of_one_path_become_one(given_path: str, canonical: str) -> None:
    assert canonical_uri(given_path, base=BASE) == canonical
    assert canonical_uri(canonical, base=BASE) == canonical


REFUSED = [
    "",
    "   ",
    "\t\n",
    # kinds of sources
    "ftp://example.com/a",
    "gopher://example.com/",
    "data:text/plain,hello",
    "javascript:alert(1)",
    "mailto:a@example.com",
    "ws://example.com/",
    "s3://",
    "s3:bucket/key",
    "s3://bucket",
    "s3://bucket/",
    "s3://bucket/folder/",
    "s3://Bucket/key",
    "s3://a/key",
    "s3://user:secret@bucket/key",
    "s3://bucket/a/../b",
    "s3://bucket/./b",
    "s3://bucket//key",
    "s3://bucket/a\nb",
    "s3://bucket/a\ud800",
    "s3://bucket/" + "a" * 1025,
    "jar:file:///a.jar!/b",
    "view-source:http://example.com/",
    "notes: part 1.md",
    "C:\\Users\\a.md",
    "c:/Users/a.md",
    "\\\\host\\share\\a.md",
    "//host/share/a.md",
    "//example.com/a",
    "~",
    "~/a.md",
    # URLs
    "http:",
    "http://",
    "http:///a",
    "http:/example.com",
    "http:example.com",
    "http://:80/",
    "http://user@example.com/",
    "http://user:secret@example.com/",
    "http://@example.com/",
    "http://example.com\\@127.0.0.1/",
    "http://127.0.0.1\\.example.com/",
    "http://exa mple.com/",
    "http://example.com:0/",
    "http://example.com:65536/",
    "http://example.com:99999999/",
    "http://example.com:-1/",
    "http://example.com:８０/",
    "http://example.com:80:80/",
    "http://example..com/",
    "http://.example.com/",
    "http://example.com../",
    "http://-example.com/",
    "http://%65xample.com/",
    "http://127.0.0.1%2f.example.com/",
    "http://example.com\N{FULLWIDTH NUMBER SIGN}@evil.example/",
    "http://" + "a" * 64 + ".com/",
    "http://" + "a." * 127 + "com/",
    "http://*.example.com/",
    "http://[::1/",
    "http://::1/",
    "http://[::1]x/",
    "http://x[::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[v1.x]/",
    "http://[1:2]/",
    "http://256.1.1.1/",
    "http://1.2.3.4.5/",
    "http://09.1.1.1/",
    "http://4294967296/",
    "http://0x100000000/",
    "http://foo.1/",
    "http://example.com/\x00",
    "http://example.com/\r\nHost: x",
    "ht\ttp://example.com/",
    "http://exam\tple.com/",
    "http://example.com/\ud800",
    # paths
    "/data/a\x00.md",
    "/data/a\n.md",
    "/data/\x7f.md",
    "/data/\x85.md",
    "/data/\ud800.md",
    "file:",
    "file://",
    "file:a.md",
    "file://host/a.md",
    "file://127.0.0.1/etc/passwd",
    "file://localhost@host/a.md",
    "file:///a?b",
    "file:///a#b",
    "file:///a%00.md",
    "file:///a%0a.md",
    "file:///\ud800",
    "file://[/a",
    "/" + "a" * MAX_SOURCE_URI,
]


@pytest.mark.parametrize(
    ("given_uri", "canonical"),
    [
        ("s3://bucket/key", "s3://bucket/key"),
        ("S3://bucket/a b%20c?d#e.md", "s3://bucket/a b%20c?d#e.md"),
        (" s3://bucket/日本/x.md ", "s3://bucket/日本/x.md"),
    ],
)
def test_keys_of_objects_stay_as_they_are(given_uri: str, canonical: str) -> None:
    assert canonical_uri(given_uri) == canonical_uri(canonical) == canonical


@pytest.mark.parametrize("source_uri", REFUSED)
def test_what_names_no_source_is_refused_with_advice(source_uri: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        canonical_uri(source_uri, base=BASE)
    assert caught.value.code is ErrorCode.INVALID_ARGUMENT
    assert not caught.value.retryable
    assert caught.value.message.endswith(".")
    assert "secret" not in caught.value.message


def test_a_relative_path_needs_a_base() -> None:
    with pytest.raises(InvalidArgument, match="absolute"):
        canonical_uri("a.md")


def test_credentials_in_a_url_are_named_as_the_reason() -> None:
    with pytest.raises(InvalidArgument, match="user name or password"):
        canonical_uri("https://user:secret@example.com/")


def test_colon_in_a_file_name_is_explained() -> None:
    with pytest.raises(InvalidArgument, match=r"write \./ before a file name"):
        canonical_uri("notes: part 1.md", base=BASE)


def test_composed_and_decomposed_names_stay_two_files() -> None:
    composed = canonical_uri("/data/é.md")
    decomposed = canonical_uri("/data/" + unicodedata.normalize("NFD", "é.md"))
    assert composed != decomposed
    assert path_of(decomposed).name == unicodedata.normalize("NFD", "é.md")


def test_names_that_are_not_utf8_survive() -> None:
    path = Path(os.fsdecode(b"/data/caf\xe9.txt"))
    uri = file_uri(path)
    assert uri == "file:///data/caf%E9.txt"
    assert path_of(uri) == path
    assert name_of(uri) == "caf\N{REPLACEMENT CHARACTER}.txt"


@given(st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="/"))))
def test_paths_round_trip(parts: list[str]) -> None:
    path = "/" + "/".join(parts)
    uri = canonical_uri("/." + path)
    assert uri.isascii()
    assert str(path_of(uri)) == os.path.normpath("/." + path)
    assert canonical_uri(uri) == uri


@given(
    st.one_of(
        st.text(),
        st.builds("http://{}".format, st.text()),
        st.builds("https://example.com/{}?{}#{}".format, st.text(), st.text(), st.text()),
        st.builds("file:///{}".format, st.text()),
        st.from_regex(r"https?://[a-z0-9.:\[\]@%x\\-]{1,20}(/.*)?", fullmatch=True),
    )
)
def test_any_text_is_refused_clearly_or_becomes_stable(text: str) -> None:
    try:
        uri = canonical_uri(text, base=BASE)
    except InvalidArgument:
        return
    assert canonical_uri(uri) == uri
    assert uri.isascii() and uri.isprintable() and " " not in uri
    assert uri.startswith(("http://", "https://", "file:///"))


@pytest.mark.parametrize(
    ("uri", "name", "shown"),
    [
        ("file:///home/ada/R%C3%A9sum%C3%A9.pdf", "Résumé.pdf", "Résumé.pdf"),
        ("file:///", "", "/"),
        ("https://example.com/a/b.pdf?key=secret", "b.pdf", "example.com/a/b.pdf"),
        ("https://example.com:8443/", "", "example.com:8443"),
        ("https://example.com/a/", "", "example.com/a"),
        ("https://example.com/a%0Ab%E2%80%AE.md", "a�b�.md", "example.com/a�b�.md"),
        ("https://example.com/%FF", "�", "example.com/�"),
        ("s3://bucket/a/b%20c.md", "b%20c.md", "s3://bucket/a/b%20c.md"),
    ],
)
def test_names_for_sniffing_and_for_messages(uri: str, name: str, shown: str) -> None:
    assert name_of(uri) == name
    assert display_name(uri) == shown


def test_only_file_uris_have_a_path() -> None:
    assert is_file_uri("file:///a")
    assert not is_file_uri("https://example.com/file:///a")
    with pytest.raises(InvalidArgument, match="not a local file"):
        path_of("https://example.com/a")
