"""What others than the users of this machine are shown of where documents came from.

The address of a local file names folders of the server, which are nobody else's business. What is
shown instead is what filters compare with, or a filter would tell what is not shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Protocol, TypeVar

from sqlalchemy import ColumnElement, case, func

from eagle_rag_core.catalog.schema import documents
from eagle_rag_core.types import Caller

_FILE = "file://"


class _Sourced(Protocol):
    """A dataclass that says where it came from: a document, a hit, a citation."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def source_uri(self) -> str: ...


_Item = TypeVar("_Item", bound=_Sourced)


@dataclass(frozen=True, slots=True)
class SourceNames:
    """Names of sources for callers.

    A file inside one of the folders is named by its path from there, any other file by its bare
    name, both percent-encoded as in its URI. Every other source is named by its URI.

    :param folders: as canonical ``file`` URIs.
    """

    folders: tuple[str, ...] = ()

    @property
    def _prefixes(self) -> list[str]:
        """The innermost folder first."""
        return sorted((f"{folder.rstrip('/')}/" for folder in self.folders), key=len, reverse=True)

    def shown(self, caller: Caller, source_uri: str) -> str:
        """What ``caller`` is shown of a source."""
        if caller.local or not source_uri.startswith(_FILE):
            return source_uri
        for prefix in self._prefixes:
            if source_uri.startswith(prefix):
                return source_uri.removeprefix(prefix)
        return source_uri.rpartition("/")[2]

    def named(self, caller: Caller, item: _Item) -> _Item:
        """``item`` as ``caller`` is shown it."""
        name = self.shown(caller, item.source_uri)
        return item if name == item.source_uri else replace(item, source_uri=name)

    def column(self, caller: Caller) -> ColumnElement[str]:
        """The same as :meth:`shown`, as an SQL expression over ``documents``."""
        uri = documents.c.source_uri
        if caller.local:
            return uri
        # Not LIKE, which SQLite compares without regard to case.
        inside = [(_begins(uri, prefix), _behind(uri, len(prefix))) for prefix in self._prefixes]
        # All but slashes stripped from the right leaves the folder.
        folder = func.rtrim(uri, func.replace(uri, "/", ""))
        bare = func.substr(uri, func.length(folder) + 1)
        return case(*inside, (_begins(uri, _FILE), bare), else_=uri)


#: For a catalog that knows no folders.
BARE_NAMES: Final = SourceNames()


def _begins(column: ColumnElement[str], prefix: str) -> ColumnElement[bool]:
    return func.substr(column, 1, len(prefix)) == prefix


def _behind(column: ColumnElement[str], length: int) -> ColumnElement[str]:
    return func.substr(column, length + 1)
