"""Answers written by a language model, sentence by sentence held to the passages."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from eagle_rag_core.errors import EagleError
from eagle_rag_core.models.analyzer import analyze
from eagle_rag_core.models.llm import ChatModel
from eagle_rag_core.query.answer import Source
from eagle_rag_core.query.citations import PageOf, source_of
from eagle_rag_core.query.claims import Claim, claims_in
from eagle_rag_core.query.extractive import Quote, best_sentences
from eagle_rag_core.query.prompting import NOT_FOUND, Passage, messages_for, passages_within
from eagle_rag_core.query.seeing import NO_PICTURES, Pictures
from eagle_rag_core.query.verification import supporting
from eagle_rag_core.settings.sections import QuerySettings
from eagle_rag_core.types import Hit, Step

#: Gets each piece of text, each source and each step as soon as it is certain.
Listener = Callable[[str | Source | Step], None]

_UNSUPPORTED = " (not supported by the sources)"


@dataclass(frozen=True, slots=True)
class Generated:
    """What a model wrote, as far as the passages support it.

    :param found: False when the model says that the passages do not answer.
    :param text: "" when nothing of it is supported, or the model failed.
    """

    text: str
    sources: tuple[Source, ...]
    step: Step
    found: bool = True


def generate(
    model: ChatModel,
    query: str,
    hits: Sequence[Hit],
    settings: QuerySettings,
    page_of: PageOf,
    listener: Listener,
    pictures: Pictures = NO_PICTURES,
) -> Generated:
    """Let the model answer from ``hits`` and keep what they support.

    What a model says of a passage whose picture it was sent cannot be held to words; it stays.

    :param pictures: of some of the hits.

    A model that fails ends the answer where it is; the step says so.
    """
    passages = passages_within(hits, settings.context_tokens)
    seen = frozenset(passage.n for passage in passages if passage.hit.node_id in pictures.of_hits)
    writing = _Writing(passages, set(analyze(query)), settings.unsupported, page_of, listener, seen)
    started = time.perf_counter()
    status, detail = "ok", ""
    try:
        for claim in claims_in(model.stream(messages_for(query, passages, pictures))):
            if not writing.text and NOT_FOUND.casefold() in claim.text.casefold():
                return Generated("", (), _step("ok", "", writing, started), found=False)
            writing.add(claim)
    except EagleError as error:
        status, detail = "failed", error.message
    if status == "ok" and writing.refused:
        detail = f"{writing.refused} sentences are not supported by the passages."
    return Generated(writing.text, tuple(writing.sources), _step(status, detail, writing, started))


def _step(status: str, detail: str, writing: _Writing, started: float) -> Step:
    elapsed = (time.perf_counter() - started) * 1000
    return Step("generate", status, detail, count=len(writing.sources), elapsed_ms=elapsed)


@dataclass(slots=True)
class _Writing:
    """The answer as it grows."""

    passages: Sequence[Passage]
    asked: set[str]
    unsupported: str
    page_of: PageOf
    listener: Listener
    #: Numbers of the passages whose pictures the model was sent.
    seen: frozenset[int] = frozenset()
    text: str = ""
    sources: list[Source] = field(default_factory=list)
    refused: int = 0

    def add(self, claim: Claim) -> None:
        """Append a claim with its citations, or what becomes of one that nothing supports."""
        support = supporting(claim, self.passages, self.asked)
        if support is None:
            cited = [p for p in self.passages if p.n in self.seen and p.n in claim.cited]
            support = tuple(cited) or None
        if support is not None:
            numbers = dict.fromkeys(self._cite(claim, passage) for passage in support)
            self._append(claim, "".join(f" [{n}]" for n in numbers))
            return
        self.refused += 1
        if self.unsupported == "mark":
            self._append(claim, _UNSUPPORTED)

    def _append(self, claim: Claim, suffix: str) -> None:
        before = claim.before if self.text else ""
        piece = f"{before or (' ' if self.text else '')}{claim.text}{suffix}"
        self.text += piece
        self.listener(piece)

    def _cite(self, claim: Claim, passage: Passage) -> int:
        """Number of the source that quotes what supports the claim."""
        quote = _evidence(claim, passage)
        for source in self.sources:
            if (source.document_id, source.start, source.quote) == (
                quote.hit.document_id,
                quote.start,
                quote.text,
            ):
                return source.n
        source = source_of(len(self.sources) + 1, quote, self.page_of)
        self.sources.append(source)
        self.listener(source)
        return source.n


def _evidence(claim: Claim, passage: Passage) -> Quote:
    """The sentence of the passage that is nearest to the claim."""
    best = best_sentences(set(analyze(claim.text)), [passage.hit], 1)
    return best[0] if best else Quote(passage.hit, passage.hit.start, passage.hit.end)
