"""Parameters shared by the core tools: one wording, one set of bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.plugins.parameters import Id
from eagle_rag_core.service import Services
from eagle_rag_core.types import Condition, FilterOp, ScopeRequest

#: The services are built on the first call.
ServicesOf = Callable[[], Services]
Op = Literal["eq", "ne", "in", "contains", "prefix", "gt", "ge", "lt", "le"]
Ids = tuple[Id, ...]

Query = Annotated[
    str,
    Field(min_length=1, max_length=8000, description="What to look for, in plain words."),
]
Cursor = Annotated[
    str, Field(max_length=512, description="next_cursor of the page before; empty = begin.")
]
TopK = Annotated[int, Field(ge=1, le=100, description="Number of passages wanted.")]

IncludeImages = Annotated[bool, Field(description="Also return up to five of the hits as images.")]
ImageBase64 = Annotated[
    str,
    Field(
        max_length=10_700_000,
        description="A PNG, JPEG, WebP, GIF, BMP or TIFF in base64, at most 8 MB.",
    ),
]


class ScopeFilter(TypedDict):
    """A union of scopes; when any is given it replaces kb_name and scope."""

    kb_names: NotRequired[Annotated[Ids, Field(max_length=100)]]
    document_ids: NotRequired[Annotated[Ids, Field(max_length=1000)]]
    tags: NotRequired[Annotated[Ids, Field(max_length=100)]]


class FilterCondition(TypedDict):
    field: Annotated[
        str,
        Field(
            max_length=128,
            description=(
                "id, title, source_uri, source_type, tags, language, created_at, updated_at "
                "or metadata.<key>."
            ),
        ),
    ]
    op: Annotated[Op, Field(description="Comparison; 'in' takes comma-separated values.")]
    value: Annotated[str, Field(max_length=2000, description="Value to compare with, as text.")]


Scoped = Annotated[
    ScopeFilter,
    Field(
        description=(
            "Search these knowledge bases, and these documents, and documents with any of these "
            "tags; replaces kb_name and scope."
        )
    ),
]
Filter = Annotated[
    tuple[FilterCondition, ...],
    Field(max_length=20, description="Conditions on documents that must all hold."),
]


def scope_request(
    kb_name: str = "",
    scope: Sequence[str] = (),
    scope_filter: ScopeFilter | None = None,
    filter: Sequence[FilterCondition] = (),
) -> ScopeRequest:
    """The engine's view of the scope parameters."""
    union = scope_filter or {}
    return ScopeRequest(
        kb_name=kb_name,
        documents=tuple(scope),
        scope_kbs=tuple(union.get("kb_names", ())),
        scope_documents=tuple(union.get("document_ids", ())),
        scope_tags=tuple(union.get("tags", ())),
        filter=conditions(filter),
    )


def conditions(filter: Sequence[FilterCondition]) -> tuple[Condition, ...]:
    return tuple(Condition(item["field"], FilterOp(item["op"]), item["value"]) for item in filter)


def words(query: str) -> str:
    """A query without surrounding blanks.

    :raises InvalidArgument: nothing is left.
    """
    stripped = query.strip()
    if not stripped:
        raise InvalidArgument("query is empty; say what to look for.")
    return stripped


def image_of(image_base64: str) -> bytes:
    """A picture that was sent along; b"" for none.

    :raises InvalidArgument: it is no picture that can be read, or too large.
    """
    from eagle_rag_core.ingest.image_input import picture_from_base64

    return picture_from_base64(image_base64) if image_base64 else b""
