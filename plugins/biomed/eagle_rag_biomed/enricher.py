"""Ingest: from the mentions of a document to records and search terms.

Every occurrence becomes a ``mention`` record at its chunk, every concept of the document an
``entity`` record that knows the broader concepts, every chunk with concepts a ``passage`` record
that counts them, and the document itself an ``annotation``. The canonical label and the CURIE of
each concept join the chunk's search terms, so that a chunk that says "heart attack" is found by
"myocardial infarction".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from eagle_rag_biomed.annotator import Annotator, Mention
from eagle_rag_biomed.concepts import Concept
from eagle_rag_biomed.vocabulary import Vocabulary
from eagle_rag_core.types import Chunk, Enrichment, EnrichmentInput, NewRecord


class EntityEnricher:
    """Annotates documents at ingest."""

    name = "biomed_entities"

    def __init__(self, annotator: Annotator) -> None:
        self._annotator = annotator
        self.version = f"2-{annotator.vocabulary.version}-{annotator.stop_terms.digest}"

    def enrich(self, item: EnrichmentInput) -> Enrichment:
        mentions = self._annotator.annotate(item.parsed.text)
        by_chunk = list(_by_chunk(mentions, item.chunks))
        concepts: defaultdict[str, dict[str, Concept]] = defaultdict(dict)
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for mention, chunks in by_chunk:
            if concept := mention.concept:
                for chunk in chunks:
                    concepts[chunk.node_id][concept.curie] = concept
                    counts[chunk.node_id][concept.curie] += 1
        vocabulary = self._annotator.vocabulary
        return Enrichment(
            records=(
                *(_mention_record(m, chunks[0] if chunks else None) for m, chunks in by_chunk),
                *_entity_records(mentions, vocabulary),
                *(_passage_record(node, found) for node, found in counts.items()),
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


def _passage_record(node_id: str, counts: Counter[str]) -> NewRecord:
    return NewRecord(
        kind="passage",
        fields={"curies": tuple(counts)},
        node_id=node_id,
        data={"counts": dict(counts)},
    )


def _entity_records(mentions: Sequence[Mention], vocabulary: Vocabulary) -> Iterator[NewRecord]:
    found: defaultdict[Concept, list[Mention]] = defaultdict(list)
    for mention in mentions:
        if mention.concept:
            found[mention.concept].append(mention)
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
