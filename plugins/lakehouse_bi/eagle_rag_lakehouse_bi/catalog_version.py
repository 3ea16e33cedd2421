"""Which state of the catalogs an answer was read from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.reading import CatalogReader

_LENGTH: Final = 12
#: What no catalog file at all has.
_NONE: Final = "0" * _LENGTH


def catalog_version(reader: CatalogReader) -> str:
    """The version of all catalog files in the reader's scope: 12 hexadecimal digits.

    It is equal as long as no file was added, removed or changed. A caller who may read other
    files, or another scope, has another version.
    """
    return version_of(reader.sources())


def version_of(sources: Iterable[Record]) -> str:
    """The version of the given ``source`` records, in whatever order they come.

    >>> version_of([])
    '000000000000'
    """
    lines = sorted(f"{source.document_id} {source.data['hash']}" for source in sources)
    if not lines:
        return _NONE
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:_LENGTH]
