"""Pack records: how domain packs store what they extract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

#: A value a pack can store in an indexed field.
FieldValue = str | int | float | bool
#: A condition on one indexed field: a value, or any of several.
Where = Mapping[str, FieldValue | Sequence[FieldValue]]


@dataclass(frozen=True, slots=True)
class RecordFieldRule:
    """What a manifest declares of one indexed field.

    :param many: a record may hold several values.
    """

    type: Literal["string", "integer", "number", "boolean"]
    many: bool = False


#: Declared fields by name, per (pack namespace, kind).
RecordRules = Mapping[tuple[str, str], Mapping[str, RecordFieldRule]]


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record an enricher emits; the core stamps kb, document, version and replaces it with
    its document.

    :param kind: a kind the pack's manifest declares.
    :param fields: values of declared fields.
    :param node_id: the chunk it belongs to, "" for the whole document.
    :param data: free JSON data, stored but not indexed.
    """

    kind: str
    fields: Mapping[str, FieldValue | Sequence[FieldValue]]
    node_id: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """A stored record as a pack reads it."""

    kind: str
    fields: Mapping[str, Any]
    data: Mapping[str, Any]
    kb_name: str
    document_id: str
    node_id: str


@dataclass(frozen=True, slots=True)
class Enrichment:
    """What an enricher adds to a document. Text, paths and order of chunks never change.

    :param chunk_fields: per ``node_id``, extra fields kept with the chunk under the pack's name.
    :param chunk_terms: per ``node_id``, extra terms for the lexical index (identifiers, canonical
        names), analysed like the text.
    """

    records: Sequence[NewRecord] = ()
    chunk_fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    chunk_terms: Mapping[str, Sequence[str]] = field(default_factory=dict)
