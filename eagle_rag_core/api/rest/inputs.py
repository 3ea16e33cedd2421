"""What requests may carry, where several routes take the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, cast

from fastapi import Path, Query
from pydantic import Field, StringConstraints

from eagle_rag_core.api.rest.bodies import Body, Parameters
from eagle_rag_core.api.rest.problems import ProblemError
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.tools import parameters as p
from eagle_rag_core.types import ScopeRequest

Op = Literal["eq", "ne", "in", "contains", "prefix", "gt", "ge", "lt", "le"]
Id = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Text = Annotated[str, Field(min_length=1, max_length=8000, description="In plain words.")]
KbName = Annotated[
    str, Field(max_length=64, description="Only this knowledge base; empty = all you may read.")
]
Cursor = Annotated[
    str, Field(max_length=512, description="next_cursor of the page before; empty = the first.")
]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=128)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=50, description="Tags of the document.")]
Title = Annotated[str, Field(max_length=500, description="Title; empty = the document's own.")]

DocumentIdPath = Annotated[
    str,
    Path(
        max_length=64,
        description="Id of the document.",
        examples=["3f7c2a9d5e8b41f0a6d2c7e94b1f8a35"],
    ),
]
JobIdPath = Annotated[
    str,
    Path(
        max_length=64, description="Id of the job.", examples=["9b1f8a353f7c2a9d5e8b41f0a6d2c7e9"]
    ),
]
KbNamePath = Annotated[
    str, Path(max_length=64, description="Name of the knowledge base.", examples=["biology"])
]

_FIELD: Final = (
    r"id|title|source_uri|source_type|tags|language|created_at|updated_at"
    r"|metadata\.[A-Za-z0-9_.:-]{1,64}?"
)
_CONDITION: Final = rf"^({_FIELD}):(eq|ne|in|contains|prefix|gt|ge|lt|le):([\s\S]*)$"


class ScopeFilter(Body):
    """A union of scopes; when any is given it replaces kb_name and scope."""

    kb_names: Annotated[
        tuple[Id, ...], Field(max_length=100, description="These knowledge bases.")
    ] = ()
    document_ids: Annotated[
        tuple[Id, ...], Field(max_length=1000, description="And these documents.")
    ] = ()
    tags: Annotated[
        tuple[Tag, ...], Field(max_length=100, description="And documents with any of these tags.")
    ] = ()


class FilterCondition(Body):
    """A condition on documents."""

    field: Annotated[
        str,
        Field(
            max_length=128,
            description="id, title, source_uri, source_type, tags, language, created_at, "
            "updated_at or metadata.<key>.",
        ),
    ]
    op: Annotated[Op, Field(description="Comparison; 'in' takes comma-separated values.")]
    value: Annotated[str, Field(max_length=2000, description="Value to compare with, as text.")]


class Scoped(Body):
    """What part of the library is asked."""

    kb_name: KbName = ""
    scope: Annotated[
        tuple[Id, ...], Field(max_length=1000, description="Only these documents, by id.")
    ] = ()
    scope_filter: Annotated[
        ScopeFilter, Field(description="A union that replaces kb_name and scope.")
    ] = ScopeFilter()


class Described(Body):
    """What is said of a document that is taken in."""

    source_type: Annotated[
        str, Field(max_length=64, description="Free-form hint, e.g. policy or paper.")
    ] = ""
    kb_name: Annotated[
        str,
        Field(
            max_length=64,
            description="Knowledge base to add to, created if new; empty = the default one.",
        ),
    ] = ""
    tags: Tags = ()
    title: Title = ""
    metadata: Annotated[
        dict[str, str],
        Field(
            default_factory=dict,
            max_length=50,
            description="Extra facts to filter by, as text values.",
        ),
    ]


class Page(Parameters):
    """A page of a list."""

    limit: Annotated[int, Field(ge=1, le=100, description="Items per page.")] = 20
    cursor: Cursor = ""


class DocumentListing(Page):
    """Which documents to list."""

    kb_name: KbName = ""
    filter: Annotated[
        tuple[Annotated[str, StringConstraints(pattern=_CONDITION, max_length=2200)], ...],
        Field(
            max_length=20,
            description="Conditions that must all hold, each as field:op:value.",
            examples=[["tags:eq:mammals", "metadata.year:ge:2020"]],
        ),
    ] = ()

    @property
    def conditions(self) -> list[dict[str, str]]:
        """The filter as tools take it."""
        return [condition(text) for text in self.filter]


def condition(text: str) -> dict[str, str]:
    """A condition written as ``field:op:value``.

    :raises ProblemError: it is not.
    """
    found = re.match(_CONDITION, text)
    if found is None:
        raise ProblemError(
            ErrorCode.INVALID_ARGUMENT, "query.filter: write each condition as field:op:value."
        )
    return dict(zip(("field", "op", "value"), found.groups(), strict=True))


def given(body: Body, *names: str) -> dict[str, Any]:
    """The fields of a body as arguments of a tool, without those that were left out."""
    return body.model_dump(exclude_unset=True, include=set(names) or None)


def scope_request(scoped: Scoped, filter: Sequence[FilterCondition] = ()) -> ScopeRequest:
    """The engine's view of a scope."""
    return p.scope_request(
        scoped.kb_name,
        scoped.scope,
        cast(p.ScopeFilter, scoped.scope_filter.model_dump()),
        [cast(p.FilterCondition, item.model_dump()) for item in filter],
    )


Listing = Annotated[DocumentListing, Query()]
Paging = Annotated[Page, Query()]
