"""The tool that gathers what a question about data needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

from pydantic import Field

from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.plugins.parameters import DocumentIds, KbName
from eagle_rag_lakehouse_bi.answers import SemanticContext
from eagle_rag_lakehouse_bi.context import ContextFinder, ContextQuestion
from eagle_rag_lakehouse_bi.tools.parameters import NAMESPACE, MaxTokens

_DESCRIPTION: Final = """\
Finds what is needed to write SQL for a question about data: tables with columns and keys, their \
joins, and defined metrics with formulas, from ingested catalog files. It describes data; it \
never executes SQL or returns rows. verdict is answerable, partial, or no_match (nothing is \
returned then); unmatched_words are often values such as city names. The answer stays within \
max_tokens; dropped lists what it left out, with cursors. Give context_id to validate_sql."""


def query_semantic_context_tool(finder: ContextFinder) -> Callable[..., SemanticContext]:
    """The tool ``lakehouse_bi_query_semantic_context``."""

    @register_mcp_tool(
        namespace=NAMESPACE,
        name="query_semantic_context",
        title="Query semantic context",
        description=_DESCRIPTION,
    )
    def query_semantic_context(
        query: Annotated[
            str,
            Field(
                min_length=1,
                max_length=2000,
                description="A question about data, or names of tables, columns or metrics.",
            ),
        ],
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
        max_tables: Annotated[
            int,
            Field(ge=0, le=30, description="Most tables; 0 = all if they fit, else the best 12."),
        ] = 0,
        max_tokens: MaxTokens = 6000,
        cursor: Annotated[
            str, Field(max_length=32, description="Of what the answer left out; empty = answer.")
        ] = "",
    ) -> SemanticContext:
        return finder.answer(
            ContextQuestion(
                query=query,
                kb_name=kb_name,
                document_ids=document_ids,
                max_tables=max_tables,
                max_tokens=max_tokens,
                cursor=cursor,
            )
        )

    return query_semantic_context
