"""What the settings allow somebody."""

from __future__ import annotations

from collections.abc import Sequence

from eagle_rag_core.api.auth.verified import ADMIN_SCOPE, Verified
from eagle_rag_core.catalog.ids import is_kb_name
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.types import Caller


def granted(key: str, caller_id: str, scopes: Sequence[str], kbs: Sequence[str] | None) -> Verified:
    """The rights of a caller as the settings have them.

    :param key: the entry of the settings, for messages.
    :param kbs: ``None`` for all.
    :raises ConfigError: they allow nothing, contradict each other, or name what cannot be.
    """
    if not scopes:
        raise ConfigError(f"{key}.scopes is empty: it could do nothing. Leave it out.")
    if kbs is None:
        return Verified(Caller(caller_id), frozenset(scopes))
    if not kbs:
        raise ConfigError(
            f"{key}.kbs is empty: name the knowledge bases, or leave it out for all of them."
        )
    for kb in kbs:
        if not is_kb_name(kb):
            raise ConfigError(f"{key}.kbs: {kb[:80]!r} cannot be the name of a knowledge base.")
    if ADMIN_SCOPE in scopes:
        raise ConfigError(
            f"{key}: who has {ADMIN_SCOPE} sees the calls to all knowledge bases; leave out kbs, "
            "or that scope."
        )
    return Verified(Caller(caller_id, frozenset(kbs)), frozenset(scopes))
