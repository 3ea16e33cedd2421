"""Pixels: embedders, the collection of what they see, and searching with a picture."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from colour_server import DIM, colour_embedder
from models.model_servers import ModelStub, model_server
from visual_library import SETTINGS
from visual_samples import Place, draw_report, picture

from eagle_rag_core.errors import ConfigError, ErrorCode, InvalidArgument, ModelError
from eagle_rag_core.ingest.image_input import MAX_BYTES, picture_from_base64
from eagle_rag_core.models.fastembed_image import _pairs
from eagle_rag_core.models.image_embedders import image_embedder
from eagle_rag_core.models.image_servers import ServedImageEmbedder
from eagle_rag_core.settings.sections import ImageEmbeddingSettings, ModelSettings
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.testing.library import CallFailed

BLUE = (40, 90, 170)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.fixture(scope="module")
def server() -> Iterator[ModelStub]:
    with model_server(colour_embedder) as stub:
        yield stub


def settings(server: ModelStub, model: str = "colours") -> dict[str, Any]:
    models = {
        "ocr": "none",
        "image_embedder": "openai-like",
        "image_embedding": {"base_url": server.url, "model": model, "api_key": "k"},
    }
    return {**SETTINGS, "models": models}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Place]]:
    path = tmp_path_factory.mktemp("drawn") / "report.pdf"
    return path, draw_report(path)


@pytest.fixture(scope="module")
def looking(
    server: ModelStub,
    places: tuple[Path, dict[str, Place]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[PackLibrary]:
    """A library whose pixels are embedded."""
    home = tmp_path_factory.mktemp("looking") / "home"
    with PackLibrary(home, settings=settings(server)) as library:
        library.ingest(places[0])
        yield library


def test_a_picture_finds_what_looks_like_it(
    looking: PackLibrary, places: tuple[Path, dict[str, Place]]
) -> None:
    for key, kind, colour in (
        ("kiln", "disc", (200, 60, 50)),
        ("dish", "rings", BLUE),
        ("flag", "bars", (60, 150, 70)),
    ):
        hits = looking.call(
            "core_retrieve_by_image", image_base64=encoded(picture(kind, colour)), top_k=1
        )
        (hit,) = hits
        assert (hit["matched_by"], hit["kind"]) == ("pixels", "figure")
        assert hit["page"] == places[1][key].page


def test_words_and_pixels_are_fused(looking: PackLibrary) -> None:
    found = looking.app.services().visual
    from eagle_rag_core.types import LOCAL, ScopeRequest

    outcome = found.search(LOCAL, "blue antenna rings", top_k=3, request=ScopeRequest())
    assert {"lexical", "pixels"} <= {step.name for step in outcome.steps if step.status == "ok"}
    assert {"lexical", "pixels"} <= outcome.hits[0].why.keys()
    only_colour = found.search(LOCAL, "purple", top_k=1, request=ScopeRequest())
    assert [hit.matched_by for hit in only_colour.hits] == ["pixels"]


def test_the_same_pixels_are_not_embedded_twice(looking: PackLibrary, server: ModelStub) -> None:
    before = len(server.requests)
    looking.app.services().kbs.create(_local(), "copy")
    copied = looking.app.services().upkeep.kb_copy.copy(_local(), "default", "copy")
    assert copied.copied == 1 and len(server.requests) == before
    hits = looking.call(
        "core_retrieve_by_image", image_base64=encoded(picture("rings", BLUE)), kb_name="copy"
    )
    assert hits and {hit["kb_name"] for hit in hits} == {"copy"}


def _local() -> Any:
    from eagle_rag_core.types import LOCAL

    return LOCAL


def test_another_embedder_is_caught_up_with_by_reindex(
    server: ModelStub, places: tuple[Path, dict[str, Place]], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    arguments = {"image_base64": encoded(picture("rings", BLUE)), "top_k": 1}
    with PackLibrary(home, settings=settings(server, "first")) as library:
        library.ingest(places[0])
        assert library.call("core_retrieve_by_image", **arguments)
    with PackLibrary(home, settings=settings(server, "second")) as library:
        service = library.app.services().upkeep.reindex
        assert service.stale(_local(), "") == 1
        assert library.call("core_retrieve_visual", query="antenna dish"), "words are there"


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ("%%%", "not base64"),
        (encoded(b"plain text"), "no picture"),
        (encoded(picture("disc", BLUE)[:300]), "no picture"),
        (encoded(b"\x89PNG" + bytes(MAX_BYTES)), "more than"),
    ],
)
def test_what_is_no_picture_is_refused(sent: str, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        picture_from_base64(sent)


def test_a_bomb_is_refused_before_it_goes_off() -> None:
    import io

    from PIL import Image

    file = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(file, "PNG")
    with pytest.raises(InvalidArgument, match="no picture"):
        picture_from_base64(encoded(file.getvalue()))


def test_pictures_are_made_small_and_plain() -> None:
    import io

    from PIL import Image

    large = io.BytesIO()
    Image.new("CMYK", (3000, 1500)).save(large, "JPEG")
    made = picture_from_base64("data:image/jpeg;base64," + encoded(large.getvalue()))
    assert Image.open(io.BytesIO(made)).size == (1024, 512)


def test_the_tool_refuses_what_is_no_picture(looking: PackLibrary) -> None:
    with pytest.raises(CallFailed) as caught:
        looking.call("core_retrieve_by_image", image_base64="AAAA")
    assert caught.value.code is ErrorCode.INVALID_ARGUMENT


def test_vectors_are_of_length_one_and_the_key_is_sent(server: ModelStub) -> None:
    embedder = ServedImageEmbedder(
        ImageEmbeddingSettings(base_url=server.url, model="colours", api_key="secret")
    )
    vector = embedder.embed_image(picture("disc", BLUE))
    assert vector.shape == (DIM,) == (embedder.dim,)
    assert np.linalg.norm(vector) == pytest.approx(1)
    assert server.requests[-1][2] == "secret"
    similar = embedder.embed_text("blue") @ vector
    assert similar > embedder.embed_text("red") @ vector


@pytest.mark.parametrize("answer", [{"data": []}, {"data": [{"embedding": ["x"]}]}, [1]])
def test_an_answer_that_is_no_vector_is_named(answer: Any) -> None:
    with model_server(lambda path, body: (200, answer)) as stub:
        given = ImageEmbeddingSettings(base_url=stub.url, model="m")
        with pytest.raises(ModelError, match="image embedding server"):
            ServedImageEmbedder(given).embed_text("x")


def test_names_of_embedders() -> None:
    assert image_embedder(ModelSettings()) is None
    with pytest.raises(ConfigError, match="did you mean 'openai-like'"):
        image_embedder(ModelSettings(image_embedder="openai-lik"))
    with pytest.raises(ConfigError, match=r"image_embedding\.base_url"):
        image_embedder(ModelSettings(image_embedder="openai-like"))


@pytest.mark.parametrize("model", ["Qdrant/clip-ViT-B-32", "Qdrant/colmodernvbert"])
def test_fastembed_says_how_it_is_installed(model: str) -> None:
    with pytest.raises(ModelError, match=r"eagle-rag-core\[fastembed\]"):
        image_embedder(ModelSettings(image_embedder=f"fastembed:{model}"))


def test_models_of_fastembed_for_pictures_and_words() -> None:
    vision = ["Qdrant/clip-ViT-B-32-vision", "google/siglip2-base-patch16-224", "Qdrant/resnet50"]
    text = ["Qdrant/clip-ViT-B-32-text", "google/siglip2-base-patch16-224", "BAAI/bge-small-en"]
    assert _pairs(vision, text) == {
        "Qdrant/clip-ViT-B-32": (vision[0], text[0]),
        "google/siglip2-base-patch16-224": (vision[1], text[1]),
    }
