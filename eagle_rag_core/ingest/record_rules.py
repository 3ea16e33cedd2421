"""Holding packs to what their manifests declare of their records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.types import FieldValue, NewRecord, RecordFieldRule, RecordRules


def check_records(pack: str, records: Iterable[NewRecord], rules: RecordRules) -> None:
    """Make sure that records are of a declared kind and their values of the declared types.

    :raises IngestError: naming the pack, the kind and the field; the pack has to be fixed.
    """
    for record in records:
        declared = rules.get((pack, record.kind))
        if declared is None:
            raise _fault(pack, f"wrote a record of the kind {record.kind!r}")
        for name, value in record.fields.items():
            if name not in declared:
                raise _fault(pack, f"wrote the field {name!r} of a {record.kind!r} record")
            if not _allowed(value, declared[name]):
                raise _fault(
                    pack,
                    f"wrote a value into {record.kind}.{name} that is no {declared[name].type}",
                )


def _allowed(value: FieldValue | Sequence[FieldValue], rule: RecordFieldRule) -> bool:
    if isinstance(value, str | int | float):
        return _is(value, rule)
    return rule.many and all(_is(item, rule) for item in value)


def _is(value: FieldValue, rule: RecordFieldRule) -> bool:
    match rule.type:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)


def _fault(pack: str, what: str) -> IngestError:
    return IngestError(
        f"Pack {pack!r} {what}, which its manifest does not declare; this is a fault of the pack.",
        code=ErrorCode.PLUGIN_FAILED,
    )
