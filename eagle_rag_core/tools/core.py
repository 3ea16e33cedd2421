"""The core's MCP tools. Each reads its arguments, asks one service, shapes the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field

from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.plugins.parameters import DocumentIds, KbName
from eagle_rag_core.tools import parameters as p
from eagle_rag_core.tools import results as r
from eagle_rag_core.tools.listing import list_documents, list_kbs
from eagle_rag_core.tools.parameters import ServicesOf
from eagle_rag_core.tools.reading import get_document, get_outline, get_section
from eagle_rag_core.tools.visual import visual_tools
from eagle_rag_core.types import IngestRequest, current_caller

Mode = Annotated[
    Literal["auto", "text", "visual", "hybrid"],
    Field(description="auto chooses; text and visual force one kind of evidence."),
]
_MARKED_AS_QUERY = register_mcp_tool(
    namespace="core",
    name="query",
    title="Answer with citations",
    description=(
        "Answer a question from the ingested documents. The answer cites numbered sources with "
        "document, section, page and the exact quoted words, or a figure's place on its page; it "
        "says so when nothing relevant is found. Use core_retrieve_text to read the evidence "
        "yourself."
    ),
)


def core_tools(
    services: ServicesOf,
    *,
    max_result_tokens: int = 20_000,
    sees: bool = False,
    reads_images: bool = False,
) -> list[Callable[..., Any]]:
    """The core's tools over ``services``, which are built on the first call.

    Listing tools must not wait for the engine, so the functions take a provider.

    :param max_result_tokens: ``mcp.max_result_tokens``: what can be continued ends before it.
    :param sees: an image embedder is configured.
    :param reads_images: a language model that reads images is.
    """
    return [
        _ingest(services),
        _get_job(services),
        _query_with_image(services) if sees or reads_images else _query(services),
        _retrieve_text(services),
        *visual_tools(services, sees=sees),
        list_documents(services, max_result_tokens),
        get_document(services, max_result_tokens),
        get_outline(services, max_result_tokens),
        get_section(services, max_result_tokens),
        list_kbs(services, max_result_tokens),
    ]


def _ingest(services: ServicesOf) -> Callable[..., Any]:
    @register_mcp_tool(
        namespace="core",
        name="ingest",
        title="Add a document",
        effect="ingest",
        description=(
            "Add a file or web page to a knowledge base, or replace its earlier version. "
            "Returns at once with a job_id; the document can be searched when core_get_job "
            "says succeeded. Files must lie in one of the server's allowed folders."
        ),
    )
    def core_ingest(
        source_uri: Annotated[
            str,
            Field(
                min_length=1,
                max_length=4096,
                description="Path of a file in an allowed folder, or an http(s) URL.",
            ),
        ],
        source_type: Annotated[
            str, Field(max_length=64, description="Free-form hint, e.g. policy or paper.")
        ] = "",
        kb_name: Annotated[
            str,
            Field(
                max_length=64,
                description="Knowledge base to add to, created if new; empty = the default one.",
            ),
        ] = "",
        tags: Annotated[p.Ids, Field(max_length=50, description="Tags of the document.")] = (),
        title: Annotated[
            str, Field(max_length=500, description="Title; empty = the document's own.")
        ] = "",
        metadata: Annotated[
            dict[str, Annotated[str, Field(max_length=2000)]],
            Field(max_length=50, description="Extra facts to filter by, as text values."),
        ] = {},
    ) -> r.IngestResult:
        request = IngestRequest(
            source_uri=source_uri,
            source_type=source_type,
            kb_name=kb_name,
            tags=tags,
            title=title,
            metadata=metadata,
        )
        return r.ingest_result(services().ingest.submit(current_caller(), request))

    return core_ingest


def _get_job(services: ServicesOf) -> Callable[..., Any]:
    @register_mcp_tool(
        namespace="core",
        name="get_job",
        title="State of an ingest job",
        description=(
            "State of a job that core_ingest started: status, stage, progress from 0 to 1, and "
            "the reason when it failed. Poll about once a second until status is final."
        ),
    )
    def core_get_job(
        job_id: Annotated[str, Field(min_length=1, max_length=64, description="From core_ingest.")],
    ) -> r.JobResult:
        return r.job_result(services().jobs.get(current_caller(), job_id))

    return core_get_job


def _query(services: ServicesOf) -> Callable[..., Any]:
    @_MARKED_AS_QUERY
    def core_query(
        query: p.Query,
        mode: Mode = "auto",
        scope: DocumentIds = (),
        kb_name: KbName = "",
        scope_filter: p.Scoped = {},
    ) -> r.QueryResult:
        answer = services().answer.answer(
            current_caller(),
            p.words(query),
            mode=mode,
            request=p.scope_request(kb_name, scope, scope_filter),
        )
        return r.query_result(answer)

    return core_query


def _query_with_image(services: ServicesOf) -> Callable[..., Any]:
    """The same where something can look at pictures."""

    @_MARKED_AS_QUERY
    def core_query(
        query: p.Query,
        mode: Mode = "auto",
        scope: DocumentIds = (),
        kb_name: KbName = "",
        scope_filter: p.Scoped = {},
        image_base64: p.ImageBase64 = "",
    ) -> r.QueryResult:
        answer = services().answer.answer(
            current_caller(),
            p.words(query),
            mode=mode,
            request=p.scope_request(kb_name, scope, scope_filter),
            image=p.image_of(image_base64),
        )
        return r.query_result(answer)

    return core_query


def _retrieve_text(services: ServicesOf) -> Callable[..., Any]:
    @register_mcp_tool(
        namespace="core",
        name="retrieve_text",
        title="Find passages",
        description=(
            "Find the passages of the ingested documents that best match a question, by meaning "
            "and by words, best first. Each comes with its section path, page and document; "
            "quote it and cite document_id and page. score only ranks within this answer."
        ),
    )
    def core_retrieve_text(
        query: p.Query,
        scope: DocumentIds = (),
        top_k: p.TopK = 5,
        kb_name: KbName = "",
        scope_filter: p.Scoped = {},
        filter: p.Filter = (),
        include_images: p.IncludeImages = False,
    ) -> list[r.TextHit]:
        found = services().search.search(
            current_caller(),
            p.words(query),
            top_k=top_k,
            request=p.scope_request(kb_name, scope, scope_filter, filter),
        )
        return [r.text_hit(hit) for hit in found.hits]

    return core_retrieve_text
