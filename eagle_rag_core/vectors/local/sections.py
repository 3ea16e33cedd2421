"""A file of named arrays that is written once and then mapped.

Layout: magic, arrays at multiples of 64 bytes, a JSON description of them, a trailer of fixed
size. Whoever reads it checks every byte first, so that a file cut off by a crash or by a full
disk is no worse than none.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import sys
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

MAGIC = b"EAGLEIDX"
#: Raised whenever files of another version must not be read.
FORMAT = 1
_ALIGNMENT = 64
_READ = 8 << 20
#: Format, byte order (1 = little), checksum and length of the description, magic again.
_TRAILER = struct.Struct("<HHIQ8s")


class Unusable(Exception):
    """The file is none of ours, damaged, or of another format."""


class Contents(NamedTuple):
    """:param about: what the writer said of the file.
    :param arrays: read-only, backed by the mapped file.
    """

    about: Mapping[str, Any]
    arrays: Mapping[str, Any]


class Writer:
    """Writes arrays one after the other; the file is valid once it is sealed.

    :raises OSError: (from every method) the file cannot be written.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._arrays: dict[str, dict[str, Any]] = {}
        file.write(MAGIC)

    def put(self, name: str, array: Any) -> None:
        self.put_blocks(name, array.dtype, array.shape, [array])

    def put_blocks(
        self, name: str, dtype: Any, shape: tuple[int, ...], blocks: Iterable[Any]
    ) -> None:
        """An array in pieces, none of which has to stay in memory."""
        file = self._file
        file.write(bytes(-file.tell() % _ALIGNMENT))
        offset, checksum = file.tell(), 0
        for block in blocks:
            data = np.ascontiguousarray(block, dtype).reshape(-1).view(np.uint8).data
            checksum = zlib.crc32(data, checksum)
            file.write(data)
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if file.tell() - offset != size:
            raise ValueError(f"{file.tell() - offset} bytes for {name}, which has {size}")
        self._arrays[name] = {
            "dtype": np.dtype(dtype).str,
            "shape": list(shape),
            "offset": offset,
            "crc": checksum,
        }

    def mapped(self, name: str) -> Any:
        """An array that was written, read back from the file."""
        self._file.flush()
        content = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return _array(content, self._arrays[name])

    def seal(self, about: Mapping[str, Any]) -> None:
        text = json.dumps({"about": about, "arrays": self._arrays}).encode()
        little = int(sys.byteorder == "little")
        self._file.write(text)
        self._file.write(_TRAILER.pack(FORMAT, little, zlib.crc32(text), len(text), MAGIC))
        self._file.flush()


def read(descriptor: int) -> Contents:
    """Check and map a file; the descriptor may be closed afterwards.

    :raises Unusable: see there.
    :raises OSError: it cannot be read or mapped.
    """
    description = _description(descriptor)
    try:
        arrays: dict[str, Any] = description["arrays"]
        for array in arrays.values():
            if _checksum(descriptor, array["offset"], _size(array)) != array["crc"]:
                raise Unusable("a checksum is wrong")
        content = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
        return Contents(
            description["about"], {name: _array(content, each) for name, each in arrays.items()}
        )
    except (KeyError, TypeError, ValueError) as error:
        raise Unusable("the description makes no sense") from error


def about(descriptor: int) -> Mapping[str, Any]:
    """What the writer said of the file, without looking at the arrays.

    :raises Unusable: see there.
    :raises OSError: it cannot be read.
    """
    said: Mapping[str, Any] = _description(descriptor).get("about", {})
    return said


def _description(descriptor: int) -> dict[str, Any]:
    size = os.fstat(descriptor).st_size
    if size < len(MAGIC) + _TRAILER.size or os.pread(descriptor, len(MAGIC), 0) != MAGIC:
        raise Unusable("it is another kind of file")
    trailer = os.pread(descriptor, _TRAILER.size, size - _TRAILER.size)
    form, little, checksum, length, magic = _TRAILER.unpack(trailer)
    if magic != MAGIC:
        raise Unusable("its end is missing")
    if (form, little) != (FORMAT, sys.byteorder == "little"):
        raise Unusable("it has another format")
    if length > size:
        raise Unusable("its end is damaged")
    text = os.pread(descriptor, length, size - _TRAILER.size - length)
    if zlib.crc32(text) != checksum:
        raise Unusable("a checksum is wrong")
    description: dict[str, Any] = json.loads(text)
    return description


def _checksum(descriptor: int, offset: int, size: int) -> int:
    """Read, not mapped: checking alone should not count as memory of this process."""
    checksum = 0
    for start in range(offset, offset + size, _READ):
        data = os.pread(descriptor, min(_READ, offset + size - start), start)
        checksum = zlib.crc32(data, checksum)
    return checksum


def _size(array: Mapping[str, Any]) -> int:
    return int(np.prod(array["shape"])) * int(np.dtype(array["dtype"]).itemsize)


def _array(content: mmap.mmap, array: Mapping[str, Any]) -> Any:
    """One array over a mapped file, which stays mapped as long as any of them is in use."""
    dtype, shape = np.dtype(array["dtype"]), tuple(array["shape"])
    count = int(np.prod(shape))
    if not count:
        return np.empty(shape, dtype)
    return np.frombuffer(content, dtype, count, array["offset"]).reshape(shape)
