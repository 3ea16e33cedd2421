"""What an answer showed, in an id that says it all: nothing is kept on the server.

An id lists the tables that were shown, each with a mark for every column, and the version of the
catalogs. It holds hashes, no names, and a checksum, so that an id that lost characters on its way
is refused rather than misread. It is no secret and proves nothing to anyone but its holder.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import TableContext
from eagle_rag_lakehouse_bi.reading import Scope, TableKey

#: Characters of an id at most. To stay below, the columns of the widest tables count as all shown,
#: and then every table that is not listed counts as shown.
LONGEST: Final = 1_000
_PREFIX: Final = "lh1-"
_VERSION: Final = 6
_SCOPE: Final = 2
_START: Final = _VERSION + _SCOPE + 1
_TABLE: Final = 4
_CONTENT: Final = 2
_CHECK: Final = 4
_HEAD: Final = _TABLE + _CONTENT + 2
#: Bytes there are for tables: four characters say three.
_ROOM: Final = (LONGEST - len(_PREFIX)) // 4 * 3 - _START - _CHECK


class ShownTable(NamedTuple):
    """A table as an answer showed it.

    :param content: hash of all that its file says of it.
    :param columns: for each of its columns, in order, whether it was shown; none for all.
    """

    key: TableKey
    content: str
    columns: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class ShownContext:
    """What an id says.

    :param version: of the catalogs then.
    :param scope: hash of where was looked.
    :param complete: whether it lists every table that was shown.
    :param tables: hash of the content, and marks of columns (none for all), by hash of the key.
    """

    version: str
    scope: bytes
    complete: bool
    tables: Mapping[bytes, tuple[bytes, bytes]]

    def is_of(self, scope: Scope) -> bool:
        """Whether it looked in ``scope``, so that versions can be compared."""
        return self.scope == _scope_hash(scope)

    def shows(self, key: TableKey) -> bool:
        """Whether the table was shown, as far as the id tells."""
        return not self.complete or _key_hash(key) in self.tables

    def is_changed(self, key: TableKey, content: str) -> bool:
        """Whether the table was shown as something else than it is now."""
        known = self.tables.get(_key_hash(key))
        return known is not None and known[0] != _content_hash(content)

    def shows_column(self, key: TableKey, place: int) -> bool:
        """Whether the column at ``place`` was shown; of a changed table that is not known."""
        known = self.tables.get(_key_hash(key))
        if known is None:
            return not self.complete
        marks = known[1]
        return not marks or (place // 8 < len(marks) and bool(marks[place // 8] >> place % 8 & 1))


def context_id_of(
    version: str,
    scope: Scope,
    shown: Sequence[TableContext],
    tables: Mapping[TableKey, Record],
    columns: Mapping[TableKey, Sequence[Record]],
) -> str:
    """The id of an answer that shows ``shown``.

    :param tables: their records; ``columns``: all columns of each, in order.
    """
    return encoded(version, scope, _shown(shown, tables, columns))


def encoded(version: str, scope: Scope, tables: Iterable[ShownTable]) -> str:
    """The id that says that ``tables`` were shown at ``version`` of the catalogs."""
    listed = [_entry(table) for table in tables]
    size = sum(map(len, listed))
    for number in sorted(range(len(listed)), key=lambda i: -len(listed[i])):
        if size <= _ROOM:
            break
        size -= len(listed[number]) - _HEAD
        listed[number] = _without_marks(listed[number])
    kept = listed[: _ROOM // _HEAD] if size > _ROOM else listed
    complete = bytes((len(kept) == len(listed),))
    payload = bytes.fromhex(version) + _scope_hash(scope) + complete + b"".join(kept)
    raw = payload + _hash(payload, _CHECK)
    return _PREFIX + base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def decoded(text: str) -> ShownContext:
    """What an id says.

    :raises InvalidArgument: it is none, or not whole.
    """
    payload = _payload(text)
    rest = payload[_START:]
    tables: dict[bytes, tuple[bytes, bytes]] = {}
    while len(rest) >= _HEAD:
        key, content = rest[:_TABLE], rest[_TABLE : _TABLE + _CONTENT]
        size = int.from_bytes(rest[_TABLE + _CONTENT : _HEAD])
        tables[key] = content, rest[_HEAD : _HEAD + size]
        rest = rest[_HEAD + size :]
    return ShownContext(
        version=payload[:_VERSION].hex(),
        scope=payload[_VERSION : _VERSION + _SCOPE],
        complete=bool(payload[_START - 1]),
        tables=tables,
    )


def _payload(text: str) -> bytes:
    """The checked bytes of an id, its checksum off."""
    body = text.strip().removeprefix(_PREFIX)
    try:
        raw = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        raw = b""
    payload, check = raw[:-_CHECK], raw[-_CHECK:]
    whole = text.strip().startswith(_PREFIX) and len(payload) >= _START
    if not whole or _hash(payload, _CHECK) != check:
        raise InvalidArgument("A context_id is not whole; pass it exactly as it was returned.")
    return payload


def _entry(table: ShownTable) -> bytes:
    """What an id says of one table."""
    marks = _marks(table.columns)
    if len(marks) > _ROOM:
        marks = b""
    size = len(marks).to_bytes(2)
    return _key_hash(table.key) + _content_hash(table.content) + size + marks


def _without_marks(entry: bytes) -> bytes:
    """The entry of a table of which all columns count as shown."""
    return entry[: _TABLE + _CONTENT] + bytes(2)


def _marks(columns: Sequence[bool]) -> bytes:
    """A bit for each column, the first in the lowest; none where all are shown."""
    if all(columns):
        return b""
    bits = sum(1 << place for place, shown in enumerate(columns) if shown)
    return bits.to_bytes((len(columns) + 7) // 8, "little")


def _shown(
    shown: Iterable[TableContext],
    tables: Mapping[TableKey, Record],
    columns: Mapping[TableKey, Sequence[Record]],
) -> Iterator[ShownTable]:
    for table in shown:
        key = TableKey(table.document_id, table.id)
        if key in tables:
            names = {column.name for column in table.columns}
            listed = columns.get(key, ())
            marks = tuple(column.fields["name"] in names for column in listed)
            yield ShownTable(key, tables[key].data["hash"], marks)


def _key_hash(key: TableKey) -> bytes:
    return _hash(f"{key.document_id} {key.id}".encode(), _TABLE)


def _content_hash(content: str) -> bytes:
    return _hash(content.encode(), _CONTENT)


def _scope_hash(scope: Scope) -> bytes:
    place = f"{scope.kb_name} {' '.join(sorted(scope.document_ids))}"
    return _hash(place.encode(), _SCOPE)


def _hash(data: bytes, length: int) -> bytes:
    return hashlib.sha256(data).digest()[:length]
