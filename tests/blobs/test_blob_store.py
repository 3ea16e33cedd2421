"""Originals in a folder and on an S3-compatible store over HTTP."""

from __future__ import annotations

import hashlib
import io
import itertools
import logging
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers import S3Server

from eagle_rag_core.blobs.s3 import S3Access
from eagle_rag_core.blobs.store import BlobStore, Part
from eagle_rag_core.errors import ConfigError, StorageError
from eagle_rag_core.settings import load_settings
from eagle_rag_core.storage import open_blobs

DATA = b"Otters eat."
KEY = hashlib.sha256(DATA).hexdigest()
_numbers = itertools.count()


@pytest.fixture(params=["folder", "file URL", "s3", "s3 bucket"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    """An empty store of each kind."""
    if request.param == "folder":
        return BlobStore(tmp_path / "blobs?x%20y::z")
    if request.param == "file URL":
        return BlobStore(f"file://{tmp_path}/blobs")
    server: S3Server = request.getfixturevalue("s3_server")
    if request.param == "s3":
        url = f"s3://{server.bucket}/blobs{next(_numbers)}/"
    else:
        bucket = f"bucket{next(_numbers)}"
        server.client().create_bucket(Bucket=bucket)
        url = f"s3://{bucket}"
    return BlobStore(url, S3Access(**server.settings))


def test_parts_of_blobs_are_read_at_once(blobs: BlobStore) -> None:
    other = hashlib.sha256(b"Kelp").hexdigest()
    assert blobs.read_parts([]) == []
    blobs.put(KEY, DATA)
    blobs.put(other, b"Kelp")
    wanted = [Part(KEY, 0, 6), Part(other, 1, 99), Part("ab" * 32, 0, 5), Part(KEY, 7, 10)]
    assert blobs.read_parts(wanted) == [b"Otters", b"elp", None, b"eat"]


def test_a_blob_can_be_replaced(blobs: BlobStore) -> None:
    blobs.put(KEY, DATA)
    blobs.put_file(KEY, io.BytesIO(b"other"))
    assert blobs.get(KEY) == DATA
    blobs.put_file(KEY, io.BytesIO(b"other"), replace=True)
    assert blobs.get(KEY) == b"other"
    blobs.put(KEY, DATA, replace=True)
    assert blobs.get(KEY) == DATA


def test_a_blob_is_kept_until_it_is_deleted(blobs: BlobStore) -> None:
    blobs.check()
    assert list(blobs.stored()) == []
    assert not blobs.exists(KEY)
    blobs.put(KEY, DATA)
    blobs.put(KEY, DATA)
    assert blobs.exists(KEY) and blobs.get(KEY) == DATA
    (file,) = blobs.stored()
    assert file.name == KEY and blobs.is_blob(file)
    assert abs(file.changed_at - time.time()) < 3600
    blobs.delete(KEY)
    blobs.delete(KEY)
    assert not blobs.exists(KEY)
    with pytest.raises(StorageError, match="cannot be read"):
        blobs.get(KEY)


def test_a_large_blob_survives_the_way(blobs: BlobStore) -> None:
    data = bytes(range(256)) * 50_000
    key = hashlib.sha256(data).hexdigest()
    blobs.put(key, data)
    assert hashlib.sha256(blobs.get(key)).hexdigest() == key


def test_blobs_are_all_listed(blobs: BlobStore) -> None:
    keys = {hashlib.sha256(str(n).encode()).hexdigest() for n in range(30)}
    for key in keys:
        blobs.put(key, b"x")
    assert {file.name for file in blobs.stored()} == keys


def test_what_is_no_blob_is_told_apart_and_removed(blobs: BlobStore) -> None:
    fs, path = blobs._locate(KEY)
    fs.makedirs(fs._parent(path), exist_ok=True)
    fs.pipe_file(f"{path}.0123.part", b"half")
    (file,) = blobs.stored()
    assert not blobs.is_blob(file)
    blobs.remove(file)
    blobs.remove(file)
    assert list(blobs.stored()) == []


def test_a_store_in_memory_forgets_no_listing(s3_server: S3Server) -> None:
    """Another process writes and deletes; nothing is remembered here."""
    url = f"s3://{s3_server.bucket}/shared{next(_numbers)}"
    ours, theirs = (BlobStore(url, S3Access(**s3_server.settings)) for _ in range(2))
    assert not ours.exists(KEY) and list(ours.stored()) == []
    theirs.put(KEY, DATA)
    assert ours.exists(KEY) and len(list(ours.stored())) == 1
    theirs.delete(KEY)
    assert not ours.exists(KEY) and list(ours.stored()) == []


def opened(home: Path, **blobs: Any) -> BlobStore:
    return open_blobs(load_settings(overrides={"home": home, "blobs": blobs}))


def test_settings_name_the_store(s3_server: S3Server, tmp_path: Path) -> None:
    url = f"s3://{s3_server.bucket}/set{next(_numbers)}"
    store = opened(tmp_path, url=url, **s3_server.settings)
    store.put(KEY, DATA)
    client = s3_server.client()
    name = f"{url.rpartition('/')[2]}/{KEY[:2]}/{KEY}"
    assert client.get_object(Bucket=s3_server.bucket, Key=name)["Body"].read() == DATA
    assert not (tmp_path / "blobs").exists()


def test_the_environment_gives_what_the_settings_do_not(
    s3_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = s3_server.settings
    monkeypatch.setenv("AWS_ENDPOINT_URL", given["endpoint_url"])
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", given["access_key_id"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", given["secret_access_key"])
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    store = opened(tmp_path, url=f"s3://{s3_server.bucket}/env{next(_numbers)}")
    store.put(KEY, DATA)
    assert store.get(KEY) == DATA


def test_a_missing_bucket_is_named_at_the_start(s3_server: S3Server, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no bucket 'nowhere'"):
        opened(tmp_path, url="s3://nowhere/blobs", **s3_server.settings)
    names = [found["Name"] for found in s3_server.client().list_buckets()["Buckets"]]
    assert "nowhere" not in names


def test_missing_credentials_are_named_at_the_start(
    s3_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(ConfigError, match=r"blobs\.access_key_id"):
        opened(tmp_path, url=f"s3://{s3_server.bucket}/x", endpoint_url=s3_server.url)


def test_a_missing_extra_is_named_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(ConfigError, match=r"eagle-rag-core\[s3\]"):
        opened(tmp_path, url="s3://bucket/x")


@pytest.mark.parametrize("url", ["s3://", "s3:///", "nosuch://place", "gs://bucket"])
def test_a_place_that_cannot_be_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match=r"blobs\.url"):
        opened(tmp_path, url=url).exists(KEY)


USES: dict[str, Callable[[BlobStore], object]] = {
    "put": lambda store: store.put(KEY, DATA),
    "get": lambda store: store.get(KEY),
    "exists": lambda store: store.exists(KEY),
    "delete": lambda store: store.delete(KEY),
    "stored": lambda store: list(store.stored()),
}


def access(port: int) -> S3Access:
    return S3Access(f"http://127.0.0.1:{port}", "us-east-1", "key", "my-secret", timeout=0.2)


@pytest.mark.parametrize("use", USES)
def test_a_store_that_is_down_is_a_storage_failure(use: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(StorageError) as caught:
        USES[use](BlobStore("s3://bucket/x", access(port)))
    assert caught.value.retryable
    assert "my-secret" not in caught.value.message


def test_a_store_that_never_answers_is_given_up() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(StorageError, match="does not answer"),
    ):
        BlobStore("s3://bucket/x", access(silent.getsockname()[1])).check()


def test_searches_start_without_the_store(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    given = {"access_key_id": "key", "secret_access_key": "my-secret", "region": "us-east-1"}
    with caplog.at_level(logging.ERROR):
        opened(tmp_path, url="s3://bucket/x", endpoint_url=f"http://127.0.0.1:{port}", **given)
    assert "does not answer" in caplog.text
    assert "my-secret" not in caplog.text
    assert "my-secret" not in repr(access(1))
