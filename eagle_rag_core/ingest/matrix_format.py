"""The file that holds the matrices of a document version's tiles.

It begins with eight bytes that name the format and its version, and the length of the description
that follows, four bytes, little-endian. The description is JSON: by which embedder the matrices
are and of which original, the length of their rows, and every place with its number of rows, in
the order of what follows. That is, for each place, the scales of its rows as float16 and their
codes as int8 (:class:`~eagle_rag_core.models.late_interaction.Packed`). So one matrix can be read
without the others.
"""

from __future__ import annotations

import json
import shutil
import struct
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, Final

from eagle_rag_core.models.late_interaction import MAX_DIM, MAX_ROWS, Packed

if TYPE_CHECKING:
    from eagle_rag_core.types import Tile

_MAGIC: Final = b"EAGLEMV\x01"
_START: Final = struct.Struct("<8sI")
_MAX_DESCRIPTION: Final = 4 << 20
_SCALE_BYTES: Final = 2


def place_of(tile: Tile) -> str:
    """What stands for the pixels of a tile within its original."""
    return f"{tile.page} {tile.box} {tile.part}"


@dataclass(frozen=True)
class Head:
    """The beginning of a file: what is in it, and where.

    :param embedder: the fingerprint of whose vectors these are.
    :param original: the hash of the file that was drawn.
    :param rows: of the matrix of each place.
    :param length: of the beginning itself, in bytes.
    """

    embedder: str
    original: str
    dim: int
    rows: Mapping[str, int]
    length: int

    def span(self, place: str) -> tuple[int, int]:
        """The first byte of a place's matrix, and the one after its last."""
        start = self._starts[place]
        return start, start + _size(self.rows[place], self.dim)

    def matrix(self, place: str, data: bytes) -> Packed:
        """The matrix of a place, from the bytes of its span.

        :raises ValueError: they are damaged.
        """
        import numpy as np

        rows = self.rows[place]
        if len(data) != _size(rows, self.dim):
            raise ValueError("a matrix is cut off")
        scales = np.frombuffer(data, "<f2", count=rows).astype(np.float16)
        if not (np.isfinite(scales) & (scales >= 0)).all():
            raise ValueError("a matrix is damaged")
        codes = np.frombuffer(data, np.int8, offset=_SCALE_BYTES * rows)
        return Packed(codes.reshape(rows, self.dim), scales)

    @cached_property
    def _starts(self) -> dict[str, int]:
        starts, at = {}, self.length
        for place, rows in self.rows.items():
            starts[place] = at
            at += _size(rows, self.dim)
        return starts


def head_length(beginning: bytes) -> int:
    """How many bytes the head of a file has, by its first twelve.

    :raises ValueError: it is none of these files, or of a later version.
    """
    if len(beginning) < _START.size:
        raise ValueError("the file is cut off")
    magic, length = _START.unpack_from(beginning)
    if magic != _MAGIC or length > _MAX_DESCRIPTION:
        raise ValueError("the file has another format")
    return _START.size + int(length)


def read_head(data: bytes) -> Head:
    """The head of a file, whose first bytes these are.

    :raises ValueError: it is damaged, or ``data`` ends before it does.
    """
    length = head_length(data)
    if len(data) < length:
        raise ValueError("the file is cut off")
    said = json.loads(data[_START.size : length])
    try:
        head = Head(
            str(said["embedder"]),
            str(said["original"]),
            int(said["dim"]),
            {str(place): int(rows) for place, rows in said["places"]},
            length,
        )
    except (KeyError, TypeError) as error:
        raise ValueError("the description is damaged") from error
    if not 0 < head.dim <= MAX_DIM or not all(0 < rows <= MAX_ROWS for rows in head.rows.values()):
        raise ValueError("the description is damaged")
    return head


class MatrixDraft:
    """Matrices on their way into a file. They wait on disk, since those of a book are large."""

    def __init__(self, embedder: str, original: str) -> None:
        self._said: dict[str, Any] = {"embedder": embedder, "original": original}
        self._dim = 0
        self._rows: dict[str, int] = {}
        self._matrices = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the draft

    def add(self, place: str, matrix: Packed) -> None:
        """Add the matrix of a place that has none yet; all have rows of one length.

        :raises ValueError: this one has not.
        """
        rows, dim = matrix.codes.shape
        if place in self._rows or dim != (self._dim or dim):
            raise ValueError("the matrix does not belong here")
        self._dim = dim
        self._rows[place] = rows
        self._matrices.write(matrix.scales.astype("<f2").tobytes())
        self._matrices.write(matrix.codes.tobytes())

    def save(self, store: Callable[[IO[bytes]], None]) -> None:
        """Hand the whole file to what stores it, as often as it is needed."""
        described = {**self._said, "dim": self._dim, "places": list(self._rows.items())}
        data = json.dumps(described, separators=(",", ":")).encode()
        with tempfile.TemporaryFile() as file:
            file.write(_START.pack(_MAGIC, len(data)) + data)
            self._matrices.seek(0)
            shutil.copyfileobj(self._matrices, file)
            file.seek(0)
            store(file)


def _size(rows: int, dim: int) -> int:
    return rows * (_SCALE_BYTES + dim)
