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
