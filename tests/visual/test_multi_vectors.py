"""Embedders that give a matrix for each picture: what they find, and what becomes of the files."""

from __future__ import annotations

import base64
import io
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from colour_server import COLOURS, colour_embedder, region_embedder
from fpdf import FPDF
from models.model_servers import ModelStub, model_server
from PIL import Image, ImageDraw
from servers import MilvusServer, PostgresServer, S3Server
from visual_library import SETTINGS

from eagle_rag_core.errors import ModelError
from eagle_rag_core.ingest.matrix_files import MatrixFiles, matrix_key
from eagle_rag_core.models.image_servers import ServedMatrixEmbedder
from eagle_rag_core.models.late_interaction import maxsim, packed, pooled
from eagle_rag_core.retrieval.visual import VisualOutcome
from eagle_rag_core.service.backup.archive import ArchiveReader
from eagle_rag_core.service.backup.backup import BackupService
from eagle_rag_core.service.backup.restore import RestoreService
from eagle_rag_core.settings.sections import ImageEmbeddingSettings
from eagle_rag_core.storage import open_blobs, vector_stores
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import COMMAND_LINE, Scope, TileKind

#: Red and blue are small on the first and red is all that the second shows.
BOTH, ONE = "a field with two marks", "a field of one colour"


def painted(ground: str, *marks: str) -> bytes:
    """A picture of one colour with small marks of others, as PNG."""
    image = Image.new("RGB", (320, 320), COLOURS[ground])
    pen = ImageDraw.Draw(image)
    for at, mark in enumerate(marks):
        pen.rectangle((40 + 120 * at, 120, 119 + 120 * at, 199), fill=COLOURS[mark])
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


PICTURES = {BOTH: painted("green", "red", "blue"), ONE: painted("red")}


def album(path: Path, pictures: dict[str, bytes]) -> Path:
    """A page for each picture, with its caption."""
    pdf = FPDF()
    for number, (caption, data) in enumerate(pictures.items(), 1):
        pdf.add_page()
        pdf.set_font("Helvetica", size=11)
        pdf.image(io.BytesIO(data), x=20, y=20, w=150)
        pdf.set_y(180)
        pdf.cell(0, 8, f"Figure {number}: {caption}", new_x="LMARGIN", new_y="NEXT")
        pdf.ln(8)
        pdf.multi_cell(0, 6, f"Plate {number} of the album hangs in the hall. " * 6)
    pdf.output(str(path))
    return path


def answer(path: str, body: Any) -> tuple[int, Any]:
    return (region_embedder if path == "/pooling" else colour_embedder)(path, body)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelStub]:
    with model_server(answer) as stub:
        yield stub


def embedding(server: ModelStub, protocol: str = "pooling", model: str = "regions") -> Any:
    url = server.url if protocol == "embeddings" else server.url.removesuffix("/v1")
    return {"base_url": url, "model": model, "protocol": protocol}


def open_library(
    home: Path, server: ModelStub, protocol: str = "pooling", **more: Any
) -> PackLibrary:
    models = {
        "ocr": "none",
        "image_embedder": "openai-like",
        "image_embedding": embedding(server, protocol),
    }
    return PackLibrary(home, settings={**SETTINGS, "models": models, **more})


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, server: ModelStub) -> Iterator[PackLibrary]:
    """A library with the album, which tests leave as they found it."""
    folder = tmp_path_factory.mktemp("matrices")
    with open_library(folder / "home", server) as opened:
        opened.ingest(album(folder / "album.pdf", PICTURES))
        yield opened


def figures(library: PackLibrary, query: str, image: bytes = b"", kb: str = "") -> VisualOutcome:
    engine = library.app.engine()
    scope = Scope(kbs=frozenset([kb or "default"]))
    kinds = (TileKind.FIGURE,)
    return engine.visual.search(query, scope, 2, image=image, kinds=kinds)


def captions(outcome: VisualOutcome) -> list[str]:
    return [hit.caption.partition(": ")[2] for hit in outcome.hits]


def matrix_files(library: PackLibrary) -> set[str]:
    """The files of matrices that are stored."""
    stored = (library.app.settings.home / "blobs").rglob("*")
    return {path.name for path in stored if path.is_file() and path.read_bytes()[:7] == b"EAGLEMV"}


def pictures_sent(server: ModelStub) -> int:
    return sum("messages" in body for _, body, _ in server.requests)


def test_maxsim_ranks_what_the_pooled_vector_ranks_wrong(
    library: PackLibrary, server: ModelStub
) -> None:
    embedder = ServedMatrixEmbedder(ImageEmbeddingSettings(**embedding(server)))
    query = embedder.embed_text("red blue")
    matrices = {name: embedder.embed_image(data) for name, data in PICTURES.items()}
    assert query.shape == (2, embedder.dim) and matrices[BOTH].shape == (64, embedder.dim)
    in_the_middle = {name: pooled(query) @ pooled(matrix) for name, matrix in matrices.items()}
    assert in_the_middle[ONE] > in_the_middle[BOTH]
    both, one = maxsim(query, [packed(matrices[BOTH]), packed(matrices[ONE])])
    assert both > one

    outcome = figures(library, "red blue")
    assert captions(outcome) == [BOTH, ONE]
    assert [hit.why for hit in outcome.hits] == [{"maxsim": 1}, {"maxsim": 2}]
    assert {hit.matched_by for hit in outcome.hits} == {"pixels"}
    assert [step.status for step in outcome.steps if step.name == "maxsim"] == ["ok"]


def test_words_and_matrices_are_fused(library: PackLibrary) -> None:
    outcome = figures(library, "field of red")
    assert outcome.hits[0].why.keys() == {"lexical", "maxsim"}
    sent = base64.b64encode(PICTURES[BOTH]).decode()
    (hit,) = library.call("core_retrieve_by_image", image_base64=sent, top_k=1)
    assert (hit["page"], hit["matched_by"]) == (1, "pixels")
    assert figures(library, "unknown").hits == (), "words that stand for nothing find nothing"


def test_a_copy_takes_its_matrices_along_and_a_deletion_takes_them_away(
    library: PackLibrary, server: ModelStub, tmp_path: Path
) -> None:
    services, before = library.app.services(), pictures_sent(server)
    first = matrix_files(library)
    services.kbs.create(COMMAND_LINE, "copy")
    services.upkeep.kb_copy.copy(COMMAND_LINE, "default", "copy")
    path = tmp_path / "again.pdf"
    path.write_bytes(original_of(library))
    (document,) = library.ingest(path)
    assert pictures_sent(server) == before
    assert len(matrix_files(library)) == 3
    assert captions(figures(library, "red blue", kb="copy")) == [BOTH, ONE]

    former = matrix_files(library)
    library.ingest(album(path, {BOTH: PICTURES[BOTH]}))  # another content of the same document
    rest(library)
    assert len(former & matrix_files(library)) == 2 and len(matrix_files(library)) == 3
    services.documents.delete(COMMAND_LINE, document)
    services.kbs.delete(COMMAND_LINE, "copy")
    assert matrix_files(library) == first
    assert captions(figures(library, "red blue")) == [BOTH, ONE]


def test_a_file_that_went_before_its_version_was_published_is_put_back(
    library: PackLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = matrix_files(library)
    monkeypatch.setattr(MatrixFiles, "keep", lambda *lost: None)
    (document,) = library.ingest(album(tmp_path / "late.pdf", {ONE: PICTURES[ONE]}))
    rest(library)
    assert len(matrix_files(library) - before) == 1
    library.app.services().documents.delete(COMMAND_LINE, document)
    assert matrix_files(library) == before


def original_of(library: PackLibrary) -> bytes:
    (file,) = (
        path
        for path in (library.app.settings.home / "blobs").rglob("*")
        if path.is_file() and path.read_bytes()[:5] == b"%PDF-"
    )
    return file.read_bytes()


def test_lost_and_damaged_matrices_cost_the_order_and_are_made_anew(
    library: PackLibrary,
) -> None:
    (name,) = matrix_files(library)
    file = library.app.settings.home / "blobs" / name[:2] / name
    whole = file.read_bytes()
    file.write_bytes(whole[:40])
    assert captions(figures(library, "red blue")) == [ONE, BOTH], "as the pooled vectors have it"
    file.unlink()
    assert captions(figures(library, "red blue")) == [ONE, BOTH]
    upkeep = library.app.services().upkeep
    findings = upkeep.audit.run()
    assert [found.check for found in findings] == ["blobs.matrices"]
    upkeep.audit.repair(findings)
    finish(library, [job.job_id for job in library.app.services().jobs.list(COMMAND_LINE)])
    assert file.read_bytes() == whole
    assert captions(figures(library, "red blue")) == [BOTH, ONE]


def test_single_vectors_become_matrices_by_reindex(server: ModelStub, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with open_library(home, server, "embeddings") as library:
        library.ingest(album(tmp_path / "album.pdf", PICTURES))
        assert matrix_files(library) == set()
        assert figures(library, "red blue").hits[0].why.keys() == {"pixels"}
    with open_library(home, server) as library:
        steps = figures(library, "red blue").steps
        assert [step.status for step in steps if step.name == "maxsim"] == ["skipped"]
        assert make_anew(library) == 1
        assert captions(figures(library, "red blue")) == [BOTH, ONE]


def make_anew(library: PackLibrary) -> int:
    """Make what is stale anew; how many documents that were."""
    jobs = library.app.services().upkeep.reindex.submit(COMMAND_LINE).jobs
    finish(library, [job.job_id for job in jobs])
    return len(jobs)


def finish(library: PackLibrary, job_ids: Sequence[str]) -> None:
    """Wait until jobs are over and the worker rests: it sees to the files after a job."""
    service = library.app.services().jobs
    library.app.work()
    while len(service.ended(COMMAND_LINE, job_ids)) < len(job_ids):
        time.sleep(0.005)
    rest(library)


def rest(library: PackLibrary) -> None:
    while library.app.engine().worker._running:  # type: ignore[attr-defined]
        time.sleep(0.005)


def test_matrices_travel_in_a_backup(
    library: PackLibrary, server: ModelStub, tmp_path: Path
) -> None:
    archive = tmp_path / "backup.tar"
    done = BackupService(**parts_of(library)).run(archive)
    assert (done.originals, done.without_vectors) == (1, 0)
    with open_library(tmp_path / "other", server) as other:
        other.ingest(album(tmp_path / "old.pdf", {ONE: PICTURES[ONE]}))
        RestoreService(**parts_of(other)).run(ArchiveReader(archive), force=True)
        assert captions(figures(other, "red blue")) == [BOTH, ONE]
        assert matrix_files(other) == matrix_files(library)
        (name,) = matrix_files(other)
        (other.app.settings.home / "blobs" / name[:2] / name).unlink()
        lacking = BackupService(**parts_of(other)).run(tmp_path / "second.tar")
        assert lacking.without_vectors == 1


@pytest.mark.full
def test_matrices_rank_on_servers(
    server: ModelStub,
    tmp_path: Path,
    milvus_server: MilvusServer,
    s3_server: S3Server,
    postgres_server: PostgresServer,
) -> None:
    places = {
        "database": {"url": postgres_server.url(postgres_server.new_database())},
        "milvus": {"uri": milvus_server.url, "db_prefix": "matrices_"},
        "blobs": {"url": f"s3://{s3_server.bucket}/matrices", **s3_server.settings},
    }
    with open_library(tmp_path / "home", server, **places) as library:
        (document,) = library.ingest(album(tmp_path / "album.pdf", PICTURES))
        rest(library)
        outcome = figures(library, "red blue")
        assert captions(outcome) == [BOTH, ONE]
        assert [list(hit.why) for hit in outcome.hits] == [["maxsim"]] * 2
        services = library.app.services()
        assert services.upkeep.audit.run() == []
        before = pictures_sent(server)
        services.kbs.create(COMMAND_LINE, "copy")
        services.upkeep.kb_copy.copy(COMMAND_LINE, "default", "copy")
        services.documents.delete(COMMAND_LINE, document)
        assert captions(figures(library, "red blue", kb="copy")) == [BOTH, ONE]
        assert pictures_sent(server) == before
        services.kbs.delete(COMMAND_LINE, "copy")
        blobs = open_blobs(library.app.settings)
        assert list(blobs.stored()) == []


def parts_of(library: PackLibrary) -> dict[str, Any]:
    engine, settings = library.app.engine(), library.app.settings
    return {
        "catalog": engine.catalog,
        "blobs": open_blobs(settings),
        "open_store": vector_stores(settings, engine.catalog, engine.store),
        "transactional": True,
    }


@pytest.mark.parametrize(
    "data", [[], [1.0, 2.0], [[1.0], [1.0, 2.0]], [["x"]], [[float("nan")]], "aGVsbG8="]
)
def test_an_answer_that_is_no_matrix_is_named(data: Any) -> None:
    with model_server(lambda path, body: (200, {"data": [{"data": data}]})) as stub:
        embedder = ServedMatrixEmbedder(ImageEmbeddingSettings(**embedding(stub)))
        with pytest.raises(ModelError, match="image embedding server"):
            embedder.embed_text("x")


def test_a_file_of_matrices_goes_by_its_version() -> None:
    assert matrix_key("a") != matrix_key("b") and len(matrix_key("a")) == 64
