"""Which calls are answered from the cache, and what their answers depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from eagle_rag_core.mcp_cache import ResultCache, cache_key, get_cached
from eagle_rag_core.types import Caller, current_caller

#: Searches cost models and indexes and depend on nothing but the library; all else is cheap, or
#: belongs to packs, whose tools may depend on more.
CACHED: Final = frozenset(
    {"core_query", "core_retrieve_by_image", "core_retrieve_text", "core_retrieve_visual"}
)
#: Arguments that the key names apart from the rest.
_NAMED: Final = ("query", "scope", "top_k", "kb_name")

#: The state of the library for a caller, within a knowledge base or ("") all that may be read.
StateOf = Callable[[Caller, str], Sequence[object]]


@dataclass(frozen=True, slots=True)
class CachedCalls:
    """Answers calls of the core's searches from a cache.

    :param state_of: asked once per call, in its thread.
    """

    cache: ResultCache
    state_of: StateOf

    def answer(self, tool: str, arguments: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
        """The JSON answer of a call, from the cache or by ``compute``.

        :param arguments: validated, with all defaults.
        """
        if tool not in CACHED:
            return compute()
        # A scope_filter replaces the knowledge base, and may reach any other.
        alone = "" if arguments.get("scope_filter") else arguments.get("kb_name", "")
        key = cache_key(
            tool,
            arguments.get("query", ""),
            scope=arguments.get("scope", ()),
            top_k=arguments.get("top_k", 0),
            kb_name=arguments.get("kb_name", ""),
            arguments={name: arguments[name] for name in arguments if name not in _NAMED},
            state=self.state_of(current_caller(), alone),
        )
        return get_cached(key, compute, self.cache)
