"""What a source is, and what reading one yields."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Protocol, Self


class SourceKind(StrEnum):
    """How the items of a source are found."""

    FOLDER = "folder"
    CRAWL = "crawl"
    SITEMAP = "sitemap"
    S3 = "s3"
    #: A single file or page that is read again on a schedule.
    SINGLE = "single"


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """A source and how to read it.

    :param uri: canonical; of the folder, the first page, the sitemap, or the prefix of a bucket.
    :param kb_name: knowledge base its documents belong to.
    :param include: patterns (as in ``.gitignore``) of which an item must match one; empty for all.
    :param exclude: patterns of items that are left out.
    :param title: of the one document that a single file or page is.
    :param delete_missing: delete the documents whose items are gone.
    :param allow_empty: believe a listing without any item, and delete what was there.
    :param depth: links followed from the first page of a crawl.
    :param max_pages: pages a crawl or a sitemap yields at most.
    """

    kind: SourceKind
    uri: str
    kb_name: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    source_type: str = ""
    title: str = ""
    delete_missing: bool = False
    allow_empty: bool = False
    depth: int = 0
    max_pages: int = 1000

    def source_id(self, namespace: str, kb_seed: str) -> str:
        """The id of the source: other patterns or tags make no other source of it.

        :param kb_seed: of its knowledge base, which stays when the name changes.
        """
        identity = "\0".join((namespace, kb_seed, self.kind, self.uri))
        return hashlib.sha256(identity.encode()).hexdigest()[:32]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], *, kb_name: str) -> Self:
        """The inverse of :meth:`as_dict`, also for what other versions stored.

        :param kb_name: the name that its knowledge base has now.
        """
        known = {field.name for field in fields(cls)}
        values = {name: value for name, value in stored.items() if name in known}
        lists = {name: tuple(values.get(name, ())) for name in ("include", "exclude", "tags")}
        own = {"kind": SourceKind(values["kind"]), "kb_name": kb_name}
        return cls(**{**values, **lists, **own})


@dataclass(frozen=True, slots=True)
class SourceItem:
    """Something in a source that can become a document.

    :param uri: canonical, of the document.
    :param revision: equal as long as the content is; "" when the source does not tell.
    """

    uri: str
    revision: str = ""


@dataclass(frozen=True, slots=True)
class SkippedItem:
    """Something in a source that is left out.

    :param name: for the reader of a report.
    :param refused: it should have become a document and cannot.
    """

    name: str
    reason: str
    refused: bool = False


class Lister(Protocol):
    """Reads what one source holds. Used once.

    :ivar complete: after the listing: it saw everything, so that what it did not see is gone.
    :ivar delay: seconds to wait after each item that will be fetched, out of politeness.
    """

    complete: bool
    delay: float

    def items(self) -> Iterator[SourceItem | SkippedItem]:
        """The items, as they are found.

        :raises EagleError: the source cannot be read (on).
        """
        ...

    def covers(self, uri: str) -> bool:
        """Whether the listing would name this item if it existed, by the patterns alone."""
        ...

    def gone(self, uri: str) -> bool:
        """Whether an item that a complete listing did not name is really gone."""
        ...
