"""Running the packs' enrichers over one document and checking what they return."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.record_rules import check_records
from eagle_rag_core.types import Enricher, Enrichment, EnrichmentInput, NewRecord, RecordRules

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Enriched:
    """What all packs together add to a document.

    :param records: with the namespace of the pack each belongs to.
    :param fields: per node, per pack namespace.
    :param terms: per node, extra text for the lexical index.
    """

    records: Sequence[tuple[str, NewRecord]] = ()
    fields: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    terms: Mapping[str, Sequence[str]] = field(default_factory=dict)


def enrich(
    enrichers: Sequence[tuple[str, Enricher]], rules: RecordRules, item: EnrichmentInput
) -> Enriched:
    """Run every enricher, in order.

    :param rules: what the packs declare of their records.

    A failing enricher fails the document: indexing it without its records would look complete
    and never be repaired, because the unchanged source counts as indexed.

    :raises IngestError: naming the enricher; the cause is in the log.
    """
    known = {chunk.node_id for chunk in item.chunks}
    records: list[tuple[str, NewRecord]] = []
    fields: dict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    terms: dict[str, list[str]] = defaultdict(list)
    for pack, enricher in enrichers:
        added = _run(pack, enricher, _own(item))
        _check_nodes(pack, enricher, added, known)
        check_records(pack, added.records, rules)
        records.extend((pack, record) for record in added.records)
        for node_id, values in added.chunk_fields.items():
            fields[node_id][pack] = {**fields[node_id].get(pack, {}), **values}
        for node_id, extra in added.chunk_terms.items():
            terms[node_id].extend(extra)
    return Enriched(records, fields, terms)


def _own(item: EnrichmentInput) -> EnrichmentInput:
    """The same with copies of what can be changed in place: enrichers add, and change nothing."""
    document, parsed = item.document, item.parsed
    return replace(
        item,
        document=replace(document, metadata=deepcopy(dict(document.metadata))),
        parsed=replace(parsed, metadata=dict(parsed.metadata)),
    )


def _run(pack: str, enricher: Enricher, item: EnrichmentInput) -> Enrichment:
    try:
        added = enricher.enrich(item)
        if not isinstance(added, Enrichment):
            raise TypeError("an enricher must return an Enrichment")
        # What the catalog keeps as JSON has to be JSON.
        json.dumps([dict(added.chunk_fields), [dict(record.data) for record in added.records]])
        return added
    except IngestError:
        raise
    except BaseException as error:  # also a pack that tries to leave
        _LOG.exception("Enricher %s of pack %s failed", enricher.name, pack)
        raise IngestError(
            f"The enricher {enricher.name!r} of pack {pack!r} failed on this document; the log has "
            "the cause. Fix or disable the pack, then ingest again.",
            code=ErrorCode.PLUGIN_FAILED,
        ) from error


def _check_nodes(pack: str, enricher: Enricher, added: Enrichment, known: set[str]) -> None:
    named = {record.node_id for record in added.records if record.node_id}
    named.update(added.chunk_fields, added.chunk_terms)
    if strangers := named - known:
        raise IngestError(
            f"The enricher {enricher.name!r} of pack {pack!r} named {len(strangers)} passages that "
            "are not of this document; this is a fault of the pack.",
            code=ErrorCode.PLUGIN_FAILED,
        )
