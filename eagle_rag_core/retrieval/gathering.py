"""What the legs of one search found so far, and whether asking again can bring more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eagle_rag_core.errors import CallTimeout, StorageError
from eagle_rag_core.retrieval.fusion import RankedLeg
from eagle_rag_core.retrieval.legs import CORE_LEGS, PlannedLeg
from eagle_rag_core.retrieval.running import Attempt, LegAnswer, ask_legs, failed_step
from eagle_rag_core.retrieval.workers import Overrun
from eagle_rag_core.types import LegRequest, Step

#: How often legs are asked again, each time for twice as many nodes.
_REFILLS = 3


class Gathering:
    """The answers of the legs of one search; they are asked on construction.

    :raises CallTimeout: no leg answered in time.
    :raises StorageError: every leg failed.
    """

    def __init__(self, legs: Sequence[PlannedLeg], request: LegRequest, attempt: Attempt) -> None:
        self._attempt = attempt
        self._request = request
        self._refills = 0
        self._answers = ask_legs(legs, request, attempt)
        #: Nodes that do not count: out of scope, or of versions that are not visible.
        self.dropped: set[str] = set()
        if self._answers and all(answer.error is not None for answer in self._answers):
            raise self._defeat()

    def ranked(self) -> list[RankedLeg]:
        return [
            RankedLeg(
                answer.planned.leg.name,
                answer.nodes,
                answer.planned.leg.weight,
                answer.planned.positive_only,
            )
            for answer in self._answers
        ]

    def untrusted(self) -> set[str]:
        """Nodes of the legs that are not the core's own."""
        return {
            node.node_id
            for answer in self._answers
            if answer.planned.leg.name not in CORE_LEGS
            for node in answer.nodes
        }

    def may_have_more(self) -> bool:
        """Whether :meth:`ask_for_more` is worth a try."""
        return self._refills < _REFILLS and self._attempt.remaining() > 0 and bool(self._hungry())

    def ask_for_more(self) -> None:
        """Ask the legs that may have more again, for twice as many nodes."""
        hungry = self._hungry()
        self._refills += 1
        self._request = replace(self._request, limit=2 * self._request.limit)
        again = ask_legs(
            [self._answers[position].planned for position in hungry], self._request, self._attempt
        )
        for position, answer in zip(hungry, again, strict=True):
            before = self._answers[position]
            # When asking again fails, the first answer is better than none.
            kept = answer if answer.error is None else before
            elapsed_ms = before.elapsed_ms + answer.elapsed_ms
            self._answers[position] = replace(kept, elapsed_ms=elapsed_ms)

    def best_score(self, name: str) -> float | None:
        """The leg's own score of its best node that counts."""
        for answer in self._answers:
            if answer.planned.leg.name == name:
                counted = (n.score for n in answer.nodes if n.node_id not in self.dropped)
                return next(counted, None)
        return None

    def steps(self) -> list[Step]:
        """What happened in each leg, for the caller."""
        return [self._step(answer) for answer in self._answers]

    def _hungry(self) -> list[int]:
        """Positions of the legs that gave all they were asked for, or, at first, nodes that went
        out of sight since: the index may know their successors by now."""
        return [
            position
            for position, answer in enumerate(self._answers)
            if answer.saturated or (not self._refills and self._dropped_of(answer))
        ]

    def _dropped_of(self, answer: LegAnswer) -> int:
        return sum(node.node_id in self.dropped for node in answer.nodes)

    def _step(self, answer: LegAnswer) -> Step:
        name = answer.planned.leg.name
        if answer.error is not None:
            return failed_step(name, answer.error, "leg", answer.elapsed_ms)
        dropped = self._dropped_of(answer)
        detail = (
            f"{dropped} passages outside the scope or no longer visible were dropped."
            if dropped
            else ""
        )
        return Step(name, "ok", detail, len(answer.nodes) - dropped, answer.elapsed_ms)

    def _defeat(self) -> Exception:
        """The error of a search in which no leg worked: an empty answer would be a lie."""
        steps = self.steps()  # logs each failure
        if all(isinstance(answer.error, Overrun) for answer in self._answers):
            return CallTimeout("No part of the search answered in time; try again.")
        return StorageError(
            "Every part of the search failed: " + " ".join(step.detail for step in steps)
        )
