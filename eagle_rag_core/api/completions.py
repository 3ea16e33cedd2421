"""Completions: names of knowledge bases and ids of documents, of those the caller may read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from eagle_rag_core.api.prompts import ANSWER
from eagle_rag_core.api.resources import DOCUMENT_TEMPLATE, KB_TEMPLATE
from eagle_rag_core.api.tools import Entry
from eagle_rag_core.calls.work import Work
from eagle_rag_core.service import Services
from eagle_rag_core.types import Condition, FilterOp, ScopeRequest, current_caller

Reference = PromptReference | ResourceTemplateReference

#: The protocol's bound on the values of one completion.
_MOST: Final = 100
#: Longer ones begin no name, id or title.
_LONGEST: Final = 200


class Completions:
    """Completes the arguments of the core's resources and prompt.

    :param services: of the app; built on the first use.
    """

    def __init__(self, entry: Entry, services: Callable[[], Services]) -> None:
        self._entry = entry
        self._services = services

    async def complete(
        self,
        reference: Reference,
        argument: CompletionArgument,
        context: CompletionContext | None = None,
    ) -> Completion:
        """Values for an argument that has begun; none for what is not the core's.

        A failure is recorded and completes nothing: whoever goes on without learns it then.
        """
        find = self._finder(reference, argument.name)
        value = argument.value.strip()
        if find is None or len(value) > _LONGEST:
            return Completion(values=[])
        work = Work("complete", {"argument": argument.name, "value": value}, lambda: find(value))
        outcome = await self._entry.perform(work)
        found: list[str] = [] if outcome.is_error else outcome.payload
        return Completion(values=found[:_MOST], has_more=len(found) > _MOST)

    def _finder(self, reference: Reference, argument: str) -> Callable[[str], list[str]] | None:
        target = reference.name if isinstance(reference, PromptReference) else reference.uri
        match target, argument:
            case (str(name), "kb_name") if name == ANSWER:
                return self._kb_names
            case (str(uri), "name") if uri == KB_TEMPLATE:
                return self._kb_names
            case (str(uri), "id") if uri == DOCUMENT_TEMPLATE:
                return self._document_ids
        return None

    def _kb_names(self, value: str) -> list[str]:
        names = [kb.name for kb in self._services().kbs.list(current_caller())]
        return [name for name in names if name.startswith(value.lower())]

    def _document_ids(self, value: str) -> list[str]:
        """Of documents whose id begins so, or whose title holds it; the last changed first."""
        filters = [
            (Condition("id", FilterOp.PREFIX, value),),
            (Condition("title", FilterOp.CONTAINS, value),),
        ]
        found: dict[str, None] = {}
        for conditions in filters if value else [()]:
            items, _ = self._services().documents.list(
                current_caller(), ScopeRequest(filter=conditions), limit=_MOST + 1, cursor=""
            )
            found |= dict.fromkeys(item.document_id for item in items)
        return list(found)
