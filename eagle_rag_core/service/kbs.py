"""Looking after knowledge bases."""

from __future__ import annotations

from collections.abc import Sequence

from eagle_rag_core.catalog import cursors, ids, kb_changes, kbs, versions
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import ErrorCode, InvalidArgument, NotFound
from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.types import Caller
from eagle_rag_core.vectors.collections import retire_everywhere
from eagle_rag_core.vectors.store import VectorStore

#: Documents deleted in one transaction: other writers wait for no longer than that takes.
_BATCH = 200


class KbService:
    """Knowledge bases as callers see them. One that a caller may read it may also change."""

    def __init__(self, catalog: Catalog, store: VectorStore, originals: Originals) -> None:
        self._catalog = catalog
        self._store = store
        self._originals = originals

    def list(self, caller: Caller) -> Sequence[kbs.KbInfo]:
        """Every knowledge base the caller may read, by name."""
        with self._catalog.read() as conn:
            return kbs.list_kbs(conn, self._catalog.namespace, caller)

    def page(
        self, caller: Caller, *, limit: int, cursor: str = ""
    ) -> tuple[Sequence[kbs.KbInfo], str]:
        """A page of :meth:`list`, and the cursor of the next one, "" at the end.

        :raises InvalidArgument: a bad cursor.
        """
        after = cursors.decode_name(cursor) if cursor else ""
        # In the order of code points, whatever the database's is.
        by_name = sorted(self.list(caller), key=lambda kb: kb.name)
        left = [kb for kb in by_name if kb.name > after]
        page = left[:limit]
        return page, cursors.encode_name(page[-1].name) if len(left) > limit else ""

    def stats(self, caller: Caller, name: str) -> kbs.KbStats:
        """What a knowledge base holds.

        :raises NotFound: it does not exist, or the caller may not know that it does.
        """
        with self._catalog.read() as conn:
            return kbs.kb_stats(conn, self._catalog.namespace, caller, name)

    def create(self, caller: Caller, name: str, *, title: str = "", description: str = "") -> None:
        """Create an empty knowledge base.

        :raises InvalidArgument: the name is none or taken, or a text cannot be stored.
        :raises NotFound: it is not the caller's to create.
        """
        _check_texts(title, description)
        self._check_new(caller, name)
        with self._catalog.write() as tx:
            if not kbs.ensure_kb(
                tx, self._catalog.namespace, name, title=title, description=description
            ):
                raise InvalidArgument(f"There is a knowledge base {name!r} already.")

    def describe(
        self, caller: Caller, name: str, *, title: str | None = None, description: str | None = None
    ) -> None:
        """Change what is said of a knowledge base; None leaves it as it is.

        :raises InvalidArgument: a text cannot be stored.
        :raises NotFound: it does not exist, or the caller may not know that it does.
        """
        _check_texts(title or "", description or "")
        namespace = self._catalog.namespace
        with self._catalog.write() as tx:
            kbs.check_readable(tx, namespace, caller, name)
            kb_changes.describe_kb(tx, namespace, name, title=title, description=description)

    def rename(self, caller: Caller, name: str, new_name: str) -> None:
        """Give a knowledge base another name. Its documents and their ids stay.

        :raises InvalidArgument: the new name is none, or taken.
        :raises NotFound: it does not exist, or one of the names is not the caller's.
        """
        namespace = self._catalog.namespace
        self._check_new(caller, new_name)
        with self._catalog.write() as tx:
            kbs.check_readable(tx, namespace, caller, name)
            kb_changes.rename_kb(tx, namespace, name, new_name)

    def delete(self, caller: Caller, name: str) -> int:
        """Delete a knowledge base with all that is in it.

        Nobody sees anything of it from the first moment on. What is left when this does not come
        to its end goes with the next deletion, or by an audit.

        :returns: how many documents went.
        :raises NotFound: it does not exist, or the caller may not know that it does.
        """
        namespace = self._catalog.namespace
        with self._catalog.write() as tx:
            kbs.check_readable(tx, namespace, caller, name)
            kb_changes.set_aside(tx, namespace, name)
        return self.finish_deletions()

    def unfinished_deletions(self) -> Sequence[str]:
        """What to call the knowledge bases whose deletion has not come to its end."""
        with self._catalog.read() as conn:
            return kb_changes.set_aside_kbs(conn, self._catalog.namespace)

    def finish_deletions(self) -> int:
        """Remove what is left of deleted knowledge bases; how many documents went."""
        return sum(map(self._empty, self.unfinished_deletions()))

    def _empty(self, aside: str) -> int:
        namespace = self._catalog.namespace
        gone = 0
        while True:
            with self._catalog.write() as tx:
                removed = versions.empty_kb(tx, namespace, aside, _BATCH)
                if removed is None:
                    kb_changes.forget(tx, namespace, aside)
                    return gone
                retire_everywhere(tx, self._store, namespace, removed.version_ids)
            self._originals.release(removed)
            gone += len(removed.version_ids)

    def _check_new(self, caller: Caller, name: str) -> None:
        ids.check_kb_name(name)
        if not caller.may_read(name):  # the same answer whether it exists or not
            raise NotFound(
                f"There is no knowledge base {name!r} that you may create.",
                code=ErrorCode.KB_NOT_FOUND,
            )


def _check_texts(*texts: str) -> None:
    if not all(map(ids.storable, texts)):
        raise InvalidArgument("title or description contains characters no text can have.")
