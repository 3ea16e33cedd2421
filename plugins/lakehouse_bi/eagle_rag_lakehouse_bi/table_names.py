"""From names of tables as people and SQL write them to the tables of the catalogs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Final

from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.identifiers import identifier_words
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope, TableKey, leaf_of, same_table

_SUGGESTIONS: Final = 3
_CANDIDATES: Final = 2_000
_CLOSE: Final = 0.6


class TableNames:
    """Looks tables up by name, in one scope."""

    def __init__(self, ctx: PackContext, scope: Scope) -> None:
        self._ctx = ctx
        self._scope = scope
        self._reader = CatalogReader(ctx, scope)

    def find(self, names: Iterable[str]) -> dict[str, list[TableKey]]:
        """The tables each name may mean; an id, a shorter or a longer name, in any case and with
        or without quotes, or a URN."""
        plain = {name: plain_name(name) for name in names}
        urns = [name for name in plain if name.startswith("lh://")]
        by_urn: dict[str, list[TableKey]] = {}
        for record in self._reader.find("table", "urn", urns):
            by_urn.setdefault(record.fields["urn"], []).append(_key(record))
        leaves = sorted({leaf_of(p) for p in plain.values() if p})
        records = self._reader.find("table", "leaf", leaves, limit=_CANDIDATES)
        found = {name: by_urn.get(name) or _matching(p, records) for name, p in plain.items()}
        unknown = [name for name, keys in found.items() if not keys and plain[name]]
        return {**found, **self._by_synonym(unknown, plain)}

    def suggestions(self, name: str) -> list[str]:
        """Names of tables that look like ``name``, the closest first."""
        leaf = leaf_of(plain_name(name))
        known = self._leaves(leaf[:1]) or self._leaves("")
        close = difflib.get_close_matches(leaf, known, _SUGGESTIONS, _CLOSE)
        return close or difflib.get_close_matches(leaf, self._leaves(""), _SUGGESTIONS, _CLOSE)

    def _by_synonym(self, names: Sequence[str], plain: dict[str, str]) -> dict[str, list[TableKey]]:
        """Logical names of semantic models, under which SQL may speak of a table."""
        words = sorted({w for name in names for w in _words(plain[name])})
        records = self._reader.find("table", "words", words) if words else []
        return {
            name: [
                _key(r)
                for r in records
                if leaf_of(plain[name]) in {s.lower() for s in r.data["synonyms"]}
            ]
            for name in names
        }

    def _leaves(self, prefix: str) -> list[str]:
        values = self._ctx.records.values(
            "table", "leaf", prefix=prefix, kb_name=self._scope.kb_name, limit=_CANDIDATES
        )
        names = [str(value) for value, _ in values]
        if not self._scope.document_ids or not names:
            return names
        inside = self._reader.find("table", "leaf", names, limit=_CANDIDATES)
        return list(dict.fromkeys(r.fields["leaf"] for r in inside))


def plain_name(name: str) -> str:
    """A name in lower case, quotes off."""
    return "".join(c for c in name.strip().lower() if c not in '`"[]')


def _matching(name: str, records: Sequence[Record]) -> list[TableKey]:
    """Tables of the name; those that have it whole, else those it may abbreviate."""
    candidates = [_key(r) for r in records if same_table(r.fields["id"], name)] if name else []
    exact = [key for key in candidates if key.id == name]
    return exact or candidates


def _key(record: Record) -> TableKey:
    return TableKey(record.document_id, record.fields["id"])


def _words(name: str) -> list[str]:
    return identifier_words(leaf_of(name))
