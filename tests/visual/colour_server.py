"""An image embedding server that measures colours, edges and layout, and knows words for them.

Pictures and words share one space: shares of seven colours, how much is drawn at all, how many
edges run across and down, and how the colour lies on the page. Words name colours and shapes.
"""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

COLOURS = {
    "red": (200, 60, 50),
    "blue": (40, 90, 170),
    "green": (60, 150, 70),
    "orange": (230, 160, 40),
    "purple": (120, 70, 150),
    "black": (20, 20, 20),
}
GRID = 4
DIM = len(COLOURS) + 3 + GRID * GRID


def embed_picture(data: bytes) -> NDArray[np.float64]:
    image = Image.open(io.BytesIO(data)).convert("RGB").resize((96, 96))
    pixels = np.asarray(image, np.float64)
    drawn = pixels.min(axis=2) < 200
    nearest = np.stack([np.abs(pixels - colour).sum(axis=2) for colour in COLOURS.values()])
    winner = nearest.argmin(axis=0)
    colours = np.array([np.mean((winner == at) & drawn) for at in range(len(COLOURS))])
    grey = pixels.mean(axis=2) / 255
    edges = [np.abs(np.diff(grey, axis=axis)).mean() for axis in (0, 1)]
    cells = drawn.reshape(GRID, 96 // GRID, GRID, 96 // GRID).mean(axis=(1, 3)).ravel()
    return np.concatenate([4 * colours, [drawn.mean(), *edges], 0.3 * cells])


def embed_words(text: str) -> NDArray[np.float64]:
    vector = np.zeros(DIM)
    for word in text.lower().split():
        if word in COLOURS:
            vector[list(COLOURS).index(word)] += 1
    return vector


def colour_embedder(path: str, body: Any) -> tuple[int, Any]:
    assert path == "/v1/embeddings"
    (message,) = body["messages"]
    (part,) = message["content"]
    if part["type"] == "text":
        vector = embed_words(part["text"])
    else:
        url = part["image_url"]["url"]
        assert url.startswith("data:image/")
        vector = embed_picture(base64.b64decode(url.partition(",")[2]))
    return 200, {"data": [{"index": 0, "embedding": vector.tolist()}], "model": body["model"]}


#: Regions along each side of a picture that are measured on their own.
REGIONS = 8
REGION_DIM = len(COLOURS) + 1


def embed_regions(data: bytes) -> NDArray[np.float64]:
    """What each region of a picture shows: shares of the colours, and of blank paper."""
    side = 96 // REGIONS
    image = Image.open(io.BytesIO(data)).convert("RGB").resize((96, 96))
    pixels = np.asarray(image, np.float64)
    drawn = pixels.min(axis=2) < 200
    nearest = np.stack([np.abs(pixels - colour).sum(axis=2) for colour in COLOURS.values()])
    winner = np.where(drawn, nearest.argmin(axis=0), len(COLOURS))
    shares = np.stack([winner == at for at in range(REGION_DIM)], axis=-1)
    regions = shares.reshape(REGIONS, side, REGIONS, side, REGION_DIM).mean(axis=(1, 3))
    return regions.reshape(-1, REGION_DIM)


def embed_each_word(text: str) -> NDArray[np.float64]:
    """A row for each word; words that are no colours stand for nothing."""
    rows = np.zeros((max(1, len(text.split())), REGION_DIM))
    for at, word in enumerate(text.lower().split()):
        if word in COLOURS:
            rows[at, list(COLOURS).index(word)] = 1
    return rows


def region_embedder(path: str, body: Any) -> tuple[int, Any]:
    """The same as a model of many vectors, as vLLM serves those."""
    assert (path, body["task"]) == ("/pooling", "token_embed")
    if "input" in body:
        (text,) = body["input"]
        rows = embed_each_word(text)
    else:
        (message,) = body["messages"]
        picture, prompt = message["content"]
        assert prompt["type"] == "text"
        url = picture["image_url"]["url"]
        rows = embed_regions(base64.b64decode(url.partition(",")[2]))
    answer = {"index": 0, "object": "pooling", "data": rows.tolist()}
    return 200, {"object": "list", "data": [answer], "model": body["model"]}
