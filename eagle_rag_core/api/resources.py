"""MCP resources: knowledge bases and documents, for people who attach them to a conversation.

``eagle://kb/{name}`` is what a knowledge base holds, ``eagle://document/{id}`` a document's text.
Both go through the pipeline of a call, scoped to whoever asks, as calls of tools do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from fastmcp.resources import Resource, ResourceContent, ResourceResult, ResourceTemplate
from pydantic import AnyUrl

from eagle_rag_core.api.refusals import Refused
from eagle_rag_core.api.tools import Entry
from eagle_rag_core.calls.work import Work
from eagle_rag_core.service import Services
from eagle_rag_core.tools.pages import fitting
from eagle_rag_core.tools.results import document_item, kb_item
from eagle_rag_core.types import ScopeRequest, current_caller

KB_TEMPLATE: Final = "eagle://kb/{name}"
DOCUMENT_TEMPLATE: Final = "eagle://document/{id}"
#: Of either kind, so many are listed; templates and completions lead to all of them.
LISTED: Final = 50
_TEXT, _JSON = "text/plain", "application/json"


class LibraryResources:
    """The resources of one server.

    :param services: of the app; built on the first use.
    :param max_tokens: ``mcp.max_result_tokens``.
    """

    def __init__(self, entry: Entry, services: Callable[[], Services], max_tokens: int) -> None:
        self._entry = entry
        self._services = services
        self._max_tokens = max_tokens

    def templates(self) -> list[ResourceTemplate]:
        """What there is to read, by name and id."""

        async def read_kb(name: str) -> ResourceResult:
            return await self._read_kb(name)

        async def read_document(id: str) -> ResourceResult:
            return await self._read_document(id)

        return [
            ResourceTemplate.from_function(
                read_kb,
                uri_template=KB_TEMPLATE,
                name="kb",
                title="Knowledge base",
                description="What a knowledge base holds: its size, languages and documents.",
                mime_type=_JSON,
            ),
            ResourceTemplate.from_function(
                read_document,
                uri_template=DOCUMENT_TEMPLATE,
                name="document",
                title="Document",
                description="Text of a document from its beginning, and what is known of it.",
                mime_type=_TEXT,
            ),
        ]

    async def listed(self) -> Sequence[Resource]:
        """The first knowledge bases by name, and the documents that changed last.

        :raises Refused: they cannot be read.
        """
        kbs, documents = await self._perform("list_resources", {}, self._list)
        return [
            *(_resource(f"eagle://kb/{item['name']}", item["name"], item, _JSON) for item in kbs),
            *(
                _resource(f"eagle://document/{item['document_id']}", "document", item, _TEXT)
                for item in documents
            ),
        ]

    def _list(self) -> tuple[list[Any], list[Any]]:
        services, caller = self._services(), current_caller()
        kbs, _ = services.kbs.page(caller, limit=LISTED)
        documents, _ = services.documents.list(caller, ScopeRequest(), limit=LISTED, cursor="")
        return [kb_item(kb) for kb in kbs], [document_item(item) for item in documents]

    async def _read_kb(self, name: str) -> ResourceResult:
        payload = await self._perform("read_kb", {"name": name}, lambda: self._kb(name))
        return ResourceResult([ResourceContent(payload, mime_type=_JSON)])

    def _kb(self, name: str) -> dict[str, Any]:
        services, caller = self._services(), current_caller()
        info = services.kbs.stats(caller, name).info

        def page(limit: int) -> dict[str, Any]:
            found, next_cursor = services.documents.list(
                caller, ScopeRequest(kb_name=name), limit=limit, cursor=""
            )
            items = [document_item(item) for item in found]
            described = {**kb_item(info), "description": info.description}
            return {**described, "items": items, "next_cursor": next_cursor}

        return fitting(page, LISTED, self._max_tokens)

    async def _read_document(self, document_id: str) -> ResourceResult:
        outcome = await self._entry.call("core_get_document", {"document_id": document_id})
        if outcome.is_error:
            raise Refused(outcome)
        about = dict(outcome.payload)
        text = about.pop("text")
        return ResourceResult(
            [ResourceContent(text, mime_type=_TEXT), ResourceContent(about, mime_type=_JSON)]
        )

    async def _perform(
        self, operation: str, arguments: dict[str, Any], run: Callable[[], Any]
    ) -> Any:
        outcome = await self._entry.perform(Work(operation, arguments, run))
        if outcome.is_error:
            raise Refused(outcome)
        return outcome.payload


def _resource(uri: str, name: str, item: dict[str, Any], mime_type: str) -> Resource:
    return Resource(uri=AnyUrl(uri), name=name, title=item["title"] or name, mime_type=mime_type)
