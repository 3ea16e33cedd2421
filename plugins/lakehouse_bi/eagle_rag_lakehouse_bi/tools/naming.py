"""A rule for the names of this pack's tools, stricter than the framework's.

Elsewhere ``preview_pages`` or ``fetch_documents`` reads what was ingested. Beside catalogs of
databases such a name promises rows of tables, which this pack never returns.
"""

from __future__ import annotations

from typing import Final

from eagle_rag_core.errors import GuardError
from eagle_rag_core.plugins import assert_rag_only_tool_name

_NAMESPACE: Final = "lakehouse_bi"
#: What a tool may begin with; ``query`` is for the semantic context alone.
_HEADS: Final = frozenset(
    "check compare describe explain find get list resolve retrieve search trace validate".split()
)
_QUERY: Final = "query_semantic_context"
#: Words of tools that return rows, or need a connection.
_ROWS: Final = frozenset("data dry explore preview row rows run sample samples show".split())


def assert_describes_only(name: str) -> None:
    """Refuse the name of a tool that may return rows or reach a database.

    :param name: without the namespace.
    :raises GuardError: says what is wrong with it.
    """
    assert_rag_only_tool_name(f"{_NAMESPACE}_{name}", namespace=_NAMESPACE)
    words = name.split("_")
    if name != _QUERY and (words[0] not in _HEADS or _ROWS & set(words)):
        raise GuardError(
            f"Tool name {name!a} is refused: it promises rows of a database. Tools of this pack "
            f"describe data; begin with one of {', '.join(sorted(_HEADS))}."
        )
