"""What is said of documents: their titles, tags and metadata."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from eagle_rag_core.catalog import descriptions, kbs
from eagle_rag_core.catalog.descriptions import DescriptionChange
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.service.ingest import check_texts
from eagle_rag_core.types import Caller, IngestRequest


class DescriptionService:
    """Changes what is said of documents, and lists their tags.

    :param remake: queues documents to be made anew.
    """

    def __init__(self, catalog: Catalog, remake: Callable[[Caller, Sequence[str]], object]) -> None:
        self._catalog = catalog
        self._remake = remake

    def change(self, caller: Caller, document_id: str, change: DescriptionChange) -> None:
        """Change title, tags or metadata of a document.

        Readers and filters see it at once. The passages are found by the words of a new title as
        soon as a job has made the document anew from its original.

        :raises NotFound: it does not exist, or the caller may not know that it does.
        :raises InvalidArgument: a text cannot be stored or found again.
        :raises EagleError: too many jobs wait already, for a new title.
        """
        if change.tags is not None:
            tags = dict.fromkeys(tag.strip() for tag in change.tags)
            change = replace(change, tags=[tag for tag in tags if tag])
        named = {key: value or "" for key, value in (change.metadata or {}).items()}
        said = IngestRequest("", title=change.title or "", tags=tuple(change.tags or ()))
        check_texts(replace(said, metadata=named))
        with self._catalog.write() as tx:
            retitled = descriptions.describe_document(
                tx, self._catalog.namespace, caller, document_id, change
            )
        if retitled:
            self._remake(caller, [document_id])

    def tags(
        self, caller: Caller, *, kb_name: str = "", limit: int, after: str = ""
    ) -> tuple[Sequence[tuple[str, int]], str]:
        """Tags with their numbers of documents, by name, and what to pass for the next ones.

        :param kb_name: only of this knowledge base; "" for all the caller may read.
        :raises NotFound: an unknown (or forbidden) knowledge base.
        """
        namespace = self._catalog.namespace
        with self._catalog.read() as conn:
            if kb_name:
                names = frozenset((kbs.check_readable(conn, namespace, caller, kb_name),))
            else:
                names = kbs.readable_kbs(conn, namespace, caller)
            found = descriptions.tag_counts(conn, namespace, names, limit=limit + 1, after=after)
        page = found[:limit]
        return page, page[-1][0] if len(found) > limit else ""
