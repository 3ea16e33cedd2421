"""Files of matrices: their format, and that nothing is made twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from eagle_rag_core.blobs.store import BlobStore
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.ingest import matrix_files, matrix_making
from eagle_rag_core.ingest.batches import FinishedBatches
from eagle_rag_core.ingest.matrix_files import MatrixFiles, matrix_key
from eagle_rag_core.ingest.matrix_format import MatrixDraft, read_head
from eagle_rag_core.ingest.matrix_making import DrawnMatrices
from eagle_rag_core.models.late_interaction import packed, pooled, unit_rows, unpacked
from eagle_rag_core.vectors.store import Collection

MODEL, CONTENT = "image-model", "c0ffee"
COLLECTION = Collection("core", "matrices_1_2", "matrices_1", 4)


def matrix(place: str) -> NDArray[np.float32]:
    """One that follows from its place: its letters, as a row each."""
    return unit_rows([[ord(letter), 1, len(place), -7] for letter in place])


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}", namespace="core")
    catalog.migrate()
    yield catalog
    catalog.close()


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "blobs")


@pytest.fixture
def files(catalog: Catalog, blobs: BlobStore) -> MatrixFiles:
    return MatrixFiles(catalog, blobs)


def drafted(*places: str) -> MatrixDraft:
    draft = MatrixDraft(MODEL, CONTENT)
    for place in places:
        draft.add(place, packed(matrix(place)))
    return draft


def test_each_matrix_is_read_on_its_own(
    files: MatrixFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.keep("v", drafted("one", "twelve", "二"))
    files.keep("w", drafted("one"))
    wanted = {"v": ["twelve", "二", "none"], "w": ["one"], "gone": ["one"]}
    for beginning in (1 << 16, 20):  # a head may be longer than what is read at first
        monkeypatch.setattr(matrix_files, "_BEGINNING", beginning)
        found = files.read(wanted, MODEL)
        assert found.keys() == {("v", "twelve"), ("v", "二"), ("w", "one")}
        for (_, place), got in found.items():
            assert np.allclose(unpacked(got), matrix(place), atol=0.01)
    assert files.read(wanted, "image-other") == {}
    assert files.read(wanted, MODEL, "another content") == {}


@pytest.mark.parametrize("damage", ["cut", "other", "later", "head", "scales", "empty"])
def test_damage_is_told_from_absence_and_costs_the_file_alone(
    files: MatrixFiles, blobs: BlobStore, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    files.keep("v", drafted("one"))
    files.keep("w", drafted("one"))
    data = bytearray(blobs.get(matrix_key("v")))
    head = read_head(bytes(data)).length
    match damage:
        case "cut":
            del data[-1]
        case "other":
            data[:8] = b"%PDF-1.7"
        case "later":
            data[7] = 2
        case "head":
            data[12:20] = b"12345678"
        case "scales":
            data[head : head + 2] = b"\xff\xff"
        case "empty":
            data.clear()
    blobs.put(matrix_key("v"), bytes(data), replace=True)
    assert files.read({"v": ["one"], "w": ["one"]}, MODEL).keys() == {("w", "one")}
    assert "version v are damaged" in caplog.text


def test_a_file_goes_only_if_its_version_is_gone(files: MatrixFiles, blobs: BlobStore) -> None:
    draft = drafted("one")
    files.keep("v", draft)
    files.discard(["v", "never"])
    assert not blobs.exists(matrix_key("v"))
    files.ensure("v", draft)  # of no version that is published
    assert not blobs.exists(matrix_key("v"))


class Model:
    """Makes matrices, and fails after some of them."""

    def __init__(self, patience: int = 99) -> None:
        self.patience = patience
        self.made: list[str] = []

    def __call__(self, places: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        for place in places:
            if len(self.made) == self.patience:
                raise ConnectionError
            self.made.append(place)
            yield matrix(place)


def making(
    model: Model, files: MatrixFiles, places: Sequence[str], related: Sequence[str] = ()
) -> DrawnMatrices:
    return DrawnMatrices(
        places, model, embedder=MODEL, original=CONTENT, files=files, related=related
    )


def test_whoever_was_interrupted_goes_on(
    files: MatrixFiles, blobs: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix_making, "_BATCH", 2)
    places = [f"place {number}" for number in range(7)]
    with pytest.raises(ConnectionError):
        making(Model(5), files, places).make(
            lambda done: None, FinishedBatches(blobs).of(COLLECTION)
        )
    finished, second, told = FinishedBatches(blobs), Model(), list[float]()
    whole = making(second, files, places)
    rows = whole.make(told.append, finished.of(COLLECTION))
    assert second.made == places[4:]
    assert told == [0, 2 / 7, 4 / 7, 6 / 7]
    assert np.allclose(rows, [pooled(matrix(place)) for place in places], atol=0.01)
    files.keep("v", whole.draft)
    finished.discard()
    assert [file.name for file in blobs.stored()] == [matrix_key("v")]


def test_what_a_related_version_has_is_taken_over(files: MatrixFiles) -> None:
    first = making(Model(), files, ["a", "b"])
    rows = first.make(lambda done: None, None)
    files.keep("v", first.draft)
    model = Model()
    second = making(model, files, ["b", "c", "a"], related=["v", "gone"])
    again = second.make(lambda done: None, None)
    assert model.made == ["c"]
    assert (again[[2, 0]] == rows).all()
