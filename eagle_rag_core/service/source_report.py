"""What a run of a source did, item by item."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from eagle_rag_core.errors import EagleError
from eagle_rag_core.ingest.sources.items import SourceSpec
from eagle_rag_core.types import Job


class ItemStatus(StrEnum):
    """What a run did about an item."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    #: An earlier run submitted it; its job is not over.
    PENDING = "pending"
    DELETED = "deleted"
    #: It is gone, and its document stays because another source holds it.
    KEPT = "kept"
    #: It is nothing to index: junk, an unknown format, somebody else's page.
    SKIPPED = "skipped"
    #: It should be indexed and cannot be.
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """What became of one item.

    :param name: its URI, or what else it is called.
    :param job: it was submitted as.
    """

    name: str
    status: ItemStatus
    document_id: str = ""
    job: Job | None = None
    code: str = ""
    reason: str = ""


@dataclass(slots=True)
class SourceReport:
    """What a run did.

    :param found: items the listing named that can become documents.
    :param error: why the source could not be read (on); what was done before it stays done.
    """

    spec: SourceSpec
    source_id: str
    outcomes: list[ItemOutcome] = field(default_factory=list)
    found: int = 0
    error: EagleError | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many items by what was done about them."""
        return dict(Counter(str(outcome.status) for outcome in self.outcomes))
