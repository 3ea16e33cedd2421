"""Vectors move between the catalog and Milvus whole, and can be interrupted at any point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fpdf import FPDF
from life_pack import Life
from sqlalchemy import Connection, select, update

from eagle_rag_core.catalog import collections
from eagle_rag_core.catalog.collections import list_collections
from eagle_rag_core.catalog.schema import documents, jobs, vector_rows
from eagle_rag_core.errors import InvalidArgument, StorageError
from eagle_rag_core.service import vectors_move
from eagle_rag_core.service.vectors_move import Moved, VectorMove, namespaces
from eagle_rag_core.types import COMMAND_LINE, CollectionView, JobStatus
from eagle_rag_core.vectors.collections import as_collection
from eagle_rag_core.vectors.local.store import LocalVectorStore
from eagle_rag_core.vectors.milvus.store import MilvusVectorStore
from eagle_rag_core.vectors.store import Collection, VectorStore, VersionRows

QUERIES = ("otters eat", "kelp forest", "海胆", "enriched")


class Interrupted(Exception):
    """Stands for the end of the process."""


class Place:
    """A Milvus file that stores of one library after another use.

    :param folder: it is in.
    """

    def __init__(self, folder: Path) -> None:
        self.uri = str(folder / "lite.db")
        self._number = 0

    def prefix(self) -> str:
        self._number += 1
        return f"move{self._number}_"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    pytest.importorskip("pymilvus", reason="pymilvus is not installed")
    pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")
    return Place(tmp_path_factory.mktemp("moved"))


@pytest.fixture
def milvus(life: Life, place: Place) -> Iterator[MilvusVectorStore]:
    """An empty place in Milvus for the library."""
    store = MilvusVectorStore(
        life.engine.catalog, uri=place.uri, database=f"{place.prefix()}life", grace=60.0
    )
    yield store
    store.close()


def fill(life: Life, folder: Path) -> list[str]:
    return [
        life.add(folder / "a.md", "# A\n\nOTTERS eat urchins.\n\n## B\n\nIn the kelp forest.\n"),
        life.add(folder / "b.md", "海獭吃海胆。", kb="zoo"),
        life.add(folder / "c.md", "OTTERS sleep in kelp.", kb="zoo"),
    ]


def add_pdf(life: Life, path: Path) -> None:
    """A file with a page, which is a region of its own."""
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("Helvetica", size=14)
    pdf.write(text="Otters eat urchins near the kelp forest, says this page of a report.")
    pdf.output(str(path))
    life.add(path)


def stored(life: Life, store: VectorStore) -> dict[tuple[str, str], Any]:
    """Every visible row of every collection."""
    catalog = life.engine.catalog
    with catalog.read() as conn:
        infos = list_collections(conn, catalog.namespace)
        shown = sorted(conn.scalars(select(documents.c.visible_version)))
    return {
        (info.kind, node_id): (
            rows.version_id,
            rows.kb_name,
            list(tokens),
            rows.dense[number].tobytes() if rows.dense is not None else b"",
        )
        for info in infos
        for rows in store.read(as_collection(info), shown)
        for number, (node_id, tokens) in enumerate(zip(rows.node_ids, rows.tokens, strict=True))
    }


def found(life: Life) -> list[Any]:
    return [life.library.call("core_retrieve_text", query=query) for query in QUERIES]


def move(life: Life, target: VectorStore, **options: Any) -> Moved:
    return VectorMove(life.engine.catalog, life.engine.store, target, **options).run()


def test_a_round_trip_gives_the_same_answers_and_embeds_nothing(
    tmp_path: Path, place: Place
) -> None:
    home = tmp_path / "home"
    views = [
        CollectionView(
            name="life_names",
            embedder="life_gamma",
            accepts=lambda chunk: "OTTERS" in chunk.text,
        )
    ]
    in_milvus = {"milvus": {"uri": place.uri, "db_prefix": place.prefix()}}
    local: dict[str, Any] = {"embedder": "alpha", "views": views}

    @contextmanager
    def elsewhere(life: Life) -> Iterator[MilvusVectorStore]:
        database = f"{in_milvus['milvus']['db_prefix']}life"
        store = MilvusVectorStore(life.engine.catalog, uri=place.uri, database=database, grace=60.0)
        yield store
        store.close()

    with Life(home, **local) as life, elsewhere(life) as target:
        fill(life, tmp_path)
        add_pdf(life, tmp_path / "d.pdf")
        before, rows = found(life), stored(life, life.engine.store)
        assert {kind for kind, _ in rows} == {"text", "visual", "life_names"}
        life.alpha.embedded.clear()
        life.gamma.embedded.clear()
        done = move(life, target)
        assert stored(life, target) == rows
        assert (done.namespace, done.collections) == ("life", 3)
        assert done.rows == len(rows) and done.copied == done.versions == done.compared
        # A document counts once, whatever number of collections has vectors of it.
        assert done.versions == len(life.library.call("core_list_documents")["items"])
        assert life.alpha.embedded == life.gamma.embedded == []
        assert found(life) == before  # the old place is in use still

    with Life(home, **local, settings=in_milvus) as life:
        assert life.engine.store.name == "milvus"
        for query, hits in zip(QUERIES, before, strict=True):
            again = life.library.call("core_retrieve_text", query=query)
            assert {hit["node_id"] for hit in again} == {hit["node_id"] for hit in hits}
        assert life.findings() == []
        catalog = life.engine.catalog
        target = LocalVectorStore(catalog)
        with catalog.read() as conn:
            infos = list_collections(conn, "life")
        for info in infos:
            target.drop(as_collection(info))
        assert stored(life, target) == {}
        assert move(life, target).copied == done.copied
        assert life.alpha.embedded == []

    with Life(home, **local) as life:
        assert life.engine.store.name == "local"
        assert stored(life, life.engine.store) == rows
        assert found(life) == before
        assert life.findings() == []


class Dying(MilvusVectorStore):
    """Ends the process at one of its steps.

    :ivar left: steps that go well before.
    """

    left = 0

    def stage(self, collection: Collection, rows: VersionRows) -> None:
        self._step()
        super().stage(collection, rows)

    def write(self, tx: Connection, collection: Collection, rows: VersionRows) -> None:
        self._step()
        super().write(tx, collection, rows)

    def _step(self) -> None:
        if not self.left:
            raise Interrupted
        self.left -= 1


def test_what_was_interrupted_anywhere_goes_on(
    life: Life, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_move, "_BATCH_ROWS", 1)  # every version on its own
    fill(life, tmp_path)
    database = f"{place.prefix()}life"
    target = Dying(life.engine.catalog, uri=place.uri, database=database, grace=60.0)
    ends, copied = 0, 0
    for _ in range(40):
        target.left = 1  # each attempt stages one version, and every other dies before writing
        target.left += ends % 2
        try:
            done = move(life, target)
        except Interrupted:
            ends += 1
            continue
        copied = done.copied
        break
    assert ends >= 3 and copied <= 1
    assert stored(life, target) == stored(life, life.engine.store)
    # What was staged and not written is never swept while it is visible.
    target._retirements._clock = lambda: 1e12
    target.sweep()
    assert stored(life, target) == stored(life, life.engine.store)
    target.close()


def test_a_second_move_carries_what_has_changed(
    life: Life, milvus: MilvusVectorStore, tmp_path: Path
) -> None:
    first, *_ = fill(life, tmp_path)
    move(life, milvus)
    assert move(life, milvus).copied == 0
    life.services.documents.delete(COMMAND_LINE, first)
    life.add(tmp_path / "c.md", "OTTERS wake in kelp.", kb="zoo")
    life.add(tmp_path / "d.md", "Seals bark.")
    assert move(life, milvus).copied == 2
    milvus._retirements._clock = lambda: 1e12
    milvus.sweep()
    with life.engine.catalog.read() as conn:
        (text,) = (as_collection(info) for info in list_collections(conn, "life"))
    assert milvus.versions(text) == life.engine.store.versions(text)


def test_what_comes_while_it_copies_is_copied_too(
    life: Life, milvus: MilvusVectorStore, tmp_path: Path
) -> None:
    fill(life, tmp_path)
    late: list[str] = []

    def progress(done: int, total: int) -> None:
        if done and not late:
            late.append(life.add(tmp_path / "late.md", "Seals bark."))

    VectorMove(life.engine.catalog, life.engine.store, milvus).run(progress)
    assert late and stored(life, milvus) == stored(life, life.engine.store)


class Altered(LocalVectorStore):
    """Vectors as they were before something happened to the copy."""

    def read(self, collection: Collection, version_ids: Sequence[str]) -> Iterator[VersionRows]:
        for rows in super().read(collection, version_ids):
            assert rows.dense is not None
            yield replace(rows, dense=-rows.dense)


def test_a_copy_that_differs_is_noticed(
    life: Life, milvus: MilvusVectorStore, tmp_path: Path
) -> None:
    fill(life, tmp_path)
    move(life, milvus)
    catalog = life.engine.catalog
    with pytest.raises(StorageError, match="3 of 3 compared documents differ"):
        VectorMove(catalog, Altered(catalog), milvus).run()


def test_nonsense_is_refused(life: Life, milvus: MilvusVectorStore, tmp_path: Path) -> None:
    fill(life, tmp_path)
    catalog = life.engine.catalog
    with catalog.read() as conn:
        job_id = conn.scalars(select(jobs.c.job_id)).first()
    running = update(jobs).where(jobs.c.job_id == job_id)
    with catalog.write() as tx:
        tx.execute(running.values(status=JobStatus.RUNNING, lease_until=2e9))
    with pytest.raises(InvalidArgument, match="1 ingest jobs of 'life' are running"):
        move(life, milvus)
    assert move(life, milvus, clock=lambda: 3e9).copied  # its worker is dead
    with catalog.write() as tx:
        tx.execute(running.values(status=JobStatus.SUCCEEDED, lease_until=0))
        collections.ensure_collection(
            tx, "life", kind="text", embedder="life_beta", fingerprint="beta", dim=6
        )
    with pytest.raises(InvalidArgument, match="reindex --embedder"):
        move(life, milvus)


def test_the_place_of_another_library_is_left_alone(
    life: Life, milvus: MilvusVectorStore, tmp_path: Path
) -> None:
    fill(life, tmp_path)
    with life.engine.catalog.read() as conn:
        text = next(c for c in list_collections(conn, "life") if c.kind == "text")
    collection = as_collection(text)
    (rows,) = life.engine.store.read(
        collection, [next(iter(life.engine.store.versions(collection)))]
    )
    milvus.stage(collection, replace(rows, version_id="of another library"))
    with pytest.raises(InvalidArgument, match="db_prefix"):
        move(life, milvus)
    assert milvus.versions(collection) == {"of another library": len(rows.node_ids)}


def test_lost_vectors_are_repaired_first(
    life: Life, milvus: MilvusVectorStore, tmp_path: Path
) -> None:
    fill(life, tmp_path)
    with life.engine.catalog.write() as tx:
        tx.execute(vector_rows.delete().where(vector_rows.c.node_id == _any_node(tx)))
    with pytest.raises(StorageError, match="doctor --repair"):
        move(life, milvus)


def _any_node(tx: Connection) -> str:
    return str(tx.scalars(select(vector_rows.c.node_id)).first())


def test_namespaces_are_found_by_their_collections(life: Life, tmp_path: Path) -> None:
    fill(life, tmp_path)
    with life.engine.catalog.write() as tx:
        collections.ensure_collection(
            tx, "zoo", kind="text", embedder="none", fingerprint="none", dim=0
        )
    assert namespaces(life.engine.catalog) == ["life", "zoo"]
