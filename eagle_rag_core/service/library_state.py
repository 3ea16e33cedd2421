"""What answers depend on besides their questions."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from eagle_rag_core.catalog import collections, kbs
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.settings import Settings
from eagle_rag_core.types import Caller


@dataclass(frozen=True, slots=True)
class LibraryState:
    """Tells when the library can answer differently than it did.

    :param instance: what the answers of this process depend on and that does not change while it
        runs: settings, packs, models.
    """

    catalog: Catalog
    instance: str

    def of(self, caller: Caller, kb_name: str = "") -> tuple[object, ...]:
        """The state that a caller sees, as JSON. Equal ones give equal answers.

        :param kb_name: when nothing else is asked about; "" for all that the caller may read.
        """
        namespace = self.catalog.namespace
        with self.catalog.read() as conn:
            epochs = kbs.epochs(conn, namespace, caller)
            text = collections.active_collection(conn, namespace, collections.TEXT)
        if kb_name in epochs:
            epochs = {kb_name: epochs[kb_name]}
        # Who is local sees where files lie, others their names alone.
        return (
            self.instance,
            namespace,
            caller.local,
            sorted(epochs.items()),
            text.name if text else "",
        )


def instance_of(settings: Settings, *parts: str) -> str:
    """A digest of the settings that answers depend on, with further parts such as versions.

    Processes that share a cache share answers only when theirs are equal.
    """
    sections = ("retrieval", "query", "models", "plugins", "database", "blobs", "milvus")
    shown = settings.model_dump(mode="json", include={*sections, "home"})  # secrets are masked
    limits = settings.mcp.max_result_tokens
    text = json.dumps([shown, limits, parts], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
