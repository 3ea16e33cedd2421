"""Ingest: from the mentions of a document to records and search terms.

Every occurrence becomes a ``mention`` record at its chunk, every concept of the document an
``entity`` record that knows the broader concepts and a ``tally`` of its mentions, every chunk
with concepts a ``passage`` record and a ``digest``, and the document itself an ``annotation``.
The canonical label and the CURIE of each concept join the chunk's search terms, so that a chunk
that says "heart attack" is found by "myocardial infarction".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from eagle_rag_biomed.annotator import Annotator, Mention
from eagle_rag_biomed.concepts import Concept
from eagle_rag_biomed.digests import Spot, digest_data, repeated, spot_rows
from eagle_rag_biomed.vocabulary import Vocabulary
from eagle_rag_core.types import Chunk, Enrichment, EnrichmentInput, NewRecord


class EntityEnricher:
    """Annotates documents at ingest."""

    name = "biomed_entities"

    def __init__(self, annotator: Annotator) -> None:
        self._annotator = annotator
        self.version = f"3-{annotator.vocabulary.version}-{annotator.stop_terms.digest}"
        if annotator.marker:
            self.version += f"-{annotator.marker.digest}"

    def enrich(self, item: EnrichmentInput) -> Enrichment:
        mentions = self._annotator.annotate(item.parsed.text)
        by_chunk = list(_by_chunk(mentions, item.chunks))
        concepts: defaultdict[str, dict[str, Concept]] = defaultdict(dict)
        in_passage: defaultdict[str, list[Mention]] = defaultdict(list)
        for mention, chunks in by_chunk:
            if concept := mention.concept:
                for chunk in chunks:
                    concepts[chunk.node_id][concept.curie] = concept
                    in_passage[chunk.node_id].append(mention)
        vocabulary = self._annotator.vocabulary
        return Enrichment(
            records=(
                *(_mention_record(m, chunks[0] if chunks else None) for m, chunks in by_chunk),
                *_entity_records(by_chunk, vocabulary),
                *(
                    record
                    for node, found in in_passage.items()
                    for record in _passage_records(node, found)
                ),
                NewRecord(
                    kind="annotation",
                    fields={"vocabulary": vocabulary.version, "mentions": len(mentions)},
                ),
            ),
            chunk_fields={node: {"entity_curies": [*found]} for node, found in concepts.items()},
            chunk_terms={node: search_terms(found.values()) for node, found in concepts.items()},
        )


def search_terms(concepts: Iterable[Concept]) -> list[str]:
    """The terms concepts are indexed under, and searched by."""
    return [term for concept in concepts for term in (concept.curie, concept.label)]


def _by_chunk(
    mentions: Sequence[Mention], chunks: Sequence[Chunk]
) -> Iterator[tuple[Mention, list[Chunk]]]:
    """Each mention with the chunks that hold it; several where chunks overlap.

    :param mentions: in order of ``start``; so are ``chunks``.
    """
    first = 0
    for mention in mentions:
        while first < len(chunks) and chunks[first].end <= mention.start:
            first += 1
        holding = []
        for chunk in chunks[first:]:
            if chunk.start > mention.start:
                break
            if mention.end <= chunk.end:
                holding.append(chunk)
        yield mention, holding


def _mention_record(mention: Mention, chunk: Chunk | None) -> NewRecord:
    concept = mention.concept
    data: dict[str, object] = {
        "label": concept.label if concept else "",
        "surface": mention.surface,
        "type": mention.type or "",
        "candidates": [] if concept else [c.curie for c in mention.candidates],
        "start": mention.start,
        "end": mention.end,
        "method": mention.method,
        "confidence": mention.confidence,
    }
    if mention.assertion.cue:
        data["cue"] = mention.assertion.cue
    if mention.long_form:
        data["long_form"] = mention.long_form
    if chunk:
        data["chunk_start"] = mention.start - chunk.start
        data["chunk_end"] = mention.end - chunk.start
    return NewRecord(
        kind="mention",
        fields={
            "curie": concept.curie if concept else "",
            "assertion": mention.assertion.status,
            "passage": chunk.node_id if chunk else "",
        },
        node_id=chunk.node_id if chunk else "",
        data=data,
    )


def _passage_records(node_id: str, mentions: Sequence[Mention]) -> Iterator[NewRecord]:
    counts = Counter(m.concept.curie for m in mentions if m.concept)
    yield NewRecord(
        kind="passage",
        fields={"curies": tuple(counts)},
        node_id=node_id,
        data=repeated(counts),
    )
    yield NewRecord(
        kind="digest",
        fields={"passage": node_id},
        node_id=node_id,
        data=digest_data(mentions),
    )


def _entity_records(
    by_chunk: Sequence[tuple[Mention, list[Chunk]]], vocabulary: Vocabulary
) -> Iterator[NewRecord]:
    found: defaultdict[Concept, list[Mention]] = defaultdict(list)
    spots: defaultdict[Concept, list[Spot]] = defaultdict(list)
    for mention, chunks in by_chunk:
        if concept := mention.concept:
            found[concept].append(mention)
            node = chunks[0].node_id if chunks else ""
            status = mention.assertion.status
            spots[concept].append(Spot(node, mention.start, mention.surface, status))
    for concept, own in found.items():
        assertions = Counter(m.assertion.status for m in own)
        surfaces = Counter(m.surface for m in own)
        yield NewRecord(
            kind="entity",
            fields={
                "curie": concept.curie,
                "type": concept.type,
                "assertions": tuple(sorted(assertions)),
                "ancestors": vocabulary.ancestors(concept.curie),
            },
            data={
                "label": concept.label,
                "count": len(own),
                "by_assertion": dict(assertions),
                "surfaces": [surface for surface, _ in surfaces.most_common()],
            },
        )
        yield NewRecord(
            kind="tally",
            fields={"curie": concept.curie, "assertions": tuple(sorted(assertions))},
            data={"counts": dict(assertions), "spots": spot_rows(spots[concept])},
        )
