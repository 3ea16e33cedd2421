"""Snapshots: states of the catalogs kept as files, to be compared with later ones.

The records of a document go when it is ingested again. A snapshot is a document of its own: it
stays until it is deleted, is backed up and copied with its knowledge base, and is seen by those
who may read that. Its tables are no tables of the library; searches find its date and size only.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.types import Heading, NewRecord, ParsedDocument, Record
from eagle_rag_lakehouse_bi.catalog_version import catalog_version
from eagle_rag_lakehouse_bi.readers.lenient import Node, mapping, text
from eagle_rag_lakehouse_bi.readers.structured import load_json
from eagle_rag_lakehouse_bi.reading import CatalogReader
from eagle_rag_lakehouse_bi.recognition import json_with
from eagle_rag_lakehouse_bi.versions.state import CatalogState, state_from_json, state_of
from eagle_rag_lakehouse_bi.wording import counted

FORMAT: Final = 1
#: What a compressed state may unfold to.
_MOST_BYTES: Final = 200_000_000


@dataclass(frozen=True, slots=True)
class Snapshot:
    """:param taken_at: ISO 8601, in UTC.
    :param kb_name: the knowledge base it describes, "" for all.
    :param catalog_version: of the files it was read from.
    """

    taken_at: str
    kb_name: str
    catalog_version: str
    state: CatalogState

    def as_json(self) -> dict[str, Any]:
        """What is written to a file."""
        return {
            "lakehouse_snapshot": FORMAT,
            "taken_at": self.taken_at,
            "kb_name": self.kb_name,
            "catalog_version": self.catalog_version,
            "state": self.state.as_json(),
        }


def take_snapshot(reader: CatalogReader, taken_at: str, kb_name: str) -> Snapshot:
    """A snapshot of the catalogs in the scope of a reader."""
    return Snapshot(taken_at, kb_name, catalog_version(reader), state_of(reader))


class SnapshotParser:
    """Reads snapshot files."""

    name = "lakehouse_bi_snapshot"
    version = "1"
    sniff = staticmethod(json_with(r'"lakehouse_snapshot"\s*:'))

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """A line about the snapshot, which itself is the payload.

        :raises IngestError: the file is damaged, empty, or of a later format.
        """
        snapshot = read_snapshot(mapping({"file": load_json(data)}, "file"))
        title = f"Catalogs on {snapshot.taken_at[:10]}"
        state = snapshot.state
        counts = ", ".join(
            counted(len(found), noun)
            for found, noun in (
                (state.tables, "table"),
                (state.metrics, "metric"),
                (state.joins, "join"),
            )
        )
        return ParsedDocument(
            text=f"# {title}\n\nSnapshot of {counts}, taken at {snapshot.taken_at}.\n",
            media_type="application/json",
            headings=(Heading(title, 1, 2),),
            title=title,
            metadata={"catalog_format": "snapshot"},
            payload=snapshot,
        )


def read_snapshot(file: Node) -> Snapshot:
    """The snapshot in a file.

    :raises IngestError: it is none, or of a later format.
    """
    if file.get("lakehouse_snapshot") != FORMAT:
        raise IngestError("The snapshot is of a format this version does not read; take a new one.")
    try:
        state = state_from_json(mapping(file, "state"))
    except (TypeError, ValueError, AttributeError):
        raise IngestError("The snapshot is damaged; take a new one.") from None
    taken_at = text(file, "taken_at")
    if not taken_at or state.empty:
        raise IngestError(
            "The snapshot has no date or describes nothing.", code=ErrorCode.EMPTY_DOCUMENT
        )
    return Snapshot(taken_at, text(file, "kb_name"), text(file, "catalog_version"), state)


def snapshot_record(snapshot: Snapshot, node_id: str) -> NewRecord:
    """The record that keeps a snapshot, its state compressed."""
    packed = zlib.compress(json.dumps(snapshot.state.as_json()).encode(), 9)
    return NewRecord(
        kind="snapshot",
        fields={"taken_at": snapshot.taken_at, "described_kb": snapshot.kb_name},
        node_id=node_id,
        data={
            "catalog_version": snapshot.catalog_version,
            "state": base64.b64encode(packed).decode("ascii"),
        },
    )


def kept_snapshot(record: Record) -> Snapshot:
    """The snapshot a record keeps."""
    fields, data = record.fields, record.data
    unfolded = zlib.decompressobj().decompress(base64.b64decode(data["state"]), _MOST_BYTES)
    state: Mapping[str, Any] = json.loads(unfolded)
    return Snapshot(
        fields["taken_at"],
        fields["described_kb"],
        data["catalog_version"],
        state_from_json(state),
    )
