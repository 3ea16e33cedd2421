"""Keeps indexes and their parts in memory, and makes those that are missing.

A part belongs to one version of one document: ingesting a file again makes one new part and joins
it with the others. An index belongs to the versions of all files a caller sees. Both are made from
what the caller may read alone, so that callers who see the same share them and others do not.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Hashable, Sequence
from typing import Final, Generic, Protocol, TypeVar

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.reading import CatalogReader
from eagle_rag_lakehouse_bi.retrieval.index import CatalogIndex
from eagle_rag_lakehouse_bi.retrieval.parts import DocumentPart, document_part

#: Objects (tables, columns, saved questions) kept in parts and in joined indexes, half a kB each.
#: The one in use may exceed it.
_KEPT: Final = 250_000
#: Kinds of records a part is made of.
_KINDS: Final = ("table", "column", "relationship", "query", "term")
#: More records than documents of one batch have.
_ALL: Final = 10_000_000
_BATCH: Final = 200


class _Sized(Protocol):
    @property
    def size(self) -> int: ...


_Value = TypeVar("_Value", bound=_Sized)


class _Recent(Generic[_Value]):
    """What was used last, up to a total size."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._kept: OrderedDict[Hashable, _Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> _Value | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Hashable, value: _Value) -> None:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = value
                self._size += value.size
            while self._size > self._most and len(self._kept) > 1:
                _, dropped = self._kept.popitem(last=False)
                self._size -= dropped.size


class IndexCache:
    """The indexes of a deployment. Threads may share it.

    :param kept: how many objects the indexes, and as many again the parts, may hold together.
    """

    def __init__(self, kept: int = _KEPT) -> None:
        self._indexes: _Recent[CatalogIndex] = _Recent(kept)
        self._parts: _Recent[DocumentPart] = _Recent(kept)
        self._making = threading.Lock()

    def index(self, reader: CatalogReader) -> CatalogIndex:
        """The index of all that ``reader`` sees now."""
        sources = reader.sources()
        key = frozenset(_version(source) for source in sources)
        return self._indexes.get(key) or self._made(key, reader, sources)

    def _made(
        self, key: Hashable, reader: CatalogReader, sources: Sequence[Record]
    ) -> CatalogIndex:
        # Callers who wait for the same index find it made.
        with self._making:
            found = self._indexes.get(key)
            if found is None:
                found = CatalogIndex(self._parts_of(reader, sources))
                self._indexes.put(key, found)
            return found

    def _parts_of(self, reader: CatalogReader, sources: Sequence[Record]) -> list[DocumentPart]:
        versions = sorted({_version(source) for source in sources})
        parts = {version: self._parts.get(version) for version in versions}
        missing = [version for version, part in parts.items() if part is None]
        for first in range(0, len(missing), _BATCH):
            parts.update(self._read(reader, missing[first : first + _BATCH]))
        return [part for part in parts.values() if part is not None]

    def _read(
        self, reader: CatalogReader, versions: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], DocumentPart]:
        """The parts of documents, which are kept unless a document is replaced meanwhile."""
        inside = reader.within([document for document, _ in versions])
        records: defaultdict[str, defaultdict[str, list[Record]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for kind in _KINDS:
            for record in inside.all(kind, limit=_ALL):
                records[record.document_id][kind].append(record)
        still = {_version(source) for source in inside.sources()}
        parts = {
            (document, content): document_part(document, records[document])
            for document, content in versions
        }
        for version in still & parts.keys():
            self._parts.put(version, parts[version])
        return parts


def _version(source: Record) -> tuple[str, str]:
    """Document and content."""
    return source.document_id, str(source.data["hash"])
