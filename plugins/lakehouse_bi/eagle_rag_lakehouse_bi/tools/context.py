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
Finds what is needed to write SQL for a question about data: tables with their columns, types, \
keys and descriptions, the joins among them, and defined metrics with their formulas, read from \
the ingested catalog files, semantic models and query logs. It describes data and never connects \
to a database, executes SQL or returns rows. Tables come best match first, with the columns that \
fit best; tables that only join others are marked joined. Small catalogs are shown whole, tables \
that do not match marked listed. verdict is answerable, partial, or no_match (nothing is returned \
then), by confidence, the probability that the catalogs hold what is asked; unmatched_words lists \
words that name nothing, often values such as city names. The answer stays within max_tokens, and \
dropped lists or counts everything left out. Every object \
has the node_id and document_id of the passage that describes it."""


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
