"""Packs that cannot stand beside each other, because their tools' names could not be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eagle_rag_core.plugins.namespaces import fold, prefix_clashes
from eagle_rag_core.plugins.sources import PackSource
from eagle_rag_core.plugins.states import PackRecord, PackState


def mark_conflicts(packs: Sequence[PackSource]) -> list[PackSource]:
    """The same packs, those in conflict whose namespace is claimed twice or begins another one."""
    claims: dict[str, list[PackRecord]] = {}
    for pack in packs:
        if pack.record.state is not PackState.SHADOWED:
            claims.setdefault(fold(pack.record.namespace), []).append(pack.record)
    reasons = _reasons(claims)
    return [
        replace(pack, record=replace(pack.record, state=PackState.CONFLICT, reason=clash))
        if (clash := reasons.get(fold(pack.record.namespace)))
        and pack.record.state is not PackState.SHADOWED
        else pack
        for pack in packs
    ]


def _reasons(claims: dict[str, list[PackRecord]]) -> dict[str, str]:
    reasons = {
        namespace: f"The namespace {namespace!r} is claimed by {_names(records)}. Uninstall one."
        for namespace, records in claims.items()
        if len(records) > 1
    }
    for short, long in prefix_clashes(claims):
        reason = (
            f"The namespace {short!r} of {_names(claims[short])} begins {long!r} of "
            f"{_names(claims[long])}, so that names of tools cannot be told apart. Uninstall one."
        )
        reasons.setdefault(short, reason)
        reasons.setdefault(long, reason)
    return reasons


def _names(records: Sequence[PackRecord]) -> str:
    return " and ".join(sorted(f"{record.distribution} {record.version}" for record in records))
