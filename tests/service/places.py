"""Where a library may be kept: in a folder, or on servers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from life_pack import Life
from servers import MilvusServer, PostgresServer, S3Server

from eagle_rag_core.service.backup.archive import ArchiveReader
from eagle_rag_core.service.backup.backup import Backup, BackupService
from eagle_rag_core.service.backup.restore import Restored, RestoreService
from eagle_rag_core.storage import open_blobs, open_catalog, vector_stores
from eagle_rag_core.vectors.factory import open_vector_store

_numbers = itertools.count()


class Place:
    """A library that can be opened, backed up and restored.

    :param settings: of its parts; {} keeps everything in the folder.
    """

    def __init__(self, home: Path, settings: dict[str, Any]) -> None:
        self.home = home
        self.settings = settings

    def open(self, **options: Any) -> Life:
        return Life(self.home, embedder="alpha", settings=self.settings, **options)

    def backup(self, target: Path, **options: Any) -> Backup:
        with self._parts() as parts:
            return BackupService(**parts).run(target, **options)

    def restore(self, archive: Path, **options: Any) -> Restored:
        with self._parts() as parts:
            return RestoreService(**parts).run(ArchiveReader(archive), **options)

    @contextmanager
    def _parts(self) -> Iterator[dict[str, Any]]:
        with self.open() as life:  # for its settings
            settings = life.library.app.settings
        catalog = open_catalog(settings)
        store = open_vector_store(settings, catalog)
        try:
            yield {
                "catalog": catalog,
                "blobs": open_blobs(settings),
                "open_store": vector_stores(settings, catalog, store),
                "transactional": store.name == "local",
            }
        finally:
            store.close()
            catalog.close()


class Places:
    """Makes new, empty places."""

    def __init__(self, request: pytest.FixtureRequest, folder: Path) -> None:
        self._request = request
        self._folder = folder

    def new(self, kind: str = "folder") -> Place:
        """:param kind: ``folder``, ``postgres``, or ``servers`` for everything on servers."""
        number = next(_numbers)
        settings: dict[str, Any] = {}
        if kind != "folder":
            postgres: PostgresServer = self._request.getfixturevalue("postgres_server")
            settings["database"] = {"url": postgres.url(postgres.new_database())}
        if kind == "servers":
            s3: S3Server = self._request.getfixturevalue("s3_server")
            milvus: MilvusServer = self._request.getfixturevalue("milvus_server")
            settings["blobs"] = {"url": f"s3://{s3.bucket}/place{number}", **s3.settings}
            settings["milvus"] = {"uri": milvus.url, "db_prefix": f"place{number}_"}
        return Place(self._folder / f"home{number}", settings)
