"""A pack whose embedder writes down what it is asked: tests see what was computed twice."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
from e2e.packs import install_pack
from numpy.typing import NDArray

from eagle_rag_core.testing.fake_distributions import pack_manifest

NAMESPACE = "counting"
EMBEDDER = "counting_vectors"

_CODE = """
import hashlib, json, time
import numpy as np
from eagle_rag_core.plugins import hookimpl
from eagle_rag_core.types import EmbedderSpec

def digest(text):
    return hashlib.sha256(text.encode()).digest()

def vector(text):
    seed = int.from_bytes(digest(text)[:8], "big")
    found = np.random.default_rng(seed).standard_normal(8)
    return (found / np.linalg.norm(found)).astype(np.float32)

class Counting:
    name = "counting_vectors"
    fingerprint = "counting"
    dim = 8
    scripts = frozenset()
    dense_weight = 0.2

    def embed_documents(self, texts):
        with open(LOG, "a") as log:
            log.write(json.dumps([digest(text).hex() for text in texts]) + "\\n")
        time.sleep(0.05)
        return np.stack([vector(text) for text in texts])

    def embed_query(self, text):
        return vector(text)

class Pack:
    @hookimpl
    def register_embedders(self, ctx):
        return [EmbedderSpec("counting_vectors", Counting)]

pack = Pack()
"""


class EmbeddingLog:
    """What the embedder of every process was asked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.touch()

    def install(self, site: Path) -> None:
        """Install the pack, which writes to this log."""
        code = f"LOG = {str(self._path)!r}\n{_CODE}"
        install_pack(site, NAMESPACE, body=code, text=pack_manifest(NAMESPACE, more=""))

    def batches(self) -> tuple[int, int]:
        """How many batches were begun, and how many of them held a text of an earlier one."""
        seen: set[str] = set()
        again = 0
        lines = self._path.read_text().splitlines()
        for line in lines:
            batch = json.loads(line)
            again += not seen.isdisjoint(batch)
            seen.update(batch)
        return len(lines), again


def vector(text: str) -> NDArray[np.float32]:
    """What the embedder makes of a text."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    found = np.random.default_rng(seed).standard_normal(8)
    return (found / np.linalg.norm(found)).astype(np.float32)
