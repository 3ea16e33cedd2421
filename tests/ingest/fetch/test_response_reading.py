from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.errors import ErrorCode, FetchError
from eagle_rag_core.ingest.fetch.responses import (
    check_status,
    file_name_of,
    header_texts,
    media_type_of,
    read_body,
)

GZIP = {"content-encoding": "gzip"}


def body(pieces: list[bytes], headers: dict[str, str], max_bytes: int = 10_000_000) -> bytes:
    return read_body(pieces, headers, max_bytes=max_bytes, label="page")


def test_repeated_headers_are_joined_and_bytes_decoded() -> None:
    raw = [(b"Vary", b"a"), (b"VARY", b"b"), (b"Location", "/é".encode()), (b"ETag", b'"\xe9"')]
    assert header_texts(raw) == {"vary": "a, b", "location": "/é", "etag": '"é"'}


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("text/html", ("text/html", "")),
        ("Text/HTML; Charset=UTF-8", ("text/html", "utf-8")),
        ('text/html; charset="Windows-1251"', ("text/html", "windows-1251")),
        ("text/html;charset=utf-8;boundary=x", ("text/html", "utf-8")),
        (
            "application/vnd.oasis.opendocument.text",
            ("application/vnd.oasis.opendocument.text", ""),
        ),
        ("", ("", "")),
        ("html", ("", "")),
        ("text/html/x", ("", "")),
        ("text/<script>", ("", "")),
        ("text/html; charset=../../etc/passwd", ("text/html", "")),
        ("text/html; charset=" + "x" * 100, ("text/html", "")),
    ],
)
def test_declared_types(header: str, expected: tuple[str, str]) -> None:
    assert media_type_of({"content-type": header}) == expected


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("", ""),
        ("inline", ""),
        ('attachment; filename="report.pdf"', "report.pdf"),
        ("attachment; filename=report.pdf", "report.pdf"),
        ("attachment; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf", "résumé.pdf"),
        ('attachment; filename="résumé.pdf"', "résumé.pdf"),
        ('attachment; filename="../../etc/passwd"', "passwd"),
        ('attachment; filename="C:\\\\temp\\\\a.pdf"', "a.pdf"),
        ('attachment; filename="/"', ""),
        ('attachment; filename=".."', ""),
        ("attachment; filename*=UTF-8''a%0Ab.pdf", ""),
        ("attachment; filename*=UTF-8''a%E2%80%AEfdp.exe", ""),
        ("attachment; filename=" + "x" * 300, ""),
    ],
)
def test_names_of_downloads(header: str, name: str) -> None:
    assert file_name_of({"content-disposition": header}) == name


@given(st.binary(max_size=200))
def test_no_header_breaks_the_reading(value: bytes) -> None:
    text = header_texts([(b"X", value)])["x"]
    media_type, charset = media_type_of({"content-type": text})
    assert media_type.isascii() and charset.isascii()
    name = file_name_of({"content-disposition": text})
    assert "/" not in name and name.isprintable()


@pytest.mark.parametrize("status", [200, 203])
def test_statuses_that_carry_the_source(status: int) -> None:
    check_status(status, {}, "page")


@pytest.mark.parametrize(
    ("status", "retryable"),
    [
        *((status, False) for status in (201, 202, 204, 206, 300, 304, 305)),
        *((status, False) for status in (400, 401, 402, 403, 404, 405, 410, 418, 451)),
        *((status, True) for status in (408, 425, 429)),
        *((status, True) for status in (500, 502, 503, 504, 520, 599)),
    ],
)
def test_statuses_that_do_not(status: int, retryable: bool) -> None:
    with pytest.raises(FetchError, match=f"HTTP status {status}") as caught:
        check_status(status, {}, "page")
    missing = status in (404, 410)
    code = ErrorCode.SOURCE_NOT_FOUND if missing else ErrorCode.FETCH_FAILED
    assert caught.value.code is code
    assert caught.value.retryable is retryable


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7), ("999999", 3600), ("-1", 0), ("soon", 0), ("", 0), ("9" * 5000, 0)],
)
def test_the_wish_to_wait_is_passed_on(header: str, seconds: float) -> None:
    with pytest.raises(FetchError) as caught:
        check_status(503, {"retry-after": header}, "page")
    assert caught.value.retry_after_s == seconds


def test_plain_and_identity_bodies_pass_through() -> None:
    assert body([b"a", b"", b"b"], {}) == b"ab"
    assert body([b"ab"], {"content-encoding": " Identity "}) == b"ab"


@given(st.lists(st.binary(min_size=1), min_size=1), st.integers(1, 50))
def test_gzip_unpacks_however_it_is_cut(members: list[bytes], size: int) -> None:
    packed = b"".join(gzip.compress(member) for member in members)
    pieces = [packed[at : at + size] for at in range(0, len(packed), size)]
    assert body(pieces, GZIP) == b"".join(members)
    assert body([packed], {"content-encoding": "X-GZIP"}) == b"".join(members)


@pytest.mark.parametrize("length", [(1 << 18) + shift for shift in (-1, 0, 1)] + [1 << 19, 3 << 18])
def test_gzip_unpacks_around_the_size_of_a_step(length: int) -> None:
    data = b"x" * length
    assert body([gzip.compress(data)], GZIP) == data


def test_a_truncated_gzip_body_is_noticed() -> None:
    packed = gzip.compress(b"text" * 1000)
    for cut in (1, 8, len(packed) // 2):
        with pytest.raises(FetchError, match="incomplete") as caught:
            body([packed[:-cut]], GZIP)
        assert caught.value.retryable


def test_a_damaged_gzip_body_is_noticed() -> None:
    packed = bytearray(gzip.compress(b"text" * 1000))
    packed[-5] ^= 0xFF  # checksum
    for damaged in (bytes(packed), b"not gzip at all", gzip.compress(b"text") + b"rubbish"):
        with pytest.raises(FetchError, match="damaged") as caught:
            body([damaged], GZIP)
        assert not caught.value.retryable


@pytest.mark.parametrize("coding", ["br", "zstd", "deflate", "gzip, gzip", "compress", "x"])
def test_codings_we_did_not_ask_for_are_refused(coding: str) -> None:
    with pytest.raises(FetchError, match="content coding"):
        body([zlib.compress(b"text")], {"content-encoding": coding})


def test_a_bomb_stops_unfolding_at_the_limit() -> None:
    packer = zlib.compressobj(9, wbits=31)
    million = b"\0" * 1_000_000
    given_out = 0

    def bomb() -> Iterator[bytes]:
        nonlocal given_out
        while True:  # for ever, were it taken
            given_out += 1
            yield packer.compress(million) + packer.flush(zlib.Z_SYNC_FLUSH)

    with pytest.raises(FetchError) as caught:
        read_body(bomb(), GZIP, max_bytes=5_000_000, label="page")
    assert caught.value.code is ErrorCode.SOURCE_TOO_LARGE
    assert given_out == 6


def test_one_piece_that_is_a_bomb_is_unpacked_step_by_step() -> None:
    import tracemalloc

    packed = gzip.compress(b"\0" * 100_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(FetchError, match="larger than 1000 bytes"):
            body([packed], GZIP, max_bytes=1000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000


def test_a_declared_size_beyond_the_limit_is_believed_without_reading() -> None:
    def unread() -> Iterator[bytes]:
        yield pytest.fail("read")

    with pytest.raises(FetchError) as caught:
        read_body(unread(), {"content-length": "1001"}, max_bytes=1000, label="page")
    assert caught.value.code is ErrorCode.SOURCE_TOO_LARGE
    assert "`ingest.max_bytes`" in caught.value.message


def test_sizes_at_and_above_the_limit() -> None:
    assert len(body([b"x" * 600, b"x" * 400], {}, max_bytes=1000)) == 1000
    with pytest.raises(FetchError):
        body([b"x" * 600, b"x" * 401], {}, max_bytes=1000)


@pytest.mark.parametrize(
    ("pieces", "headers"), [([], {}), ([b""], {}), ([gzip.compress(b"")], GZIP)]
)
def test_an_empty_body_is_no_document(pieces: list[bytes], headers: dict[str, str]) -> None:
    with pytest.raises(FetchError) as caught:
        body(pieces, headers)
    assert caught.value.code is ErrorCode.EMPTY_DOCUMENT
